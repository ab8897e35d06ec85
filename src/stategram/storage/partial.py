"""Names for what is not whole yet."""

from __future__ import annotations

import re
import secrets
from pathlib import Path

__all__ = ["left_overs", "partial_of"]


def partial_of(path: Path) -> Path:
    """Give a name beside a path, with 64 bits drawn by lot: nobody else has or will have one like it."""
    return path.with_name(f"{path.name}.{secrets.token_hex(8)}.partial")


def left_overs(path: Path) -> list[Path]:
    """Give what runs that were killed have left of `path`, or what others are writing right now."""
    left = re.compile(re.escape(path.name) + r"\.[0-9a-f]+\.(partial|replaced)")
    return sorted(other for other in path.parent.iterdir() if left.fullmatch(other.name))
