"""Files written to do harm: every checksum matches; one entry of the manifest, or one array, does not."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

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
        for value in (np.nan, np.inf, -1.0, 0.0, {2: 6e4, 4: 1e38, 8: 1e300}[array.itemsize]):
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


def manifest_text(manifest: Mapping[str, Any]) -> str:
    """Return a manifest with a right checksum."""
    rest = {name: value for name, value in manifest.items() if name != "checksum"}
    checksum = hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
    return json.dumps({**rest, "checksum": checksum}, indent=2, sort_keys=True) + "\n"


def forged(manifest: str, entries: str, data: bytes) -> bytes:
    """Return a file with a right checksum of its header; `entries` is what the header has of the arrays."""
    begin, none = '{"__metadata__":{"sha256":"', "0" * 64
    header = f'{begin}{none}","manifest":{json.dumps(manifest)}}}{entries}}}'.encode(errors="surrogateescape")
    header += b" " * (-len(header) % 8)
    header = header.replace(none.encode(), hashlib.sha256(header).hexdigest().encode(), 1)
    return len(header).to_bytes(8, "little") + header + data


def _header(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        header: dict[str, Any] = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    return header


def flips(path: Path) -> Iterator[str]:
    """Flip a bit at the end of each array, one after the other, and yield its name."""
    data = bytearray(path.read_bytes())
    start = 8 + int.from_bytes(data[:8], "little")
    for name, entry in _header(path).items():
        begin, end = entry.get("data_offsets", (0, 0))
        if begin < end:
            data[start + end - 1] ^= 4
            path.write_bytes(data)
            yield name
            data[start + end - 1] ^= 4
    path.write_bytes(data)


class HostileFile:
    """A file whose manifest and arrays can be replaced."""

    def __init__(self, path: Path) -> None:
        self.path = path
        header = _header(path)
        self.manifest: dict[str, Any] = json.loads(header["__metadata__"]["manifest"])
        self.arrays: dict[str, NDArray[Any]] = load_file(path)

    def change(self, **changes: Any) -> None:
        """Change entries of the manifest, or remove those that are `...`."""
        manifest = {**self.manifest, **changes}
        self.write({name: value for name, value in manifest.items() if value is not ...})

    def write(
        self, manifest: Mapping[str, Any] | None = None, arrays: Mapping[str, NDArray[Any]] | None = None
    ) -> None:
        """Write another manifest or other arrays, with right checksums."""
        of_file = self.arrays if arrays is None else arrays
        order = sorted(of_file, key=lambda name: (-of_file[name].itemsize, name))
        manifest = self.manifest if manifest is None else manifest
        if arrays is not None:
            digests = {name: hashlib.sha256(of_file[name].tobytes()).hexdigest() for name in order}
            manifest = {**manifest, "arrays": digests}
        names = {
            "b1": "BOOL",
            "f2": "F16",
            **{f"{code}{size}": f"{code.upper()}{8 * size}" for code in "iuf" for size in (1, 2, 4, 8)},
        }
        entries, end = "", 0
        for name in order:
            array = of_file[name]
            begin, end = end, end + array.nbytes
            entry = {
                "dtype": names[array.dtype.str[1:]],
                "shape": array.shape,
                "data_offsets": [begin, end],
            }
            entries += f",{json.dumps(name)}:{json.dumps(entry)}"
        data = b"".join(of_file[name].tobytes() for name in order)
        self.path.write_bytes(forged(manifest_text(manifest), entries, data))
