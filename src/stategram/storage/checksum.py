"""SHA-256 of files, arrays and settings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.progress import Progress


def file_sha256(path: Path, progress: Callable[[int], None] | None = None) -> str:
    """Return the SHA-256 of a file; `progress` is called with the number of bytes of each block."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 22):
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


def content_key(*inputs: object) -> str:
    """Return the SHA-256 of settings and inputs.

    Inputs are arrays, files (a `Path`), bytes, or anything that JSON can hold.

    >>> content_key({"a": 1, "b": 2}) == content_key({"b": 2, "a": 1})
    True
    >>> content_key([1], [2]) == content_key([1, 2])
    False
    """
    digest = hashlib.sha256()
    for one in inputs:
        if isinstance(one, np.ndarray):
            digest.update(b"array" + one.dtype.str.encode())
            add_arrays(digest, [one])
        elif isinstance(one, Path):
            digest.update(b"file" + bytes.fromhex(file_sha256(one)))
        elif isinstance(one, bytes):
            digest.update(b"bytes" + len(one).to_bytes(8, "little") + one)
        else:
            data = json.dumps(one, sort_keys=True).encode()
            digest.update(b"json" + len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


@dataclass(frozen=True)
class InputFile:
    """An input and its use; size and SHA-256 are None if it could be read only once."""

    use: str
    name: str
    bytes: int | None
    sha256: str | None


def input_files(uses: Iterable[tuple[str, str]], progress: Progress | None = None) -> list[InputFile]:
    """Return name, size and SHA-256 of files, given as (use, name); ``-`` and pipes have only a name."""
    uses = list(uses)
    sizes = {name: Path(name).stat().st_size for _, name in uses if name != "-" and Path(name).is_file()}
    total, done = sum(sizes.values()), 0

    def count(n_bytes: int) -> None:
        nonlocal done
        done += n_bytes
        if progress is not None:
            progress(min(done / total, 1.0), "checksums of the inputs")

    digests = {name: file_sha256(Path(name), count) for name in sizes}
    return [InputFile(use, name, sizes.get(name), digests.get(name)) for use, name in uses]
