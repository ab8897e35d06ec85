"""Files of a folder, opened once: what is verified is what is read, whatever has their names by then."""

from __future__ import annotations

import errno
import mmap
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from stategram.errors import BadDataError

# Windows knows no handles of folders; there a folder in which a file is open cannot be renamed.
_HAS_HANDLES = os.open in os.supports_dir_fd
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)

_LINK = "a link"


class OpenFile:
    """A regular file that stays open as long as this object is there."""

    def __init__(self, descriptor: int, folder: Path, name: str) -> None:
        self._descriptor, self._folder, self._name = descriptor, folder, name
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise _no_file(self.path, "a folder, a pipe or a device")
        self.size = found.st_size

    def __del__(self) -> None:
        os.close(self._descriptor)

    @property
    def path(self) -> Path:
        """The name that it had when it was opened."""
        return self._folder / self._name

    @contextmanager
    def stream(self) -> Iterator[BinaryIO]:
        """Open it for reading from its beginning."""
        with open(self._descriptor, "rb", closefd=False) as file:
            file.seek(0)
            yield file

    def read(self) -> bytes:
        """Return its bytes."""
        with self.stream() as file:
            return file.read()

    def map(self) -> mmap.mmap:
        """Map it into memory."""
        return mmap.mmap(self._descriptor, 0, access=mmap.ACCESS_READ)


class OpenFolder:
    """A folder whose files are found in it even if another folder has its name by then."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None
        if _HAS_HANDLES:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        elif not stat.S_ISDIR(path.stat().st_mode):
            raise NotADirectoryError(path)

    def __del__(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)

    def open(self, name: str) -> OpenFile:
        """Open a file; BadDataError if it is a link, a folder, a pipe or a device."""
        try:
            if self._descriptor is not None:
                descriptor = os.open(name, _READ, dir_fd=self._descriptor)
            elif (path := self.path / name).is_symlink():
                raise _no_file(path, _LINK)
            else:
                descriptor = os.open(path, _READ)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EMLINK):  # the second is that of FreeBSD
                raise _no_file(self.path / name, _LINK) from error
            if error.errno == errno.ENXIO:
                raise _no_file(self.path / name, "a socket") from error
            raise
        return OpenFile(descriptor, self.path, name)

    def has_its_name(self) -> bool:
        """Whether its path still leads to it."""
        if self._descriptor is None:
            return True
        try:
            return os.path.samestat(os.fstat(self._descriptor), self.path.stat())
        except FileNotFoundError:
            return False


def _no_file(path: Path, found: str) -> BadDataError:
    advice = "copy what links lead to (cp -rL)" if found == _LINK else "write the folder again"
    return BadDataError(f"{path}: {found}, not a file of this folder; {advice}")
