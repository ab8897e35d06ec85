"""The standard streams of a command: whatever a model or a text holds, a terminal obeys none of it.

On stdout data goes to files and pipes as it is, to a terminal with control characters shown as escapes. On
stderr they are always shown so. A closed stdout is an error as soon as something is written to it.
"""

from __future__ import annotations

import codecs
import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, TextIO, cast

from stategram.display import visible


@contextmanager
def safe_streams() -> Iterator[None]:
    """Replace the standard streams by safe ones."""
    before = sys.stdout, sys.stderr
    _fill_closed_descriptors()
    try:
        sys.stdout = _safe_stdout(sys.stdout)
        sys.stderr = cast(TextIO, VisibleStream(sys.stderr)) if sys.stderr is not None else _null_stream()
        yield
    finally:
        sys.stdout, sys.stderr = before


def terminal_stream(stream: TextIO) -> TextIO:
    """Return a stream that takes escapes, for what makes them on purpose."""
    return stream.stream if isinstance(stream, VisibleStream) else stream


def discard_output() -> None:
    """Forget what stdout cannot write: Python must not try again at exit, with an exit code of its own."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class VisibleStream:
    """A text stream, and the bytes below it, on which control characters are shown as escapes."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.buffer = _VisibleBytes(stream)

    def write(self, text: str) -> int:
        """Write a text."""
        self.stream.write(visible(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class _VisibleBytes:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def write(self, data: bytes) -> int:
        self._stream.write(visible(self._decoder.decode(data)))
        return len(data)

    def flush(self) -> None:
        self._stream.flush()


class _ClosedStream:
    """What stands for a stdout that is closed."""

    encoding, errors, closed = "utf-8", "strict", False

    @property
    def buffer(self) -> BinaryIO:
        return cast(BinaryIO, self)

    def write(self, _: object) -> int:
        raise OSError(errno.EBADF, "cannot write to stdout: it is closed; give it a file or a pipe")

    def flush(self) -> None:
        """Do nothing: nothing is waiting."""

    def isatty(self) -> bool:
        return False


def _safe_stdout(stream: TextIO | None) -> TextIO:
    if stream is None:
        return cast(TextIO, _ClosedStream())
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")  # what cannot be encoded is no reason to stop
    return cast(TextIO, VisibleStream(stream)) if stream.isatty() else stream


def _null_stream() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123  as long as the command runs


def _fill_closed_descriptors() -> None:
    """Open the standard descriptors that are closed: a file opened later must not get their numbers."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest that is free
