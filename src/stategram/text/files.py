"""Files and URLs, plain or compressed, as blocks of bytes; what to do about bytes that are not UTF-8."""

from __future__ import annotations

import errno
import io
import logging
import os
import re
import select
import stat
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from stategram.errors import BadDataError, StategramError
from stategram.storage import (
    COMPRESSION_DAMAGE,
    HEAD_SIZE,
    compression_of_head,
    is_url,
    open_url,
    shown_url,
    url_size,
)

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


_log = logging.getLogger(__name__)

PathLike = str | os.PathLike[str]
Source = PathLike | Sequence[PathLike]

BLOCK_SIZE = 1 << 21

# A server takes some time to say how large a file is, and is asked about many of them.
_REQUESTS_AT_ONCE = 16

# Of a text in another encoding.
_SAMPLE = 4096
_MARKS = (
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
# Letters of Western languages outside ASCII are few.
_MOST_WIDE = 0.2
_NOT_ASCII = re.compile(rb"[\x80-\xff]")


def file_names(source: Source) -> list[str]:
    """Return the names of one or several files; `-` is stdin."""
    if isinstance(source, (str, os.PathLike)):
        source = [source]
    return [os.fspath(name) for name in source]


def display_name(name: str | IO[bytes]) -> str:
    """Return the name of a file or stream as messages show it."""
    if not isinstance(name, str):
        return str(getattr(name, "name", "<stream>"))
    return "<stdin>" if name == "-" else shown_url(name)


def file_size(name: str) -> int | None:
    """Return the size of a file or URL; None if it is not known, as of a pipe, or if there is no such file.

    A URL without a file is an error.
    """
    if is_url(name):
        return url_size(name)
    return Path(name).stat().st_size if name != "-" and Path(name).is_file() else None


def file_sizes(names: Sequence[str]) -> list[int | None]:
    """Return `file_size` of each of many files."""
    if not any(map(is_url, names)):
        return [file_size(name) for name in names]
    with ThreadPoolExecutor(_REQUESTS_AT_ONCE) as threads:
        return list(threads.map(file_size, names))


def total_size(names: Sequence[str]) -> int | None:
    """Return the size of all files, as they are stored, or None if it is not known."""
    sizes = [size for size in file_sizes(names) if size is not None]
    return sum(sizes) if len(sizes) == len(names) else None


def compression(name: str) -> str | None:
    """Return the kind of compression of a file or URL, which its first bytes show; None if it is plain."""
    with _reading(name), _open(name) as file:
        found = compression_of_head(_Source(file, waits=True).head)
        return found.name if found else None


def read_blocks(
    name: str | IO[bytes], *, live: bool = False, begin: int = 0, end: int | None = None
) -> Iterator[tuple[bytes, int]]:
    """Yield the text of a file, URL, stream or stdin (``-``) in blocks, each with the bytes taken so far.

    If `live`, a block of a pipe or a terminal is what is there: it does not wait until the block is full.
    `begin` and `end` (None: the end of the file) are for what is not compressed: a compressed file is refused
    if `begin` is 0; after that nothing shows what it is.
    """
    with _reading(name), _open(name, begin) as file:
        size = None if end is None else max(end - begin, 0)
        source = _Source(file, waits=not (live and _is_live(file)), size=size)
        found = None if begin else compression_of_head(source.head)
        if found is not None:
            if end is not None:
                raise StategramError(
                    f"cannot read a part of {display_name(name)}: it is compressed ({found.name}); "
                    "read it whole"
                )
            yield from _read_compressed(name, found.name, found.reader(cast(IO[bytes], source)), source)
            return
        while block := source.take(BLOCK_SIZE):
            yield block, source.taken
        if size is not None and source.taken < size:
            raise BadDataError(
                f"{display_name(name)}: it ends at byte {begin + source.taken:,}, before {end:,}; it has "
                "changed since its size was seen: run the command again"
            )


@contextmanager
def _reading(name: str | IO[bytes]) -> Iterator[None]:
    """Turn an error of the system into a `StategramError` that names the file."""
    try:
        yield
    except OSError as error:
        advice = (
            "; name text files (a folder of counts is for train and classes)"
            if error.errno == errno.EISDIR
            else "; check the name"
        )
        raise StategramError(
            f"cannot read {display_name(name)}: {error.strerror or error}{advice}"
        ) from error


def read_all(name: str | IO[bytes]) -> bytes:
    """Return all bytes of a file or stream, decompressed."""
    return b"".join(block for block, _ in read_blocks(name))


def _read_compressed(
    name: str | IO[bytes], kind: str, stream: IO[bytes], source: _Source
) -> Iterator[tuple[bytes, int]]:
    while True:
        try:
            block = stream.read(BLOCK_SIZE)
        except (*COMPRESSION_DAMAGE, OSError) as error:
            # bz2 and gzip report damage as an OSError; those of the system carry a number.
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise BadDataError(
                f"{display_name(name)}: the {kind} data is truncated or damaged ({error}); "
                "create or download the file again"
            ) from error
        if not block:
            return
        yield block, source.taken


@contextmanager
def _open(name: str | IO[bytes], begin: int = 0) -> Iterator[IO[bytes]]:
    if not isinstance(name, str):
        if begin:
            name.seek(begin)
        yield name
    elif name == "-":
        if begin:
            raise StategramError("cannot read a part of <stdin>; name a file")
        if sys.stdin is None:
            raise StategramError("cannot read <stdin>: it is closed; name a file, or give it a text")
        if sys.stdin.buffer.isatty():
            end = "Ctrl-Z and Enter end" if sys.platform == "win32" else "Ctrl-D ends"
            _log.info("reading from the keyboard; %s the text", end, extra={"keyboard": True})
        yield sys.stdin.buffer
    elif is_url(name):
        with open_url(name, begin) as file:
            yield file
    else:
        with Path(name).open("rb") as file:
            if begin:
                file.seek(begin)
            yield file


class _Source(io.RawIOBase):
    """A file whose first bytes were read already, even if it is a pipe; counts the bytes taken.

    No more than `size` bytes are read from it, if that is given.
    """

    def __init__(self, file: IO[bytes], *, waits: bool, size: int | None = None) -> None:
        self._file = file
        self._waits = waits
        self._left = size
        # Once is enough: a terminal would wait for another end.
        self._ended = False
        self.taken = 0
        self.head = self._read_head()
        """The first bytes, from which compression is seen: no more than the first line of a text."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        data = self.take(len(view))
        view[: len(data)] = data
        return len(data)

    def take(self, size: int) -> bytes:
        """Return the next bytes, at most `size`; none at the end."""
        data, self.head = self.head[:size], self.head[size:]
        if self._waits or not data:
            data += self._read(size - len(data))
        self.taken += len(data)
        return data

    def _read(self, size: int) -> bytes:
        # Not by one read(): on a slow pipe it stays in C until all bytes are there, and a Ctrl-C in between
        # is not noticed.
        parts: list[bytes] = []
        while size > 0 and not self._ended and (not parts or self._waits or _has_more(self._file)):
            part = self._read_some(size)
            parts.append(part)
            size -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _read_some(self, size: int) -> bytes:
        """Return the next bytes, at most `size`, as soon as there are some; none at the end."""
        if self._left is not None:
            size = min(size, self._left)
        data: bytes = getattr(self._file, "read1", self._file.read)(size)
        self._ended = not data
        if self._left is not None:
            self._left -= len(data)
        return data

    def _read_head(self) -> bytes:
        head = b""
        # No kind of compressed file has a line end before what it is recognized by.
        while (
            len(head) < HEAD_SIZE and b"\n" not in head and (more := self._read_some(HEAD_SIZE - len(head)))
        ):
            head += more
        return head


def _is_live(file: IO[bytes]) -> bool:
    """Whether someone may be writing to a file while it is read: a pipe, a terminal, a socket."""
    try:
        return not stat.S_ISREG(os.fstat(file.fileno()).st_mode)
    except (OSError, ValueError):  # a stream in memory
        return False


def _has_more(file: IO[bytes]) -> bool:
    """Whether bytes of a pipe or a terminal are there to be read at once."""
    if sys.platform == "win32":  # where only sockets can be asked
        return False
    return bool(select.select([file], [], [], 0)[0])


def conversion_advice(data: bytes, at: int = 0, *, may_replace: bool = False) -> str:
    """Return what to do about a text with a bad byte: `data` is a part of it, in which the byte is `at`.

    >>> conversion_advice("ab".encode("utf-16"))
    'it looks like UTF-16: convert it with iconv -f utf-16 -t utf-8'
    """
    encoding = _wide_encoding(data)
    if encoding is not None:
        return f"it looks like {encoding.upper()}: convert it with iconv -f {encoding} -t utf-8"
    replacing = (
        "; or read it with --encoding-errors replace (TextFormat(encoding_errors='replace') in Python)"
    )
    around = data[max(0, at - _SAMPLE // 2) : at + _SAMPLE // 2]
    if data[at : at + 1] == b"\0":
        advice = "convert the file to UTF-8 text"
    elif len(_NOT_ASCII.findall(around)) < _MOST_WIDE * len(around):
        advice = "if it is Latin-1 or Windows-1252, convert it with iconv -f windows-1252 -t utf-8"
    else:
        advice = "convert it to UTF-8 with iconv -f ENCODING -t utf-8"
    return advice + (replacing if may_replace else "")


def check_utf8(name: str, data: bytes) -> None:
    """Refuse data that is not UTF-8, or has NUL; the error names the line."""
    try:
        data.decode()
        at = data.find(0)
        found = "a NUL byte"
    except UnicodeDecodeError as error:
        at = error.start
        found = f"the byte 0x{data[at]:02x} is not UTF-8"
    if at >= 0:
        number = data.count(b"\n", 0, at) + 1
        raise BadDataError(f"{name}:{number}: {found}; expected text in UTF-8: {conversion_advice(data, at)}")


def _wide_encoding(data: bytes) -> str | None:
    """Return the encoding of two or four bytes for each letter that a text begins in, None if in none."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding
    sample = data[: min(_SAMPLE, len(data) - len(data) % 4)]
    # Of each four bytes, which are NUL in most cases.
    is_zero = [2 * sample[place::4].count(0) > len(sample) // 4 for place in range(4)]
    encodings = {
        (False, True, False, True): "utf-16le",
        (True, False, True, False): "utf-16be",
        (False, True, True, True): "utf-32le",
        (True, True, True, False): "utf-32be",
    }
    return encodings.get((is_zero[0], is_zero[1], is_zero[2], is_zero[3])) if sample else None
