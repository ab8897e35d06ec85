"""OS-level file locks, released when the process exits."""

from __future__ import annotations

import os
import stat
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

    The file stays when it is let go. Where the file system knows no locks, nothing is held.
    """
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise StategramError(f"cannot write {file}: {error.strerror or error}") from error
    try:
        try:
            _take(descriptor)
        except BlockingIOError as error:
            raise StategramError(
                f"another process is at work in {file.parent}; wait until it ends, or choose another folder"
            ) from error
        yield
    finally:
        os.close(descriptor)


def hold(path: Path) -> int | None:
    """Return a descriptor that holds a file or folder until it is closed; None where that cannot be done.

    BlockingIOError if it is held already, FileNotFoundError if another process has removed or renamed it.
    """
    if sys.platform == "win32":  # it opens no folders
        return None
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        found = os.fstat(descriptor)
        is_ours = stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)
        if is_ours and _take(descriptor):
            if not os.path.samestat(found, path.stat()):
                raise FileNotFoundError(path)
            return descriptor
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _take(descriptor: int) -> bool:
    """Lock an open file; whether that can be done here. BlockingIOError if another process has locked it."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError) as error:
        raise BlockingIOError(*error.args) from error
    except OSError:
        return False
    return True
