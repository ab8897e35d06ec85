"""Arrays in one safetensors file, opened as a window on the disk."""

from __future__ import annotations

import hashlib
import json
import math
import mmap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.errors import BadDataError
from stategram.storage.handles import OpenFile

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
# The least that all arrays of ours need, by far; no header is parsed that has more.
_MAX_HEADER = 2**20
_MAX_DIMENSIONS = 8


def save_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> str:
    """Write named arrays to a safetensors file; return its SHA-256."""
    digest = hashlib.sha256()
    header = _header(arrays)
    with path.open("wb") as file:
        file.write(header)
        digest.update(header)
        for name in _order_of(arrays):
            plain = np.ascontiguousarray(arrays[name], arrays[name].dtype.newbyteorder("<"))
            for block in _blocks(plain):
                file.write(block)
                digest.update(block)
    return digest.hexdigest()


def arrays_size(arrays: Mapping[str, NDArray[Any]]) -> int:
    """Return the bytes of the file that `save_arrays` writes."""
    return len(_header(arrays)) + sum(array.nbytes for array in arrays.values())


def _order_of(arrays: Mapping[str, NDArray[Any]]) -> list[str]:
    # The largest elements first: then every array begins where its elements may.
    return sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))


def _header(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    header: dict[str, Any] = {}
    end = 0
    for name in _order_of(arrays):
        array = arrays[name]
        begin, end = end, end + array.nbytes
        dtype = array.dtype.newbyteorder("<").str
        header[name] = {"dtype": _NAMES[dtype], "shape": array.shape, "data_offsets": (begin, end)}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(_LENGTH, "little") + text


def _blocks(array: NDArray[Any]) -> Iterator[memoryview]:
    """Yield the bytes of an array; of one that is mapped from a file, never much is in memory."""
    source: Any = array
    while isinstance(source, np.ndarray | memoryview):
        source = source.base if isinstance(source, np.ndarray) else source.obj
    window = source if isinstance(source, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED") else None
    data = array.reshape(-1).view(np.uint8).data
    for begin in range(0, len(data), _BLOCK):
        yield data[begin : begin + _BLOCK]
        if window is not None:
            window.madvise(mmap.MADV_DONTNEED)


def map_arrays(file: OpenFile, *, in_memory: bool = False) -> dict[str, NDArray[Any]]:
    """Return the arrays of a safetensors file, read-only; `in_memory` reads them instead of mapping them."""
    if file.size < _LENGTH:
        raise _damaged(file, "it is cut off")
    data = file.read() if in_memory else file.map()
    header_size = int.from_bytes(data[:_LENGTH], "little")
    start = _LENGTH + header_size
    if start > len(data):
        raise _damaged(file, "its header is cut off")
    if header_size > _MAX_HEADER:
        raise _damaged(file, f"its header has more than {_MAX_HEADER:,} bytes")
    try:
        header = json.loads(data[_LENGTH:start], object_pairs_hook=_without_duplicates)
        header.pop("__metadata__", None)
        return {name: _array(data, start, entry) for name, entry in header.items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise _damaged(file, f"its header cannot be read ({error})") from error


def _array(data: bytes | mmap.mmap, start: int, entry: Mapping[str, Any]) -> NDArray[Any]:
    (begin, end), shape = entry["data_offsets"], entry["shape"]
    dtype = np.dtype(_TYPES[entry["dtype"]])
    if not isinstance(shape, list) or len(shape) > _MAX_DIMENSIONS:
        raise ValueError(f"a shape is not a list of up to {_MAX_DIMENSIONS} numbers")
    if any(type(number) is not int or not 0 <= number < 2**48 for number in (begin, end, *shape)):
        raise ValueError("an offset or a dimension is not a number of bytes or elements")
    count = math.prod(shape)
    if not begin <= end <= len(data) - start or end - begin != count * dtype.itemsize:
        raise ValueError("an array lies outside the file")
    if (start + begin) % dtype.itemsize:
        raise ValueError("an array does not begin where its elements may")
    if count == 0:
        return np.empty(shape, dtype)
    return np.frombuffer(data, dtype, count, start + begin).reshape(shape)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found


def _damaged(file: OpenFile, what: str) -> BadDataError:
    return BadDataError(f"{file.path}: not a complete safetensors file: {what}; write the folder again")
