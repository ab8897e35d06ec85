"""SHA-256 of files and arrays."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BLOCK_SIZE = 1 << 22


def file_sha256(path: Path, progress: Callable[[int], None] | None = None) -> str:
    """Return the SHA-256 of a file; `progress` is called with the number of bytes of each block."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK_SIZE):
            digest.update(block)
            if progress:
                progress(len(block))
    return digest.hexdigest()


def add_arrays(digest: Any, arrays: Iterable[NDArray[Any]]) -> None:
    """Add arrays to a digest, each with its length: no other arrays give the same one.

    >>> first, second = hashlib.sha256(), hashlib.sha256()
    >>> add_arrays(first, [np.arange(3), np.arange(0)])
    >>> add_arrays(second, [np.arange(0), np.arange(3)])
    >>> first.digest() == second.digest()
    False

    """
    for array in arrays:
        digest.update(len(array).to_bytes(8, "little"))
        digest.update(np.ascontiguousarray(array).data)
