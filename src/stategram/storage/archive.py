"""One file of arrays with a manifest: models, corpora, clusterings, checkpoints.

The file is in the safetensors format, so other tools open it too. Its metadata holds the manifest, with the
SHA-256 of each array, and the SHA-256 of the header itself:

    8 bytes   length of the header
    header    {"__metadata__": {"sha256": ..., "manifest": ...}, NAME: {"dtype": ..., ...}, ...}
    arrays    in the order of the header, the largest elements first

Names of arrays are ``group/name``; those of the parts of a mixture begin with ``0/``, ``1/``, ``1/0/``, ....
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from stategram.errors import BadDataError, StategramError
from stategram.progress import Progress, report_bytes
from stategram.storage.files import atomic_file, check_place, writing_errors
from stategram.storage.manifest import manifest_bytes, parse_manifest

# The element types of the safetensors format that NumPy has, always little-endian.
_TYPES = {
    "BOOL": "|b1",
    "U8": "|u1",
    "I8": "|i1",
    "U16": "<u2",
    "I16": "<i2",
    "F16": "<f2",
    "U32": "<u4",
    "I32": "<i4",
    "F32": "<f4",
    "U64": "<u8",
    "I64": "<i8",
    "F64": "<f8",
}
_NAMES = {code: name for name, code in _TYPES.items()}
_BLOCK = 2**24
_LENGTH = 8  # bytes of the length of the header
_MAX_HEADER = 2**26
_MAX_DIMENSIONS = 8
# The first bytes of every header; its SHA-256 follows, computed with zeros in its place.
_MAGIC = b'{"__metadata__":{"sha256":"'
_NO_SHA256 = "0" * 64
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)

Groups = Mapping[str, Mapping[str, NDArray[Any]]]
"""Arrays by the names of their groups, then by their own."""


@dataclass(frozen=True)
class ArrayEntry:
    """Where an array is in a file."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True)
class Archive:
    """An opened file, or the part of it whose array names begin with `prefix`."""

    path: Path
    manifest: Mapping[str, Any]
    entries: Mapping[str, ArrayEntry]
    """All arrays of the file by their names."""
    data: mmap.mmap
    prefix: str = ""
    is_verified: bool = True
    """Whether all arrays were compared with the manifest."""

    def text(self, name: str) -> bytes:
        """Return a text, as bytes."""
        return self._array(name).tobytes()

    def arrays(self, group: str, *, mmap: bool = True) -> dict[str, NDArray[Any]]:
        """Return the arrays of a group, read-only and by default mapped."""
        begin = f"{self.prefix}{group}/"
        names = [name.removeprefix(begin) for name in self.entries if name.startswith(begin)]
        arrays = {name: self._array(f"{group}/{name}") for name in names}
        return arrays if mmap else {name: _copy(array) for name, array in arrays.items()}

    def has(self, name: str) -> bool:
        """Whether there is a text, or a group of arrays, of that name."""
        name = self.prefix + name
        return name in self.entries or any(entry.startswith(f"{name}/") for entry in self.entries)

    def parts(self) -> list[Archive]:
        """Return the parts, which the manifest lists under ``parts``."""
        listed = self.manifest.get("parts", [])
        if not isinstance(listed, list) or not all(isinstance(part, dict) for part in listed):
            raise _damaged(self.path, "its parts are not a list of objects")
        return [
            replace(self, manifest=part, prefix=f"{self.prefix}{number}/")
            for number, part in enumerate(listed)
        ]

    @property
    def bytes(self) -> int:
        """The size of its arrays; of a whole file, its size."""
        if not self.prefix:
            return len(self.data)
        return sum(
            entry.end - entry.begin for name, entry in self.entries.items() if name.startswith(self.prefix)
        )

    def _array(self, name: str) -> NDArray[Any]:
        entry = self.entries.get(self.prefix + name)
        if entry is None:
            raise _damaged(self.path, f"it has no array {self.prefix + name!r}")
        if entry.begin == entry.end:
            return np.empty(entry.shape, entry.dtype)
        count = math.prod(entry.shape)
        return np.frombuffer(self.data, entry.dtype, count, entry.begin).reshape(entry.shape)


def write_archive(
    path: str | os.PathLike[str],
    *,
    kind: str,
    arrays: Groups | None = None,
    texts: Mapping[str, bytes] | None = None,
    manifest: Mapping[str, Any] | None = None,
    overwrite: bool = True,
) -> None:
    """Write a file, or replace one that `write_archive` wrote; anything else there is left alone.

    The file appears atomically. Of a link, the target is replaced. `kind` names the content, such as
    ``"model"``; `manifest` has further entries of the manifest. Without `overwrite`, a file written by
    another process meanwhile is kept, this one gets the first free name of ``path-2``, ``path-3``, ..., and
    StategramError says so.
    """
    content = _Content(kind, _flat(arrays or {}, texts or {}), manifest or {})
    content.header({})  # UsageError before anything is written
    check_archive_place(path)
    with writing_errors(path), atomic_file(Path(path), overwrite=overwrite) as file:
        content.write(file)


def check_archive_place(path: str | os.PathLike[str]) -> None:
    """Raise now, before hours of work, what `write_archive` would raise for a place it cannot write to."""
    check_place(path)
    is_empty = Path(path).is_file() and Path(path).stat().st_size == 0
    if is_archive(path) is False and not is_empty:
        raise StategramError(f"{path} exists and is not a file of stategram; choose another name")


def archive_size(
    *, kind: str, arrays: Groups, texts: Mapping[str, bytes], manifest: Mapping[str, Any]
) -> int:
    """Return the bytes of the file that `write_archive` writes."""
    content = _Content(kind, _flat(arrays, texts), manifest)
    return len(content.header({})) + sum(array.nbytes for array in content.arrays.values())


def _flat(groups: Groups, texts: Mapping[str, bytes]) -> dict[str, NDArray[Any]]:
    """Return all arrays, the largest elements first, so that each is aligned."""
    arrays = {f"{group}/{name}": array for group, of in groups.items() for name, array in of.items()}
    arrays |= {name: np.frombuffer(text, np.uint8) for name, text in texts.items()}
    return dict(sorted(arrays.items(), key=lambda item: (-item[1].itemsize, item[0])))


@dataclass(frozen=True)
class _Content:
    """The content of a file to be written."""

    kind: str
    arrays: Mapping[str, NDArray[Any]]
    manifest: Mapping[str, Any]

    def write(self, file: BinaryIO) -> None:
        """Write the arrays, then the header, whose length does not depend on the digests."""
        file.seek(len(self.header({})))
        digests = {}
        for name, array in self.arrays.items():
            digest = hashlib.sha256()
            for block in _blocks(np.ascontiguousarray(array, array.dtype.newbyteorder("<"))):
                file.write(block)
                digest.update(block)
            digests[name] = digest.hexdigest()
        file.seek(0)
        file.write(self.header(digests))

    def header(self, digests: Mapping[str, str]) -> bytes:
        """Return the header of the file, its length before it."""
        digests = {name: digests.get(name, _NO_SHA256) for name in self.arrays}
        manifest = manifest_bytes(self.manifest, self.kind, digests, listed="arrays").decode()
        entries: dict[str, Any] = {"__metadata__": {"sha256": _NO_SHA256, "manifest": manifest}}
        end = 0
        for name, array in self.arrays.items():
            begin, end = end, end + array.nbytes
            dtype = _NAMES[array.dtype.newbyteorder("<").str]
            entries[name] = {"dtype": dtype, "shape": array.shape, "data_offsets": (begin, end)}
        text = json.dumps(entries, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        digest = hashlib.sha256(text).hexdigest().encode()
        return len(text).to_bytes(_LENGTH, "little") + _with_sha256(text, digest)


def _with_sha256(header: bytes, digest: bytes) -> bytes:
    return header[: len(_MAGIC)] + digest + header[len(_MAGIC) + len(digest) :]


def _blocks(array: NDArray[Any]) -> Iterator[memoryview]:
    """Yield the bytes of an array; of a mapped one, only a block is in memory at a time."""
    source: Any = array
    while isinstance(source, np.ndarray | memoryview):
        source = source.base if isinstance(source, np.ndarray) else source.obj
    window = source if isinstance(source, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED") else None
    data = array.reshape(-1).view(np.uint8).data
    for begin in range(0, len(data), _BLOCK):
        yield data[begin : begin + _BLOCK]
        if window is not None:
            window.madvise(mmap.MADV_DONTNEED)


def _copy(array: NDArray[Any]) -> NDArray[Any]:
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def is_archive(path: str | os.PathLike[str]) -> bool | None:
    """Whether a path leads to a file that `write_archive` wrote, by its first bytes; None if to nothing."""
    try:
        with _opened(Path(path)) as file:
            return file.read(_LENGTH + len(_MAGIC))[_LENGTH:] == _MAGIC
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, BadDataError):
        return False


def archive_kind(path: str | os.PathLike[str]) -> str | None:
    """Return the kind of a file; None if it is not ours, or damaged."""
    try:
        return str(open_archive(path, kind=None, verify=False).manifest["kind"])
    except StategramError:
        return None


def open_archive(
    path: str | os.PathLike[str],
    *,
    kind: str | None,
    verify: bool = True,
    progress: Progress | None = None,
) -> Archive:
    """Open a file that `write_archive` wrote.

    `kind` is the expected kind; None: any. `verify` compares the SHA-256 of every array with the manifest;
    without it only the header is checked.
    """
    path = Path(path)
    expected = f"a {kind} of stategram" if kind else "a file of stategram"
    try:
        with _opened(path) as file:
            manifest, entries, end = _read_header(file, path, expected)
            if kind is not None and manifest["kind"] != kind:
                raise BadDataError(f"{path}: a {manifest['kind']}, expected {expected}")
            if verify:
                _verify(file, path, manifest["arrays"], entries, progress)
            data = mmap.mmap(file.fileno(), end, access=mmap.ACCESS_READ)
    except (FileNotFoundError, NotADirectoryError):
        raise BadDataError(f"{path}: no such file; expected {expected}") from None
    except OSError as error:
        raise StategramError(f"cannot open {path}: {error.strerror or error}") from error
    return Archive(path, manifest, entries, data, is_verified=verify)


def _opened(path: Path) -> BinaryIO:
    """Open a regular file; BadDataError if it is something else."""
    descriptor = os.open(path, _READ)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BadDataError(f"{path}: a folder, a pipe or a device; expected a file of stategram")
    return os.fdopen(descriptor, "rb")


def _read_header(
    file: BinaryIO, path: Path, expected: str
) -> tuple[dict[str, Any], dict[str, ArrayEntry], int]:
    """Return the manifest, the arrays and the size of a file."""
    size = os.fstat(file.fileno()).st_size
    length = int.from_bytes(file.read(_LENGTH), "little")
    start = _LENGTH + length
    if file.read(len(_MAGIC)) != _MAGIC:
        raise BadDataError(f"{path}: not {expected}; check the name")
    if length > _MAX_HEADER:
        raise _damaged(path, f"its header has more than {_MAX_HEADER:,} bytes")
    if start > size or length < len(_MAGIC):
        raise _damaged(path, "its header is cut off")
    text = _MAGIC + file.read(length - len(_MAGIC))
    digest = text[len(_MAGIC) :][: len(_NO_SHA256)]
    if hashlib.sha256(_with_sha256(text, _NO_SHA256.encode())).hexdigest().encode() != digest:
        raise _damaged(path, "the SHA-256 of its header does not match")
    try:
        header = json.loads(text, object_pairs_hook=_without_duplicates)
        manifest = parse_manifest(header.pop("__metadata__")["manifest"].encode(), path, listed="arrays")
        entries = {name: _entry(start, size, entry) for name, entry in header.items()}
    except BadDataError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise _damaged(path, f"its header cannot be read ({error})") from error
    if entries.keys() != manifest["arrays"].keys():
        raise _damaged(path, "its arrays are not those of its manifest")
    if max((entry.end for entry in entries.values()), default=start) != size:
        raise _damaged(path, "it is longer than its arrays")
    return manifest, entries, size


def _entry(start: int, size: int, entry: Mapping[str, Any]) -> ArrayEntry:
    (begin, end), shape = entry["data_offsets"], entry["shape"]
    dtype = np.dtype(_TYPES[entry["dtype"]])
    if not isinstance(shape, list) or len(shape) > _MAX_DIMENSIONS:
        raise ValueError(f"a shape is not a list of up to {_MAX_DIMENSIONS} numbers")
    if any(type(number) is not int or not 0 <= number < 2**48 for number in (begin, end, *shape)):
        raise ValueError("an offset or a dimension is not a number of bytes or elements")
    if not begin <= end <= size - start or end - begin != math.prod(shape) * dtype.itemsize:
        raise ValueError("an array is outside the file")
    if (start + begin) % dtype.itemsize:
        raise ValueError("an array is not aligned")
    return ArrayEntry(dtype, tuple(shape), start + begin, start + end)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        raise ValueError("a duplicate name")
    return unique


def _verify(
    file: BinaryIO,
    path: Path,
    digests: Mapping[str, str],
    entries: Mapping[str, ArrayEntry],
    progress: Progress | None,
) -> None:
    """Compare every array with its SHA-256."""
    done, total = 0, sum(entry.end - entry.begin for entry in entries.values())
    for name, entry in entries.items():
        digest = hashlib.sha256()
        file.seek(entry.begin)
        for begin in range(entry.begin, entry.end, _BLOCK):
            block = file.read(min(_BLOCK, entry.end - begin))
            digest.update(block)
            done += len(block)
            report_bytes(progress, done, total)
        if digest.hexdigest() != digests[name]:
            raise _damaged(path, f"the SHA-256 of its array {name} does not match")


def _damaged(path: Path, problem: str) -> BadDataError:
    return BadDataError(f"{path}: damaged, {problem}; write it again")
