"""Named pieces of data that are written once, in a folder or at a URL."""

from __future__ import annotations

import hashlib
import os
import re
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from stategram.counts.workspace import Workspace
from stategram.errors import BadDataError, StategramError, UsageError
from stategram.storage import atomic_write, is_local_url, is_temporary, is_url, shown_url
from stategram.storage.urls import is_missing, url_errors, url_file_system

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
# That of one file, and often signed for it alone: there are no blobs below it.
_URL_WITH_QUERY = re.compile(r"https?://.*\?", re.IGNORECASE)


def full_name(name: str) -> str:
    """Return a name that a process in another folder opens too."""
    return name if name == "-" or is_url(name) else os.path.abspath(name)  # noqa: PTH100


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
        self._root = self.place
        self._system: Any = None
        """The file system of a URL; None for a folder."""
        if is_url(name):
            system, self._root = url_file_system(self.place)
            # fsspec writes local files in place, so that a reader could meet a part of one.
            self._system = None if is_local_url(self.place) else system

    def __reduce__(self) -> tuple[Any, ...]:
        return Blobs, (full_name(self.place),)

    def __repr__(self) -> str:
        return f"Blobs({shown_url(self.place)!r})"

    def shown(self, name: str) -> str:
        """Return the path or URL of a blob, as messages show it."""
        path = self._path(name)
        return path if self._system is None else shown_url(f"{self.place}/{name}")

    def has(self, name: str) -> bool:
        """Return whether there is a blob of this name."""
        path = self._path(name)
        if self._system is None:
            return Path(path).is_file()
        if _URL_WITH_QUERY.match(self.place):
            return False
        with self._errors("read", name):
            try:
                return bool(self._system.info(path)["type"] == "file")
            except FileNotFoundError as error:
                if not is_missing(error):
                    raise
                return False

    def size(self, name: str) -> int:
        """Return the size of a blob in bytes."""
        path = self._path(name)
        with self._errors("read", name):
            if self._system is None:
                return Path(path).stat().st_size
            size: int | None = self._system.info(path)["size"]
            if size is None:
                raise StategramError(f"{self.shown(name)}: the server does not report its size")
            return size

    def read(self, name: str, begin: int = 0, end: int | None = None) -> bytes:
        """Return the bytes of a blob from `begin` up to `end`, or up to its end."""
        path = self._path(name)
        with self._errors("read", name):
            if self._system is not None and begin == 0 and end is None:
                return bytes(self._system.cat_file(path))
            # Not cat_file(): where a server ignores the range, that returns the whole file.
            with Path(path).open("rb") if self._system is None else self._opened(path) as file:
                file.seek(begin)
                data = bytes(file.read(-1 if end is None else max(end - begin, 0)))
        if end is not None and len(data) != max(end - begin, 0):
            raise BadDataError(
                f"{self.shown(name)}: {begin + len(data):,} bytes, expected at least {end:,}; it is damaged: "
                "remove it, and run the command that made it again"
            )
        return data

    def write(self, name: str, data: ReadableBuffer) -> None:
        """Write a blob; it replaces one of the same name."""
        path = self._path(name)
        if self._system is not None:
            with self._errors("write", name):
                self._system.pipe_file(path, bytes(data))
            return
        try:
            Path(self._root).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StategramError(f"cannot make {Path(self._root)}: {error.strerror or error}") from error
        atomic_write(path, data, packs=False)

    def remove(self, name: str) -> None:
        """Remove a blob, if it is there."""
        path = self._path(name)
        with self._errors("remove", name), suppress(FileNotFoundError):
            if self._system is None:
                Path(path).unlink()
            else:
                self._system.rm_file(path)

    def names(self) -> list[str]:
        """Return the names of all blobs, sorted; none if there is no such folder."""
        if self._system is None:
            with self._errors("read"), suppress(FileNotFoundError):
                files = Path(self._root).iterdir()
                return sorted(file.name for file in files if file.is_file() and not is_temporary(file))
            return []
        with self._errors("list"), suppress(FileNotFoundError):
            self._system.invalidate_cache()
            found = self._system.ls(self._root, detail=True)
            names = (one["name"].rstrip("/").rpartition("/")[2] for one in found if one["type"] == "file")
            return sorted(names)
        return []

    def _path(self, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} cannot be the name of a blob; use letters, digits, '_', '-' and '.'")
        if self._system is None:
            return str(Path(self._root, name))
        self._system.invalidate_cache()  # other machines write there too
        return f"{self._root.rstrip('/')}/{name}"

    def _opened(self, path: str) -> IO[bytes]:
        file: IO[bytes] = self._system.open(path, "rb", cache_type="none")
        return file

    @contextmanager
    def _errors(self, action: str, name: str = "") -> Iterator[None]:
        if self._system is not None:
            with url_errors(action, f"{self.place}/{name}" if name else self.place):
                yield
            return
        place = Path(self._root, name)
        try:
            yield
        except FileNotFoundError as error:
            raise StategramError(f"{place} is missing; run the command that made it again") from error
        except OSError as error:
            raise StategramError(f"cannot {action} {place}: {error.strerror or error}") from error


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
