"""Named pieces of data that are written once, in a folder or at a URL, each followed by its SHA-256."""

from __future__ import annotations

import hashlib
import logging
import os
import platform
import re
import secrets
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from stategram.counts.workspace import Workspace
from stategram.errors import BadDataError, StategramError, UsageError
from stategram.storage import (
    atomic_write,
    hold,
    is_local_url,
    is_temporary,
    is_url,
    remove_stale,
    shown_url,
)
from stategram.storage.urls import is_missing, url_errors, url_file_system

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_log = logging.getLogger(__name__)

RUNNING = ".running"
"""The end of the name of the blob that names who is counting, where there are no locks."""
OVERHEAD = 40
"""The bytes that a piece takes beside its data."""
_LAST = 1 << 63
Written: TypeAlias = tuple[list[int], str]
"""Where the pieces of a blob begin, and its end; the SHA-256 of the last one."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
# That of one file, and often signed for it alone: there are no blobs below it.
_URL_WITH_QUERY = re.compile(r"https?://.*\?", re.IGNORECASE)


def full_name(name: str) -> str:
    """Return a name that a process in another folder opens too."""
    return name if name == "-" or is_url(name) else os.path.abspath(name)  # noqa: PTH100


class Blobs:
    """Blobs by their names, in a folder or at a URL that fsspec opens, each of one piece or of several.

    A piece is stored as its size (8 bytes; in the last piece the highest bit is set), its data, and the
    SHA-256 of both (32 bytes). It is read whole, and compared with that.

    Any process of any machine that sees the place can write and read them, at the same time; of two that
    write one name, one wins. A name appears when all of its data is there: in a folder (``file://`` and
    ``local://`` are folders too), and in object stores such as ``s3://``, ``gs://`` and ``az://``. Other file
    systems, such as ``sftp://``, may show a part of what is being written.
    """

    anew = False
    """Whether nothing of earlier runs is used."""
    advice = "remove it, and run the same command again"
    """What to do about a damaged one."""
    _files: Mapping[str, str] | None = None
    """The SHA-256 at the end of each; None as long as that is not known."""

    def __init__(
        self, place: str | os.PathLike[str], *, anew: bool = False, files: Mapping[str, str] | None = None
    ) -> None:
        self.anew = anew
        self._files = files
        if files is not None:
            self.advice = "count again with --force"
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
        return partial(Blobs, anew=self.anew, files=self._files), (full_name(self.place),)

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

    def get(self, name: str, begin: int = 0, end: int | None = None) -> bytes:
        """Return the bytes of a blob from `begin` up to `end`, or up to its end, as they are stored."""
        path = self._path(name)
        with self._errors("read", name):
            if self._system is not None and begin == 0 and end is None:
                return bytes(self._system.cat_file(path))
            # Not cat_file(): where a server ignores the range, that returns the whole file.
            with (
                Path(path).open("rb")
                if self._system is None
                else self._system.open(path, "rb", cache_type="none") as file
            ):
                file.seek(begin)
                return bytes(file.read(-1 if end is None else max(end - begin, 0)))

    def put(self, name: str, data: ReadableBuffer) -> None:
        """Store a blob as it is; it replaces one of the same name."""
        path = self._path(name)
        if self._system is not None:
            with self._errors("write", name):
                self._system.pipe_file(path, bytes(data))
            return
        atomic_write(path, data, packs=False)

    def write(self, name: str, *pieces: ReadableBuffer) -> Written:
        """Write a blob; it replaces one of the same name."""
        parts: list[ReadableBuffer] = []
        bounds = [0]
        for number, piece in enumerate(pieces, 1):
            size = memoryview(piece).nbytes
            head = (size | (_LAST if number == len(pieces) else 0)).to_bytes(8, "little")
            digest = hashlib.sha256(head)
            digest.update(piece)
            parts += [head, piece, digest.digest()]
            bounds.append(bounds[-1] + size + OVERHEAD)
        self.put(name, b"".join(parts))
        return bounds, digest.hexdigest()

    def read(self, name: str, begin: int = 0, end: int | None = None) -> memoryview:
        """Return the piece that is stored from `begin` up to `end`, or up to the end of the blob."""
        piece = memoryview(self.get(name, begin, end))
        if not self._is_sound(name, piece):
            raise BadDataError(f"{self.shown(name)}: damaged, its checksum does not match; {self.advice}")
        return piece[8:-32]

    def kept(self, name: str) -> Written | None:
        """Return what `write` returned in an earlier run; None if the blob is missing, or damaged."""
        if self.anew or not self.has(name):
            return None
        data, bounds, head = memoryview(self.get(name)), [0], 0
        while head < _LAST:
            head = int.from_bytes(data[bounds[-1] : bounds[-1] + 8], "little")
            bounds.append(bounds[-1] + head % _LAST + OVERHEAD)
            is_whole = head < _LAST or bounds[-1] == len(data)
            if not is_whole or not self._is_sound(name, data[bounds[-2] : bounds[-1]]):
                _log.warning("damaged, made again: %s", self.shown(name))
                return None
        return bounds, data[-32:].hex()

    def _is_sound(self, name: str, piece: memoryview) -> bool:
        is_listed = self._files is None or piece[-32:].hex() == self._files.get(name)
        is_whole = len(piece) == int.from_bytes(piece[:8], "little") % _LAST + OVERHEAD
        return is_listed and is_whole and hashlib.sha256(piece[:-32]).digest() == piece[-32:]

    def remove(self, *names: str) -> None:
        """Remove blobs that are there; temporary files only if no process holds them."""
        for name in names:
            path = self._path(name)
            with self._errors("remove", name), suppress(FileNotFoundError):
                if self._system is not None:
                    self._system.rm_file(path)
                elif is_temporary(Path(path)):
                    remove_stale(Path(path.rsplit(".", 2)[0]))
                else:
                    Path(path).unlink()

    def sizes(self) -> dict[str, int]:
        """Return the sizes of all blobs by their names, sorted, and of temporary files; {} if no folder."""
        with self._errors("list"), suppress(FileNotFoundError):
            if self._system is None:
                files: dict[str, int] = {}
                for file in sorted(Path(self._root).iterdir()):
                    with suppress(FileNotFoundError):  # a temporary file that was renamed meanwhile
                        files |= {file.name: file.stat().st_size} if file.is_file() else {}
                return files
            self._system.invalidate_cache()
            found = sorted((one["name"].rstrip("/"), one) for one in self._system.ls(self._root, detail=True))
            return {name.rpartition("/")[2]: one["size"] for name, one in found if one["type"] == "file"}
        return {}

    @contextmanager
    def hold(self, job: str) -> Iterator[None]:
        """Hold the place; StategramError if another process has it. A folder is made if need be.

        Where there are no locks, as in object stores, a file of each run names its job: a run of the same one
        continues what a killed run left. Of two others at once, at least one sees the other.
        """
        held = None
        with self._errors("write to"):
            try:
                if self._system is None:
                    Path(self._root).mkdir(parents=True, exist_ok=True)
                    held = hold(Path(self._root))
            except BlockingIOError as error:
                raise StategramError(
                    f"another process is counting in {self.place}; wait for its end, or choose another place"
                ) from error
        with ExitStack() as stack:
            if held is not None:
                stack.callback(os.close, held)
            else:
                ours = f"{job[:32]}-{secrets.token_hex(8)}{RUNNING}"
                self.put(ours, f"process {os.getpid()} on {platform.node()}".encode())
                stack.callback(self.remove, ours)
                for name in self.sizes():
                    if not name.endswith(RUNNING) or name.startswith(f"{job[:32]}-"):
                        continue
                    try:
                        other = self.get(name).decode(errors="replace")
                    except StategramError:
                        if self.has(name):
                            raise
                        continue  # it has ended meanwhile
                    raise StategramError(
                        f"{other} is counting something else in {shown_url(self.place)}; wait until it ends, "
                        f"or choose another place; if it was killed, remove {self.shown(name)}"
                    )
            yield

    def _path(self, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} cannot be the name of a blob; use letters, digits, '_', '-' and '.'")
        if self._system is None:
            return str(Path(self._root, name))
        self._system.invalidate_cache()  # other machines write there too
        return f"{self._root.rstrip('/')}/{name}"

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
            if self._files is not None:
                raise BadDataError(f"{place} is missing; {self.advice}") from error
            raise StategramError(f"{place} is missing; run the command that made it again") from error
        except OSError as error:
            raise StategramError(f"cannot {action} {place}: {error.strerror or error}") from error


class TemporaryBlobs(Blobs):
    """Blobs in one temporary file without a name, for this process alone."""

    anew = True

    def __init__(self) -> None:
        self._workspace = Workspace()
        self._file = self._workspace.file()
        weakref.finalize(self, self._file.close)
        self._lock = threading.Lock()
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0

    def get(self, name: str, begin: int = 0, end: int | None = None) -> bytes:
        """Return the bytes of a blob from `begin` up to `end`, or up to its end, as they are stored."""
        place, size = self._places[name]
        with self._lock:
            self._file.seek(place + begin)
            return self._file.read((size if end is None else end) - begin)

    def put(self, name: str, data: ReadableBuffer) -> None:
        """Store a blob as it is."""
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
