"""Named pieces of data that are written once, in a folder or at a URL."""

from __future__ import annotations

import hashlib
import os
import re
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from stategram.counts.workspace import Workspace
from stategram.errors import BadDataError, StategramError, UsageError
from stategram.storage import atomic_write, is_local_url, is_temporary, is_url, shown_url
from stategram.storage.urls import is_missing, url_errors, url_file_system

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
# That of one file, and often signed for it alone: there are no blobs below it.
_URL_WITH_QUERY = re.compile(r"https?://.*\?", re.IGNORECASE)


class Blobs:
    """Pieces of data by their names, in a folder or at a URL that fsspec opens.

    Any process of any machine that sees the place can write and read them, at the same time; of two that
    write one name, one wins. A name appears when all of its data is there: in a folder (``file://`` and
    ``local://`` are folders too), and in object stores such as ``s3://``, ``gs://`` and ``az://``. Other file
    systems, such as ``sftp://``, may show a part of what is being written.
    """

    def __init__(self, place: str | os.PathLike[str]) -> None:
        name = os.fspath(place)
        if not name:
            raise UsageError("the name of the folder is empty; give a folder or a URL")
        self.place = name.rstrip("/") if is_url(name) else name
        self._at = _opened(self.place)

    def __reduce__(self) -> tuple[Any, ...]:
        return Blobs, (self.place,)

    def __repr__(self) -> str:
        return f"Blobs({shown_url(self.place)!r})"

    def shown(self, name: str) -> str:
        """Return the path or URL of a blob, as messages show it."""
        return shown_url(self._at.full_name(_checked(name)))

    def has(self, name: str) -> bool:
        """Return whether there is a blob of this name."""
        return self._at.has(_checked(name))

    def size(self, name: str) -> int:
        """Return the size of a blob in bytes."""
        with self._reading(name):
            return self._at.size(_checked(name))

    def read(self, name: str, begin: int = 0, end: int | None = None) -> bytes:
        """Return the bytes of a blob from `begin` up to `end`, or up to its end."""
        with self._reading(name):
            data = self._at.read(_checked(name), begin, end)
        if end is not None and len(data) != max(end - begin, 0):
            raise BadDataError(
                f"{self.shown(name)}: {begin + len(data):,} bytes, expected at least {end:,}; it is damaged: "
                "remove it, and run the command that made it again"
            )
        return data

    def write(self, name: str, data: ReadableBuffer) -> None:
        """Write a blob; it replaces one of the same name."""
        self._at.write(_checked(name), data)

    def remove(self, name: str) -> None:
        """Remove a blob, if it is there."""
        self._at.remove(_checked(name))

    def names(self) -> list[str]:
        """Return the names of all blobs, sorted; none if there is no such folder."""
        return sorted(self._at.names())

    @contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise StategramError(
                f"{self.shown(name)} is missing; run the command that made it again"
            ) from error
        except OSError as error:
            raise StategramError(f"cannot read {self.shown(name)}: {error.strerror or error}") from error


class TemporaryBlobs:
    """Named pieces of data in one temporary file without a name: `Blobs` for this process alone."""

    def __init__(self) -> None:
        self._workspace = Workspace()
        self._file = self._workspace.file()
        weakref.finalize(self, self._file.close)
        self._lock = threading.Lock()
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0

    def has(self, name: str) -> bool:
        """Return whether there is a blob of this name."""
        return name in self._places

    def size(self, name: str) -> int:
        """Return the size of a blob in bytes."""
        return self._places[name][1]

    def read(self, name: str, begin: int = 0, end: int | None = None) -> bytes:
        """Return the bytes of a blob from `begin` up to `end`, or up to its end."""
        place, size = self._places[name]
        with self._lock:
            self._file.seek(place + begin)
            return self._file.read((size if end is None else end) - begin)

    def write(self, name: str, data: bytes | memoryview) -> None:
        """Write a blob."""
        size = memoryview(data).nbytes
        with self._lock:
            try:
                self._file.seek(self._end)
                self._file.write(data)
                self._file.flush()
            except OSError as error:
                raise self._workspace.no_room(size, error) from error
            self._places[name] = self._end, size
            self._end += size

    def shown(self, name: str) -> str:
        """Return the name of a blob as messages show it."""
        return f"temporary file {name}"


class CheckedBlobs(Blobs):
    """Blobs that are compared with their SHA-256 when they are first read, and are not written."""

    def __init__(self, place: str, files: Mapping[str, str]) -> None:
        super().__init__(place)
        self._files = files
        self._checked: set[str] = set()

    def __reduce__(self) -> tuple[Any, ...]:
        return CheckedBlobs, (self.place, self._files)

    def read(self, name: str, begin: int = 0, end: int | None = None) -> bytes:
        """Return bytes of a blob, which is read whole and compared the first time."""
        if name in self._checked:
            return super().read(name, begin, end)
        data = super().read(name)
        if hashlib.sha256(data).hexdigest() != self._files.get(name):
            raise BadDataError(f"{self.shown(name)}: damaged, its checksum does not fit; count again")
        self._checked.add(name)
        return data[begin:end]

    def write(self, name: str, data: ReadableBuffer) -> None:
        """Refuse to write: the counts are complete."""
        raise StategramError(f"cannot write {self.shown(name)}: the counts are complete")


AnyBlobs: TypeAlias = Blobs | TemporaryBlobs
"""Blobs that other processes see, or of this process alone."""


def _opened(place: str) -> _Folder | _Store:
    if not is_url(place):
        return _Folder(Path(place))
    system, path = url_file_system(place)
    # fsspec writes local files in place, so that a reader could meet a part of one.
    return _Folder(Path(path)) if is_local_url(place) else _Store(place, system, path)


class _Folder:
    """Blobs that are files of a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def full_name(self, name: str) -> str:
        return str(self._folder / name)

    def has(self, name: str) -> bool:
        return (self._folder / name).is_file()

    def size(self, name: str) -> int:
        return (self._folder / name).stat().st_size

    def read(self, name: str, begin: int, end: int | None) -> bytes:
        with (self._folder / name).open("rb") as file:
            file.seek(begin)
            return file.read(-1 if end is None else max(end - begin, 0))

    def write(self, name: str, data: ReadableBuffer) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StategramError(f"cannot make {self._folder}: {error.strerror or error}") from error
        atomic_write(self._folder / name, data, packs=False)

    def remove(self, name: str) -> None:
        try:
            (self._folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise StategramError(
                f"cannot remove {self.full_name(name)}: {error.strerror or error}"
            ) from error

    def names(self) -> list[str]:
        try:
            return [file.name for file in self._folder.iterdir() if file.is_file() and not is_temporary(file)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StategramError(f"cannot read {self._folder}: {error.strerror or error}") from error


class _Store:
    """Blobs at a URL. Lists that fsspec keeps are forgotten: other machines write there too."""

    def __init__(self, url: str, system: Any, root: str) -> None:
        self._url = url
        self._system = system
        self._root = root

    def full_name(self, name: str) -> str:
        return f"{self._url}/{name}"

    def _path(self, name: str) -> str:
        self._system.invalidate_cache()
        return f"{self._root.rstrip('/')}/{name}"

    def has(self, name: str) -> bool:
        if _URL_WITH_QUERY.match(self._url):
            return False
        with url_errors("read", self.full_name(name)):
            try:
                return bool(self._system.info(self._path(name))["type"] == "file")
            except FileNotFoundError as error:
                if not is_missing(error):
                    raise
                return False

    def size(self, name: str) -> int:
        with url_errors("read", self.full_name(name)):
            size = self._size(name)
            if size is None:
                raise StategramError(
                    f"{shown_url(self.full_name(name))}: the server does not report its size"
                )
            return size

    def _size(self, name: str) -> int | None:
        size: int | None = self._system.info(self._path(name))["size"]
        return size

    def read(self, name: str, begin: int, end: int | None) -> bytes:
        with url_errors("read", self.full_name(name)):
            if begin == 0 and end is None:
                return bytes(self._system.cat_file(self._path(name)))
            if end is not None and end <= begin:
                return b""
            # Not cat_file(): where a server ignores the range, that returns the whole file.
            with self._system.open(self._path(name), "rb", cache_type="none") as file:
                file.seek(begin)
                return bytes(file.read(-1 if end is None else end - begin))

    def write(self, name: str, data: ReadableBuffer) -> None:
        with url_errors("write", self.full_name(name)):
            self._system.pipe_file(self._path(name), bytes(data))

    def remove(self, name: str) -> None:
        with url_errors("remove", self.full_name(name)):
            try:
                self._system.rm_file(self._path(name))
            except FileNotFoundError:
                return

    def names(self) -> list[str]:
        with url_errors("list", self._url):
            try:
                self._system.invalidate_cache()
                found = self._system.ls(self._root, detail=True)
            except FileNotFoundError:
                return []
            return [one["name"].rstrip("/").rpartition("/")[2] for one in found if one["type"] == "file"]


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot be the name of a blob; use letters, digits, '_', '-' and '.'")
    return name
