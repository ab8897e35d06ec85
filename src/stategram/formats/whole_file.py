"""One file, read whole or written whole: a reader never meets half of it."""

from __future__ import annotations

import contextlib
import gzip
import os
import sys
import zlib
from pathlib import Path
from typing import BinaryIO, TypeAlias

from stategram.errors import BadDataError

__all__ = ["Place", "name_of", "read_whole", "write_whole"]

Place: TypeAlias = "str | os.PathLike[str] | BinaryIO"
"""A path, ``-`` for standard input or output, or an open binary stream."""


def name_of(place: Place, standard: str) -> str:
    """Name the place in messages; ``-`` has the name of the standard stream."""
    if isinstance(place, str | os.PathLike):
        return standard if os.fspath(place) == "-" else os.fspath(place)
    return str(getattr(place, "name", "<stream>"))


def read_whole(place: Place) -> bytes:
    """Give all bytes of a file or stream, unpacked if they are gzip's."""
    if not isinstance(place, str | os.PathLike):
        data = place.read()
    elif os.fspath(place) == "-":
        data = sys.stdin.buffer.read()
    else:
        data = Path(place).read_bytes()
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        name = name_of(place, "<stdin>")
        raise BadDataError(
            f"{name}: the gzip data is damaged ({error}); make or copy the file again"
        ) from error


def write_whole(place: Place, data: bytes) -> None:
    """Write bytes to a stream, or to a file that appears only when all is on the disk; ``.gz`` is packed."""
    if not isinstance(place, str | os.PathLike):
        place.write(data)
        return
    if os.fspath(place) == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    path = Path(place)
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    partial = path.with_name(path.name + ".partial")
    try:
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise
