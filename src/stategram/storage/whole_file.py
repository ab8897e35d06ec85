"""One file, written whole: a reader never meets half of it."""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import lzma
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, TypeAlias

from stategram.errors import StategramError, UsageError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["Place", "check_place", "write_whole"]

Place: TypeAlias = "str | os.PathLike[str] | BinaryIO"
"""A path, ``-`` for the standard stream, or an open binary stream."""

_PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
    ".zst": zstd.compress,
}


def check_place(place: Place) -> None:
    """Raise now, before hours of work, what `write_whole` would raise for a folder that is not there."""
    if not isinstance(place, str | os.PathLike) or os.fspath(place) == "-":
        return
    if not os.fspath(place):
        raise UsageError("the name of the output is empty; give a file, or - for stdout")
    if Path(place).is_dir():
        raise StategramError(f"cannot write {place}: it is a folder; name a file in it")
    path = Path(place) if _is_no_file(place) else Path(place).resolve().parent
    if not path.exists():
        raise StategramError(f"cannot write {place}: there is no folder {path}; make it first")
    if not os.access(path, os.W_OK):
        raise StategramError(f"cannot write {place}: permission denied; choose another place")


def write_whole(place: Place, data: bytes) -> None:
    """Write bytes to a stream, or to a file that appears only when all is on the disk.

    A name that ends in ``.gz``, ``.xz``, ``.bz2`` or ``.zst`` is packed. A link is followed. What is no file,
    such as a pipe or a device, cannot appear at once and is written to directly.
    """
    check_place(place)
    if not isinstance(place, str | os.PathLike):
        place.write(data)
    elif os.fspath(place) == "-":
        if sys.stdout is None:
            raise StategramError("cannot write to stdout: it is closed; name a file")
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        packed = _PACK.get(Path(place).suffix, bytes)(data)
        try:
            if _is_no_file(place):
                Path(place).write_bytes(packed)
            else:
                _replace(Path(place).resolve(), packed)
        except OSError as error:
            advice = "; free some space and run it again" if error.errno == errno.ENOSPC else ""
            raise StategramError(f"cannot write {place}: {error.strerror or error}{advice}") from error


def _is_no_file(place: str | os.PathLike[str]) -> bool:
    return Path(place).exists() and not Path(place).is_file()


def _replace(path: Path, data: bytes) -> None:
    # The number of the process keeps two runs apart that write the same file.
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            partial.chmod(path.stat().st_mode)
        partial.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise
