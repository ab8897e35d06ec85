"""Arrays in one safetensors file, opened as a window on the disk."""

from __future__ import annotations

import json
import math
import mmap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from stategram.errors import BadDataError

__all__ = ["map_arrays", "save_arrays"]

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


def save_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write named arrays to a safetensors file."""
    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, path)
    # It is made for its owner alone; who may read the folder may read it too.
    path.chmod(path.parent.stat().st_mode & 0o666)


def map_arrays(path: Path, *, in_memory: bool = False) -> dict[str, NDArray[Any]]:
    """Open the arrays of a safetensors file, read-only; `in_memory` reads them instead of mapping them."""
    with path.open("rb") as file:
        size = path.stat().st_size
        if size == 0:
            raise _damaged(path, "it is empty")
        data = file.read() if in_memory else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    header_size = int.from_bytes(data[:8], "little")
    start = 8 + header_size
    if start > size:
        raise _damaged(path, "its header is cut off")
    try:
        header = json.loads(data[8:start])
        header.pop("__metadata__", None)
        return {name: _array(data, start, size, entry) for name, entry in header.items()}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _damaged(path, f"its header cannot be read ({error})") from error


def _array(data: bytes | mmap.mmap, start: int, size: int, entry: Mapping[str, Any]) -> NDArray[Any]:
    begin, end = entry["data_offsets"]
    dtype, shape = np.dtype(_TYPES[entry["dtype"]]), tuple(entry["shape"])
    count = math.prod(shape)
    if not 0 <= begin <= end <= size - start or end - begin != count * dtype.itemsize:
        raise ValueError("an array lies outside the file")
    if count == 0:
        return np.empty(shape, dtype)
    return np.frombuffer(data, dtype, count, start + begin).reshape(shape)


def _damaged(path: Path, what: str) -> BadDataError:
    return BadDataError(f"{path}: not a whole safetensors file: {what}; write the folder again")
