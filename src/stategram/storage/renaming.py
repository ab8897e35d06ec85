"""Folders that change their names, so that a reader finds the old folder or the new one at any moment."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import sys
import time
from pathlib import Path

from stategram.storage.locks import hold
from stategram.storage.temporary import remove_all, temporary_files

_AT_FDCWD = -100
_EXCHANGE = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS
# The moment between two renamings, and that of a process which has to wait for its turn meanwhile.
_SECONDS_BETWEEN = 1.0
_PAUSE = 0.005
_LOOKS = 3


def give_name(made: Path, path: Path, *, overwrite: bool) -> None:
    """Rename a folder. An older one that has the name is called `made` after that, or is removed.

    FileExistsError if there is one that is not empty, and not to be overwritten. Where the system cannot
    exchange two names in one step, the old folder is `name.<number>.replaced` between two renamings.
    """
    while not _rename_to_free(made, path):
        if not overwrite:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        if _exchange(made, path):
            return
        replaced = made.with_suffix(".replaced")
        try:
            with contextlib.suppress(FileNotFoundError):  # another process was faster
                path.rename(replaced)
            is_done = _rename_to_free(made, path)
        finally:
            if replaced.exists() and not path.exists():
                replaced.rename(path)
            remove_all([replaced])
        if is_done:
            return


def _rename_to_free(made: Path, path: Path) -> bool:
    """Rename a folder if nothing, or an empty folder, has the name; whether that was so."""
    if os.name == "nt":
        with contextlib.suppress(OSError):
            path.rmdir()
    try:
        made.rename(path)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return False
        raise
    return True


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step; False where the system or the file system cannot."""
    if sys.platform == "linux":
        name, arguments = "renameat2", (_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _EXCHANGE)
    elif sys.platform == "darwin":
        name, arguments = "renamex_np", (os.fsencode(one), os.fsencode(other), _EXCHANGE)
    else:
        return False
    function = getattr(ctypes.CDLL(None), name, None)
    return function is not None and function(*arguments) == 0


def wait_until_named(path: Path) -> list[Path] | None:
    """Return the folders of killed runs that had a name which is free now; None if something has the name.

    A run that is between its two renamings is waited for.
    """
    end = time.monotonic() + _SECONDS_BETWEEN
    looks = _LOOKS
    while not path.exists():
        replaced = [left for left in temporary_files(path) if left.suffix == ".replaced"]
        if replaced and any(map(_is_at_work, replaced)) and time.monotonic() < end:
            time.sleep(_PAUSE)
        elif replaced or looks == 1:
            return replaced
        else:
            looks -= 1  # the moment may have passed before the names were listed
    return None


def _is_at_work(replaced: Path) -> bool:
    """Whether the run that renamed a folder may be about to give its name to the new one."""
    try:
        held = hold(replaced.with_suffix(".partial"))
    except FileNotFoundError:
        return False
    except OSError:  # it is held, or somebody else's
        return True
    if held is not None:
        os.close(held)
    return held is None
