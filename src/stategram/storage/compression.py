"""Kinds of compression, by the suffixes of names and the first bytes: how each is read and written."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import sys
import zlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, Protocol, cast

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Writer(Protocol):
    """What takes bytes, one piece after the other."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Take the next bytes."""


@dataclass(frozen=True)
class Compression:
    """A kind of compression."""

    name: str
    start: re.Pattern[bytes]
    """How a compressed file begins, within `HEAD_SIZE` bytes and before any line end."""
    reader: Callable[[IO[bytes]], IO[bytes]]
    writer: Callable[[BinaryIO], AbstractContextManager[Writer]]


# Level 9 of gzip takes twice the time of 6 for a hundredth of the size.
_KINDS: dict[str, Compression] = {
    ".gz": Compression(
        "gzip",
        re.compile(rb"\x1f\x8b\x08"),
        lambda file: cast(IO[bytes], gzip.GzipFile(fileobj=file)),
        lambda file: gzip.GzipFile("", "wb", 6, file, 0),
    ),
    ".xz": Compression(
        "xz",
        re.compile(rb"\xfd7zXZ\x00"),
        lzma.LZMAFile,
        lambda file: lzma.LZMAFile(file, "wb"),  # noqa: SIM115
    ),
    ".bz2": Compression(
        "bzip2",
        re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
        bz2.BZ2File,
        lambda file: bz2.BZ2File(file, "wb"),
    ),
    ".zst": Compression(
        "zstd",
        re.compile(rb"\x28\xb5\x2f\xfd"),
        lambda file: cast(IO[bytes], zstd.ZstdFile(file)),
        lambda file: zstd.ZstdFile(file, "wb"),
    ),
}
COMPRESSED_SUFFIXES = tuple(_KINDS)
"""The ends of names of compressed files."""
HEAD_SIZE = 10
"""Bytes from which the compression of a file is recognized, whatever its name."""
COMPRESSION_DAMAGE = (EOFError, zlib.error, lzma.LZMAError, zstd.ZstdError)
"""What reading damaged data raises; bz2 and gzip also an OSError without a number."""


def compression_of_name(name: str) -> Compression | None:
    """Return the compression that the suffix of a name stands for; None if it has no such suffix."""
    return _KINDS.get(Path(name).suffix)


def compression_of_head(head: bytes) -> Compression | None:
    """Return the compression that the first bytes of a file show; None if they are of no kind."""
    return next((one for one in _KINDS.values() if one.start.match(head)), None)


def uncompressed_name(name: str) -> str:
    """Return the name of a file without the suffix of its compression.

    >>> uncompressed_name("a/model.arpa.gz"), uncompressed_name("model.arpa")
    ('a/model.arpa', 'model.arpa')
    """
    return name if compression_of_name(name) is None else name.removesuffix(Path(name).suffix)
