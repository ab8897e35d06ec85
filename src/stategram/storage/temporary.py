"""What is not finished yet: its names, who is at work on it, and what killed runs have left of it.

A file or folder `name` is written as `name.<number>.partial`, a random number, and then renamed. The process
that writes it holds a lock on it: what has such a name and is not held was left by a killed run.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from stategram.storage.locks import hold

_TEMPORARY = re.compile(r"(.+)\.[0-9a-f]{16}\.(partial|replaced)")


@contextmanager
def new_temporary(path: Path, *, is_folder: bool) -> Iterator[Path]:
    """Make an empty file or folder beside a path, and hold it; what still has its name then is removed."""
    made, held = _make(path, is_folder)
    try:
        yield made
    finally:
        remove_all([made])
        if held is not None:
            os.close(held)


@contextmanager
def temporary_folder(path: Path) -> Iterator[Path]:
    """Make a folder beside a path, for parts of what it will hold; it is removed at the end of the block."""
    with new_temporary(path.resolve(), is_folder=True) as made:
        yield made


def _make(path: Path, is_folder: bool) -> tuple[Path, int | None]:
    while True:
        made = _temporary_name(path)
        # An error if it is there: what is removed later was made here.
        if is_folder:
            made.mkdir()
        else:
            made.touch(exist_ok=False)
        try:
            return made, hold(made)
        except (BlockingIOError, FileNotFoundError):
            continue  # another process took it for a stale one before it was held
        except BaseException:
            remove_all([made])
            raise


def _temporary_name(path: Path) -> Path:
    """Return a name beside a path, with 64 random bits: no other process has one like it."""
    return path.with_name(f"{path.name}.{secrets.token_hex(8)}.partial")


def temporary_files(path: Path) -> list[Path]:
    """Return the stale temporary files of `path` that killed runs left, or what others are writing now."""
    begin = f"{path.name}."
    try:
        with os.scandir(path.parent) as entries:
            names = [entry.name for entry in entries if entry.name.startswith(begin)]
    except OSError:  # what cannot be listed cannot be removed either
        return []
    return sorted(
        path.with_name(name)
        for name in names
        if (found := _TEMPORARY.fullmatch(name)) and found[1] == path.name
    )


def is_temporary(path: Path) -> bool:
    """Whether a name is one of a temporary file, or that of a folder which is about to be replaced.

    >>> is_temporary(Path("part-1.0123456789abcdef.partial")), is_temporary(Path("thesis.partial"))
    (True, False)
    """
    return _TEMPORARY.fullmatch(path.name) is not None


def remove_stale(path: Path) -> None:
    """Remove the temporary files of `path` that killed runs left.

    Those of a run that is alive stay, and so does the only copy of a folder that a run was about to replace
    (see `restore_replaced`). Where locks are not known (Windows, some network file systems), all stay.
    """
    for stale in temporary_files(path):
        if stale.suffix == ".replaced" and not path.exists():
            continue
        with contextlib.suppress(OSError):
            held = hold(stale)
            if held is None:
                continue
            try:
                # A machine that does not see our locks must not give the name to what is half removed.
                doomed = _temporary_name(path)
                stale.rename(doomed)
                remove_all([doomed])
            finally:
                os.close(held)


def remove_all(paths: Iterable[Path]) -> None:
    """Remove files and folders, if they are there."""
    for path in paths:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                path.unlink()
