"""A folder with a manifest: the one way in which stategram keeps things on disk.

A folder holds texts, arrays (`*.safetensors`) and, written last, `manifest.json` with the SHA-256 of
every other file. It is written under a temporary name, synced and renamed, and it is read through handles
that are opened once: a reader beside a writer finds the old folder or the new one, whole. No file of a folder
may be a link; the folder itself may, and a writer then replaces what the link leads to.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import os
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from stategram.errors import BadDataError, StategramError
from stategram.progress import Progress
from stategram.storage.arrays import arrays_size, map_arrays, save_arrays
from stategram.storage.checksum import files_sha256
from stategram.storage.handles import OpenFile, OpenFolder
from stategram.storage.manifest import MANIFEST, OtherVersionError, manifest_bytes, read_manifest
from stategram.storage.renaming import give_name, wait_until_named
from stategram.storage.temporary import new_temporary, remove_stale

# Names of files besides arrays; those of parts begin with 0-, 1-0-, ....
_OTHER_FILES = re.compile(r"manifest\.json|(\d+-)*vocabulary\.txt")
# How often a folder may be replaced while its files are being opened.
_TRIES = 100


@dataclass(frozen=True)
class Folder:
    """A folder that was opened, or the part of it whose file names begin with `prefix`."""

    path: Path
    manifest: Mapping[str, Any]
    files: Mapping[str, OpenFile]
    """All its files by their names, the manifest too."""
    prefix: str = ""
    is_verified: bool = True
    """Whether all files were read and compared with the manifest."""

    def text(self, name: str) -> bytes:
        """Return the bytes of a file of the folder."""
        return self._file(name).read()

    def arrays(self, name: str, *, mmap: bool = True) -> dict[str, NDArray[Any]]:
        """Return the arrays of the file `name`.safetensors, read-only and by default mapped."""
        return map_arrays(self._file(f"{name}.safetensors"), in_memory=not mmap)

    def has(self, name: str) -> bool:
        """Whether there is a file of that name."""
        return self.prefix + name in self.files

    def parts(self) -> list[Folder]:
        """Return what the manifest lists under ``parts``; the names of their files begin with ``0-``, ...."""
        listed = self.manifest.get("parts", [])
        if not isinstance(listed, list) or not all(isinstance(part, dict) for part in listed):
            raise BadDataError(f"{self.path}: the parts in its manifest are no list; write the folder again")
        return [
            replace(self, manifest=part, prefix=f"{self.prefix}{number}-")
            for number, part in enumerate(listed)
        ]

    def _file(self, name: str) -> OpenFile:
        if not self.has(name):
            raise BadDataError(
                f"{self.path}: its manifest names no file {self.prefix + name!r}; write the folder again"
            )
        return self.files[self.prefix + name]


def write_folder(
    path: str | os.PathLike[str],
    *,
    kind: str,
    arrays: Mapping[str, Mapping[str, NDArray[Any]]] | None = None,
    texts: Mapping[str, bytes] | None = None,
    manifest: Mapping[str, Any] | None = None,
    overwrite: bool = True,
) -> None:
    """Write a folder, or replace one that `write_folder` wrote.

    Something else that has that name is never overwritten, but an empty folder; where the name is a link, it
    is what the link leads to that is replaced. `kind` says what the folder holds, such as ``"corpus"``;
    `arrays` are the arrays of each file ``name.safetensors``, `texts` the bytes of other files, `manifest`
    what else the manifest should hold. Without `overwrite`, StategramError if there is a folder by the time
    the new one is written, which is kept then under the first free name of ``path-2``, ``path-3``, ....

    >>> import tempfile, numpy as np
    >>> with tempfile.TemporaryDirectory() as place:
    ...     write_folder(f"{place}/f", kind="example", arrays={"a": {"x": np.arange(3)}})
    ...     folder = open_folder(f"{place}/f", kind="example")
    ...     print(folder.arrays("a", mmap=False)["x"])
    [0 1 2]

    """
    given, path = Path(path), Path(os.path.realpath(path))
    arrays, texts, manifest = arrays or {}, texts or {}, manifest or {}
    _like_manifest(kind, [*(f"{name}.safetensors" for name in arrays), *texts], manifest)
    if not path.parent.is_dir():
        raise StategramError(f"cannot write {given}: there is no folder {path.parent}; make it first")
    try:
        recover(path)
        if _is_foreign(path):
            raise StategramError(f"{given} exists and is not a folder of stategram; choose another name")
        with new_temporary(path, is_folder=True) as partial:
            _fill(partial, kind, arrays, texts, manifest)
            if path.exists():
                partial.chmod(stat.S_IMODE(path.stat().st_mode))
            name = _give_name(partial, path, overwrite)
            _sync(path.parent)
    except OSError as error:
        advice = "; free some space and run it again" if error.errno == errno.ENOSPC else ""
        raise StategramError(f"cannot write the folder {given}: {error.strerror or error}{advice}") from error
    if name != path:
        raise StategramError(f"{given} was written by another process meanwhile; this {kind} is in {name}")


def _is_foreign(path: Path) -> bool:
    """Whether a path leads to something that we did not write, and that is not an empty folder."""
    try:
        found = path.stat()
        if (path / MANIFEST).is_file() or is_empty_folder(path):
            return False
        # A folder that another process replaces has no name in between, and then a new one.
        return os.path.samestat(found, path.stat())
    except FileNotFoundError:
        return False


def _give_name(partial: Path, path: Path, overwrite: bool) -> Path:
    """Rename a folder; return its name, which is another one if that is taken and not to be overwritten."""
    with contextlib.suppress(FileExistsError):
        give_name(partial, path, overwrite=overwrite)
        return path
    for number in itertools.count(2):
        other = path.with_name(f"{path.name}-{number}")
        if not os.path.lexists(other):
            return _give_name(partial, other, overwrite=False)
    raise AssertionError


def is_empty_folder(path: Path) -> bool:
    """Whether a path is a folder with nothing in it."""
    return path.is_dir() and not any(path.iterdir())


def recover(path: str | os.PathLike[str]) -> None:
    """Put right what killed runs have left of a folder: `restore_replaced`, and stale files removed."""
    restore_replaced(path)
    remove_stale(Path(os.path.realpath(path)))


def is_folder(path: str | os.PathLike[str]) -> bool | None:
    """Whether a path leads to a folder, be it one that is being replaced right now; None if to nothing."""
    try:
        return stat.S_ISDIR(Path(path).stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True if restore_replaced(path) else None


def restore_replaced(path: str | os.PathLike[str]) -> bool:
    """Rename a folder back, if a run that was about to replace it was killed; of several, the latest.

    Nothing happens where something has that name; a run that is replacing the folder now is waited for. What
    has lost files or is damaged is left where it is. Return whether something has the name.
    """
    if Path(path).exists():
        return True
    path = Path(os.path.realpath(path))
    replaced = wait_until_named(path)
    if replaced is None:
        return True
    intact = [left for left in replaced if _is_intact(left)]
    if not intact:
        return False
    latest = max(intact, key=lambda left: (left / MANIFEST).stat().st_mtime_ns)
    try:
        latest.rename(path)
        _sync(path.parent)
    except OSError as error:
        if not path.exists():
            raise StategramError(
                f"{path}: a run that replaced it was killed; the folder is {latest} now, which cannot be "
                f"renamed: {error.strerror or error}"
            ) from error
    return True


def _is_intact(path: Path) -> bool:
    try:
        open_folder(path, kind=None)
    except OtherVersionError:
        return True  # for all that can be known of it
    except StategramError:
        return False
    return True


def folder_kind(path: str | os.PathLike[str]) -> str | None:
    """Return what a folder holds; None if it has no manifest of ours, or a damaged one."""
    try:
        return str(read_manifest(OpenFolder(Path(path)).open(MANIFEST))["kind"])
    except (OSError, BadDataError):
        return None


def is_our_name(name: str) -> bool:
    """Whether `write_folder` could have written a file of that name."""
    return bool(_OTHER_FILES.fullmatch(name)) or name.endswith(".safetensors")


def holds_only_our_files(path: str | os.PathLike[str]) -> bool:
    """Whether a folder has a manifest, damaged or not, and no file that `write_folder` does not write."""
    path = Path(path)
    return (path / MANIFEST).is_file() and all(
        file.is_file() and is_our_name(file.name) for file in path.iterdir()
    )


def _fill(
    folder: Path,
    kind: str,
    arrays: Mapping[str, Mapping[str, NDArray[Any]]],
    texts: Mapping[str, bytes],
    manifest: Mapping[str, Any],
) -> None:
    files = {}
    for name, group in arrays.items():
        files[f"{name}.safetensors"] = save_arrays(folder / f"{name}.safetensors", group)
    for name, data in texts.items():
        (folder / name).write_bytes(data)
        files[name] = hashlib.sha256(data).hexdigest()
    for name in files:
        _sync(folder / name)
    (folder / MANIFEST).write_bytes(manifest_bytes(manifest, kind, files))
    _sync(folder / MANIFEST)
    _sync(folder)


def folder_size(
    *,
    kind: str,
    arrays: Mapping[str, Mapping[str, NDArray[Any]]],
    texts: Mapping[str, bytes],
    manifest: Mapping[str, Any],
) -> int:
    """Return the bytes of the files that `write_folder` writes."""
    sizes = {f"{name}.safetensors": arrays_size(group) for name, group in arrays.items()}
    sizes |= {name: len(data) for name, data in texts.items()}
    return sum(sizes.values()) + len(_like_manifest(kind, sizes, manifest))


def _like_manifest(kind: str, files: Iterable[str], manifest: Mapping[str, Any]) -> bytes:
    """Return bytes like those of the manifest of files to be written; UsageError if there are faults."""
    checksums = dict.fromkeys(files, hashlib.sha256().hexdigest())  # all are as long
    return manifest_bytes(manifest, kind, checksums)


def open_folder(
    path: str | os.PathLike[str],
    *,
    kind: str | None,
    verify: bool = True,
    progress: Progress | None = None,
) -> Folder:
    """Open a folder that `write_folder` wrote, and all its files.

    `kind` is what it has to hold; None: anything. `verify` compares the SHA-256 of every file with the
    manifest; without it only the names are checked.
    """
    path = Path(path)
    try:
        manifest, files = _open_files(path, kind)
    except OSError as error:
        raise StategramError(f"cannot open {path}: {error.strerror or error}") from error
    if verify:
        listed = [files[name] for name in manifest["files"]]
        digests = files_sha256(
            (file.stream() for file in listed), sum(file.size for file in listed), progress
        )
        for file, expected, found in zip(listed, manifest["files"].values(), digests, strict=True):
            if found != expected:
                raise BadDataError(
                    f"{file.path}: damaged, its SHA-256 is not the one in the manifest; write it again"
                )
    return Folder(path, manifest, files, is_verified=verify)


def _open_files(path: Path, kind: str | None) -> tuple[dict[str, Any], dict[str, OpenFile]]:
    """Return the manifest and all files of a folder, none of them of one that replaces it meanwhile."""
    expected = f"a {kind} folder" if kind else "a folder"
    for _ in range(_TRIES):
        try:
            opened = OpenFolder(path)
        except FileNotFoundError:
            if restore_replaced(path):
                continue
            raise BadDataError(f"{path}: no such folder; expected {expected} of stategram") from None
        except NotADirectoryError:
            raise BadDataError(f"{path}: a file; expected {expected} of stategram") from None
        files: dict[str, OpenFile] = {}
        name = MANIFEST
        try:
            files[name] = opened.open(name)
            manifest = read_manifest(files[name])
            if kind is not None and manifest["kind"] != kind:
                raise BadDataError(f"{path}: a {manifest['kind']} folder, expected {expected}")
            for name in manifest["files"]:
                files[name] = opened.open(name)
        except FileNotFoundError as error:
            if not opened.has_its_name():
                continue  # it was replaced, and its files are being removed
            if name == MANIFEST:
                raise BadDataError(
                    f"{path}: no {MANIFEST} in it; expected {expected} of stategram"
                ) from error
            raise BadDataError(f"{path / name}: missing; write the folder again") from error
        return manifest, files
    raise StategramError(f"cannot open {path}: it is being replaced again and again; try again later")


def _sync(path: Path) -> None:
    """Have the system put a file, or the names in a folder, on the disk."""
    if path.is_dir() and os.name == "nt":  # Windows opens no folders
        return
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
