"""One process at a time."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stategram.errors import StategramError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


@contextmanager
def lock(file: Path) -> Iterator[None]:
    """Hold a file, made if need be; StategramError if another process has it.

    The system lets go of it when a process ends, however that happens; the file stays. Where the file system
    knows no locks, nothing is held.
    """
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise StategramError(f"cannot write {file}: {error.strerror or error}") from error
    try:
        _take(descriptor, file)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, file: Path) -> None:
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError) as error:
        raise StategramError(
            f"another process is at work in {file.parent}; wait until it ends, or choose another folder"
        ) from error
    except OSError:
        return
