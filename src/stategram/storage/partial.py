"""Names for what is not whole yet."""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path

_LEFT_OVER = re.compile(r"(.+)\.[0-9a-f]{16}\.(partial|replaced)")


def partial_of(path: Path) -> Path:
    """Give a name beside a path, with 64 bits drawn by lot: nobody else has or will have one like it."""
    return path.with_name(f"{path.name}.{secrets.token_hex(8)}.partial")


def left_overs(path: Path) -> list[Path]:
    """Give what runs that were killed have left of `path`, or what others are writing right now."""
    return sorted(
        other
        for other in path.parent.iterdir()
        if (found := _LEFT_OVER.fullmatch(other.name)) and found[1] == path.name
    )


def is_left_over(path: Path) -> bool:
    """Whether a name is one that `partial_of` gives, or that of a folder which is about to be replaced.

    >>> is_left_over(Path("part-1.0123456789abcdef.partial")), is_left_over(Path("thesis.partial"))
    (True, False)
    """
    return _LEFT_OVER.fullmatch(path.name) is not None


def remove_all(paths: Iterable[Path]) -> None:
    """Remove files and folders, if they are there."""
    for path in paths:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
