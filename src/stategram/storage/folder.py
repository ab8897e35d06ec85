"""A folder with a manifest: the one way in which stategram keeps things on disk.

A folder holds texts, arrays (`*.safetensors`) and, written last, `manifest.json` with the SHA-256 of
every other file. It is written as `name.<number>.partial`, a random number, synced and renamed: it
appears atomically. A folder that it replaces is `name.<number>.replaced` for the moment between two
renamings. A run that is killed leaves these behind (`temporary_files`); if it was killed in that moment,
`restore_replaced` gives the old folder its name again, else they are of no use to any later run.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

import stategram
from stategram.errors import BadDataError, StategramError
from stategram.progress import Progress
from stategram.storage.arrays import arrays_size, map_arrays, save_arrays
from stategram.storage.atomic import temporary_files, temporary_name
from stategram.storage.checksum import files_sha256

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
# Names of files besides arrays; those of parts begin with 0-, 1-0-, ....
_OTHER_FILES = re.compile(r"manifest\.json|(\d+-)*vocabulary\.txt")


class OtherVersionError(BadDataError):
    """A folder is of another version of the format: not damaged, but not to be read by this stategram."""


@dataclass(frozen=True)
class Folder:
    """A folder that was opened, or the part of it whose file names begin with `prefix`."""

    path: Path
    manifest: Mapping[str, Any]
    files: Collection[str]
    prefix: str = ""
    is_verified: bool = True
    """Whether all files were read and compared with the manifest."""

    def text(self, name: str) -> bytes:
        """Return the bytes of a file of the folder."""
        return self._file(name).read_bytes()

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

    def _file(self, name: str) -> Path:
        if not self.has(name):
            raise BadDataError(
                f"{self.path}: its manifest names no file {self.prefix + name!r}; write the folder again"
            )
        return self.path / (self.prefix + name)


def write_folder(
    path: str | os.PathLike[str],
    *,
    kind: str,
    arrays: Mapping[str, Mapping[str, NDArray[Any]]] | None = None,
    texts: Mapping[str, bytes] | None = None,
    manifest: Mapping[str, Any] | None = None,
) -> None:
    """Write a folder, or replace one that `write_folder` wrote.

    Something else that has that name is never overwritten. `kind` says what the folder holds, such as
    ``"corpus"``; `arrays` are the arrays of each file ``name.safetensors``, `texts` the bytes of other files,
    `manifest` what else the manifest should hold.

    >>> import tempfile, numpy as np
    >>> with tempfile.TemporaryDirectory() as place:
    ...     write_folder(f"{place}/f", kind="example", arrays={"a": {"x": np.arange(3)}})
    ...     folder = open_folder(f"{place}/f", kind="example")
    ...     print(folder.arrays("a", mmap=False)["x"])
    [0 1 2]

    """
    path = Path(path)
    if path.exists() and not (path / MANIFEST).is_file():
        raise StategramError(f"{path} exists and is not a folder of stategram; choose another name")
    if not path.parent.is_dir():
        raise StategramError(f"cannot write {path}: there is no folder {path.parent}; make it first")
    partial = temporary_name(path)
    try:
        partial.mkdir()  # an error if it is there already: what is removed below was made here
        try:
            _fill(partial, kind, arrays or {}, texts or {}, manifest or {})
            _replace(path, partial)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        advice = "; free some space and run it again" if error.errno == errno.ENOSPC else ""
        raise StategramError(f"cannot write the folder {path}: {error.strerror or error}{advice}") from error


def _replace(path: Path, partial: Path) -> None:
    """Rename a folder; the one that has the name now is removed only after that."""
    if not path.exists():
        partial.rename(path)
        _sync(path.parent)
        return
    replaced = partial.with_suffix(".replaced")
    try:
        path.rename(replaced)
        partial.rename(path)
        _sync(path.parent)
    finally:
        if replaced.exists() and not path.exists():
            replaced.rename(path)
        shutil.rmtree(replaced, ignore_errors=True)


def restore_replaced(path: str | os.PathLike[str]) -> None:
    """Rename a folder back, if a run that was about to replace it was killed; of several, the latest.

    Nothing happens where something has that name. What has lost files or is damaged is left where it is.
    """
    path = Path(path)
    if path.exists() or not path.parent.is_dir():
        return
    intact = [left for left in temporary_files(path) if left.suffix == ".replaced" and _is_intact(left)]
    if intact:
        max(intact, key=lambda left: (left / MANIFEST).stat().st_mtime_ns).rename(path)
        _sync(path.parent)


def _is_intact(path: Path) -> bool:
    try:
        open_folder(path, kind=None)
    except OtherVersionError:
        return True  # for all that can be known of it
    except StategramError:
        return False
    return True


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
    (folder / MANIFEST).write_bytes(_manifest_bytes(_complete(manifest, kind, files)))
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
    checksums = dict.fromkeys(sizes, hashlib.sha256().hexdigest())  # all are as long
    return sum(sizes.values()) + len(_manifest_bytes(_complete(manifest, kind, checksums)))


def _complete(manifest: Mapping[str, Any], kind: str, files: Mapping[str, str]) -> dict[str, Any]:
    return {
        **manifest,
        "kind": kind,
        "format_version": FORMAT_VERSION,
        "stategram_version": stategram.__version__,
        "files": files,
    }


def open_folder(
    path: str | os.PathLike[str],
    *,
    kind: str | None,
    verify: bool = True,
    progress: Progress | None = None,
) -> Folder:
    """Open a folder that `write_folder` wrote.

    `kind` is what it has to hold; None: anything. `verify` compares the SHA-256 of every file with the
    manifest; without it only the names are checked.
    """
    path = Path(path)
    try:
        data = (path / MANIFEST).read_bytes()
        manifest = json.loads(data)
        if (version := manifest["format_version"]) != FORMAT_VERSION:
            raise OtherVersionError(
                f"{path / MANIFEST}: format version {version}, this stategram reads {FORMAT_VERSION}; "
                "write the folder again or use another version of stategram"
            )
        files, found_kind = dict(manifest["files"]), manifest["kind"]
        intact = _manifest_bytes(manifest) == data
    except FileNotFoundError as error:
        wanted = f"a {kind} folder" if kind else "a folder"
        raise BadDataError(f"{path}: no {MANIFEST} in it; expected {wanted} of stategram") from error
    except OSError as error:
        raise StategramError(f"cannot open {path}: {error.strerror or error}") from error
    except OtherVersionError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadDataError(f"{path / MANIFEST}: damaged; write the folder again") from error
    if not intact:
        raise BadDataError(f"{path / MANIFEST}: damaged, its checksum does not fit; write the folder again")
    if kind is not None and found_kind != kind:
        raise BadDataError(f"{path}: a {found_kind} folder, expected a {kind} folder")
    for name in files:
        if Path(name).name != name or not (path / name).is_file():
            raise BadDataError(f"{path / name}: missing; write the folder again")
    if verify:
        paths = [path / name for name in files]
        for file, expected, found in zip(paths, files.values(), files_sha256(paths, progress), strict=True):
            if found != expected:
                raise BadDataError(
                    f"{file}: damaged, its SHA-256 is not the one in the manifest; write it again"
                )
    return Folder(path, manifest, files, is_verified=verify)


def _manifest_bytes(manifest: Mapping[str, Any]) -> bytes:
    """Return the only way to write a manifest, with a checksum of everything else in it."""
    rest = {name: value for name, value in manifest.items() if name != "checksum"}
    checksum = hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
    return (json.dumps({**rest, "checksum": checksum}, indent=2, sort_keys=True) + "\n").encode()


def _sync(path: Path) -> None:
    """Have the system put a file, or the names in a folder, on the disk."""
    if path.is_dir() and os.name == "nt":  # Windows opens no folders
        return
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
