"""The SHA-256 of a file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

__all__ = ["file_sha256"]

_BLOCK_SIZE = 1 << 22


def file_sha256(path: Path, progress: Callable[[int], None] | None = None) -> str:
    """Give the SHA-256 of a file; `progress` is called with the number of bytes of each block."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK_SIZE):
            digest.update(block)
            if progress:
                progress(len(block))
    return digest.hexdigest()
