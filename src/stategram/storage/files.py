"""Files that appear atomically: written under a temporary name, synced, renamed.

A file `name` is written as `name.<64 random bits>.partial`. Its writer holds an OS-level lock on it, which is
released when the process exits: a temporary file that nobody holds was left by a killed run.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from stategram.errors import StategramError, UsageError
from stategram.storage.compression import Writer, compression_of_name

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

# One letter is a drive of Windows.
URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_TEMPORARY = re.compile(r"(.+)\.[0-9a-f]{16}\.partial")

Place: TypeAlias = "str | os.PathLike[str] | BinaryIO"
"""A path, ``-`` for the standard stream, or an open binary stream."""


def is_url(name: str) -> bool:
    r"""Return whether the name of a file is a URL.

    >>> is_url("s3://bucket/text.zst"), is_url("file:///a"), is_url("a/b"), is_url("C:\\a"), is_url("-")
    (True, True, False, False, False)
    """
    return URL.match(name) is not None


def is_local_url(url: str) -> bool:
    """Return whether a URL is that of a file or folder of this machine.

    >>> is_local_url("file:///a"), is_local_url("local:///a"), is_local_url("s3://bucket/a")
    (True, True, False)
    """
    return url.lower().startswith(("file://", "local://"))


def shown_url(name: str) -> str:
    """Return a URL as messages and manifests show it: without user, password and query, which may be secret.

    Other names of files stay as they are.

    >>> shown_url("https://me:p@ss@example.org/a.txt?signature=secret"), shown_url("s3://bucket/a@b")
    ('https://example.org/a.txt', 's3://bucket/a@b')
    >>> shown_url("who@where?.txt"), shown_url("file:///who@where?.txt")
    ('who@where?.txt', 'file:///who@where?.txt')
    """
    if not is_url(name) or is_local_url(name):
        return name
    scheme, _, rest = name.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://" + (host.rpartition("@")[2] + slash + path).partition("?")[0]


def expand_urls(names: list[str]) -> list[str]:
    """Return names of files; a URL with ``*`` becomes those that match it, sorted."""
    found = []
    for name in names:
        if not (is_url(name) and "*" in name):
            found.append(name)
            continue
        from stategram.storage.urls import url_errors, url_file_system

        with url_errors("list", name):
            system, path = url_file_system(name)
            matching = [system.unstrip_protocol(one) for one in sorted(system.glob(path))]
        if not matching:
            raise StategramError(f"{shown_url(name)}: no file matches; check the URL")
        found += matching
    return found


def check_place(place: Place) -> None:
    """Raise now, before hours of work, what `atomic_write` would raise for a folder that is not there."""
    if not isinstance(place, str | os.PathLike) or os.fspath(place) == "-":
        return
    if not os.fspath(place):
        raise UsageError("the name of the output is empty; give a file, or - for stdout")
    if Path(place).is_dir():
        raise StategramError(f"cannot write {place}: it is a folder; name a file in it")
    path = Path(place) if _is_no_file(place) else Path(os.path.realpath(place)).parent
    if not path.exists():
        raise StategramError(f"cannot write {place}: there is no folder {path}; make it first")
    if not os.access(path, os.W_OK):
        raise StategramError(f"cannot write {place}: permission denied; choose another place")


def atomic_write(place: Place, data: ReadableBuffer, *, packs: bool = True) -> None:
    """Write bytes to a stream, or to a file that appears only when all is on the disk.

    If `packs`, a name that ends in ``.gz``, ``.xz``, ``.bz2`` or ``.zst`` is packed. A link is followed. What
    is no file, such as a pipe or a device, cannot appear at once and is written to directly.
    """
    with atomic_open(place, packs=packs) as file:
        file.write(data)


@contextmanager
def atomic_open(place: Place, *, packs: bool = True) -> Iterator[Writer]:
    """Open a place as `atomic_write` does, for what is written piece by piece.

    The file appears at the end of the ``with`` block; if that is left by an exception, nothing is left of it.
    """
    check_place(place)
    if not isinstance(place, str | os.PathLike):
        yield place
    elif os.fspath(place) == "-":
        if sys.stdout is None:
            raise StategramError("cannot write to stdout: it is closed; name a file")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        path = Path(place)
        with (
            writing_errors(place),
            path.open("wb") if _is_no_file(place) else atomic_file(path) as file,
            _packing(path, file) if packs else nullcontext(file) as packed,
        ):
            yield packed


@contextmanager
def writing_errors(place: str | os.PathLike[str]) -> Iterator[None]:
    """Raise a StategramError that names the file in place of an OSError."""
    try:
        yield
    except OSError as error:
        advice = "; free some space and run it again" if error.errno == errno.ENOSPC else ""
        raise StategramError(f"cannot write {place}: {error.strerror or error}{advice}") from error


def _is_no_file(place: str | os.PathLike[str]) -> bool:
    return Path(place).exists() and not Path(place).is_file()


@contextmanager
def atomic_file(path: Path, *, overwrite: bool = True) -> Iterator[BinaryIO]:
    """Open a temporary file that gets the name `path` when the block ends; a link is followed.

    Without `overwrite`, a file that has the name by then stays, unless it is empty: the new one becomes
    ``path-2``, ``path-3``, ..., and StategramError says so.
    """
    path = Path(os.path.realpath(path))
    remove_stale(path)
    with _new_temporary(path) as partial:
        with partial.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            partial.chmod(stat.S_IMODE(path.stat().st_mode))
        name = path
        if overwrite:
            partial.replace(path)
        else:
            others = (path.with_name(f"{path.name}-{number}") for number in itertools.count(2))
            name = next(name for name in itertools.chain([path], others) if _rename_if_free(partial, name))
        _sync(path.parent)
    if name != path:
        raise StategramError(f"another process has written {path} meanwhile; this file is {name}")


def _rename_if_free(partial: Path, name: Path) -> bool:
    """Rename a file unless another one that is not empty has the name; return whether it was renamed."""
    with contextlib.suppress(FileNotFoundError):
        if name.stat().st_size > 0:
            return False
        partial.replace(name)
        return True
    try:
        os.link(partial, name)  # unlike a renaming, it never replaces a file
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        partial.replace(name)
    return True


def _sync(folder: Path) -> None:
    """Flush the names in a folder to the disk."""
    if os.name == "nt":  # Windows opens no folders
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _packing(path: Path, file: BinaryIO) -> AbstractContextManager[Writer]:
    kind = compression_of_name(path.name)
    return nullcontext(file) if kind is None else kind.writer(file)


@contextmanager
def _new_temporary(path: Path) -> Iterator[Path]:
    """Make an empty file beside a path, and hold it; what still has its name then is removed."""
    made, held = _make(path)
    try:
        yield made
    finally:
        remove_all([made])
        if held is not None:
            os.close(held)


def _make(path: Path) -> tuple[Path, int | None]:
    while True:
        made = path.with_name(f"{path.name}.{secrets.token_hex(8)}.partial")
        made.touch(exist_ok=False)  # an error if it is there: what is removed later was made here
        try:
            return made, hold(made)
        except (BlockingIOError, FileNotFoundError):
            continue  # another process took it for a stale one before it was held
        except BaseException:
            remove_all([made])
            raise


def temporary_files(path: Path) -> list[Path]:
    """Return the temporary files of `path`: stale ones of killed runs, and those being written now."""
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
    """Whether a name is that of a temporary file.

    >>> is_temporary(Path("part-1.0123456789abcdef.partial")), is_temporary(Path("thesis.partial"))
    (True, False)
    """
    return _TEMPORARY.fullmatch(path.name) is not None


def remove_stale(path: Path) -> None:
    """Remove the temporary files of `path` that killed runs left.

    Those of a running process stay. Where locks are unknown (Windows, some network file systems), all stay.
    """
    for stale in temporary_files(path):
        with contextlib.suppress(OSError):
            held = hold(stale)
            if held is not None:
                remove_all([stale])
                os.close(held)


def remove_all(paths: Iterable[Path]) -> None:
    """Remove files and folders, if they are there."""
    for path in paths:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                path.unlink()


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
