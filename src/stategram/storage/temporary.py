"""Names for files and folders that are not finished yet."""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path

_TEMPORARY = re.compile(r"(.+)\.[0-9a-f]{16}\.(partial|replaced)")


def temporary_name(path: Path) -> Path:
    """Return a name beside a path, with 64 random bits: no other process has one like it."""
    return path.with_name(f"{path.name}.{secrets.token_hex(8)}.partial")


def temporary_files(path: Path) -> list[Path]:
    """Return the stale temporary files of `path` that killed runs left, or what others are writing now."""
    return sorted(
        other
        for other in path.parent.iterdir()
        if (found := _TEMPORARY.fullmatch(other.name)) and found[1] == path.name
    )


def is_temporary(path: Path) -> bool:
    """Whether a name is one that `temporary_name` gives, or that of a folder which is about to be replaced.

    >>> is_temporary(Path("part-1.0123456789abcdef.partial")), is_temporary(Path("thesis.partial"))
    (True, False)
    """
    return _TEMPORARY.fullmatch(path.name) is not None


def remove_all(paths: Iterable[Path]) -> None:
    """Remove files and folders, if they are there."""
    for path in paths:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
