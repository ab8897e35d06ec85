"""Folders written to do harm: every checksum fits; one entry of the manifest, or one array, does not."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from stategram.storage.arrays import save_arrays

Keys = tuple[str | int, ...]


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    2**31,
    2**64,
    float("inf"),
    float("nan"),
    "",
    "\x1b[31mred\udc80",
    "w-1",
    [],
    {},
    _nested(60),
    list(range(5000)),
    [{}],
    {"a": [1]},
)
"""What is put in the place of each entry."""

DEEP = _nested(500)


def places(value: Any, at: Keys = ()) -> Iterator[Keys]:
    """Yield the place of every entry of a manifest; of long lists, those of the first and the last item."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*at, key)
            yield from places(inner, (*at, key))
    elif isinstance(value, list):
        for number in sorted({0, len(value) - 1}) if value else ():
            yield (*at, number)
            yield from places(value[number], (*at, number))


def changed(value: Any, at: Keys, new: Any) -> Any:
    """Return a manifest with another value at a place."""
    if not at:
        return new
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[at[0]] = changed(value[at[0]], at[1:], new)
    return copy


def arrays_like(array: NDArray[Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield what might be in the place of an array: another type or shape, other values."""
    for dtype in (np.uint8, np.uint32, np.int64, np.float32, np.float64):
        if dtype != array.dtype:
            with np.errstate(invalid="ignore"):
                yield f"as {dtype.__name__}", array.astype(dtype)
    yield "of shape (n, 1)", array.reshape(-1, 1)
    yield "as one row", array.reshape(1, -1)
    yield "empty", array[:0]
    yield "endless and empty", np.empty((2**40, 0), array.dtype)
    if array.size:
        yield "a number", array.reshape(-1)[:1].reshape(())
    yield "shorter", array[:-1]
    yield "longer", np.concatenate((array, array[-1:]))
    if array.dtype.kind == "f":
        for value in (np.nan, np.inf, -1.0, 0.0, 1e300 if array.itemsize == 8 else 1e38):
            yield f"all {value}", np.full_like(array, value)
            if array.size:
                one = array.copy()
                one.reshape(-1)[-1] = value
                yield f"last {value}", one
    elif array.dtype != np.bool_:
        for value in (0, 1, np.iinfo(array.dtype).max // 2, np.iinfo(array.dtype).max):
            yield f"all {value}", np.full_like(array, value)
            if array.size:
                for name, place in (("first", 0), ("last", -1)):
                    one = array.copy()
                    one.reshape(-1)[place] = value
                    yield f"{name} {value}", one
    yield "backwards", array[::-1].copy()


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write a manifest with a right checksum."""
    rest = {name: value for name, value in manifest.items() if name != "checksum"}
    checksum = hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
    text = json.dumps({**rest, "checksum": checksum}, indent=2, sort_keys=True) + "\n"
    (folder / "manifest.json").write_text(text)


def change_manifest(folder: Path, **changes: Any) -> None:
    """Change entries of a manifest, or remove those that are `...`."""
    manifest = {**json.loads((folder / "manifest.json").read_text()), **changes}
    write_manifest(folder, {name: value for name, value in manifest.items() if value is not ...})


class HostileFolder:
    """A copy of a folder, whose manifest and arrays can be replaced."""

    def __init__(self, source: Path, place: Path) -> None:
        shutil.copytree(source, place)
        self.path = place
        self.manifest: dict[str, Any] = json.loads((place / "manifest.json").read_bytes())
        self.files = sorted(name for name in self.manifest["files"] if name.endswith(".safetensors"))

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Write a manifest with a right checksum."""
        write_manifest(self.path, manifest)

    def arrays(self, file: str) -> dict[str, NDArray[Any]]:
        return load_file(self.path / file)

    def write_arrays(self, file: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Replace the arrays of a file, and its checksum in the manifest."""
        sha256 = save_arrays(self.path / file, arrays)
        self.write_manifest({**self.manifest, "files": {**self.manifest["files"], file: sha256}})
