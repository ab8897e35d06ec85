"""Large arrays: in memory within a budget, otherwise in temporary files that the system removes."""

from __future__ import annotations

import errno
import math
import mmap
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from stategram.errors import StategramError
from stategram.resources import Resources

_MEGABYTE, _GIGABYTE = 2**20, 2**30
_ZEROS = bytes(2**20)
_CHUNK = 2**19  # elements per kernel call where memory is scarce
_MIN_MOVED = 2**20  # bytes


def format_size(n_bytes: int) -> str:
    """Return a number of bytes as `parse_size` reads it, rounded up.

    >>> from stategram.resources import parse_size
    >>> format_size(3_000_000), format_size(5_200_000_000), parse_size("4.9G") >= 5_200_000_000
    ('3M', '4.9G', True)
    """
    if n_bytes >= _GIGABYTE:
        return f"{math.ceil(10 * n_bytes / _GIGABYTE) / 10:.1f}G"
    return f"{math.ceil(n_bytes / _MEGABYTE)}M"


def memory_in_use() -> int:
    """Return the resident memory of this process in bytes.

    Its peak where the system does not report it; 0 where it reports neither.
    """
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return peak_memory()
    return pages * mmap.PAGESIZE


def peak_memory() -> int:
    """Return the peak resident memory of this process in bytes; 0 where the system does not report it."""
    if sys.platform == "win32":
        return 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


class Workspace:
    """Allocates arrays in memory, or in temporary files once `spill` is called.

    The files have no name, so that the system removes them however the process ends.

    The memory budget and the folder of the files are those of `Resources.current`.
    """

    def __init__(self) -> None:
        limits = Resources.current()
        self.memory = limits.memory
        self.tmp = limits.tmp or Path(tempfile.gettempdir())
        self.spilling = False
        self._maps: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()
        if not self.tmp.is_dir() or not os.access(self.tmp, os.W_OK):
            raise StategramError(
                f"cannot write temporary files to {self.tmp}: choose another folder with --tmp"
            )

    def spill(self, needed: int) -> None:
        """Allocate arrays in files from now on, about `needed` bytes."""
        self.spilling = True
        if shutil.disk_usage(self.tmp).free < needed:
            raise self.no_room(needed)

    def spill_when_scarce(self, needed: int) -> None:
        """Do so if half of the memory is in use; the other half is for the next step."""
        if self.memory is not None and not self.spilling and 2 * memory_in_use() > self.memory:
            self.spill(needed)

    def moved(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return an array of one dimension, in a file if arrays are allocated there.

        Small ones stay in memory: every file takes one of the handles that a process may have.
        """
        if array.nbytes < _MIN_MOVED:
            return array
        growing = self.growing(array.dtype)
        growing.append(array)
        return growing.finish()

    def empty(self, size: int, dtype: DTypeLike) -> NDArray[Any]:
        """Return an array whose values are not set."""
        n_bytes = size * np.dtype(dtype).itemsize
        if not self.spilling or n_bytes == 0:
            return np.empty(size, dtype)
        with self.file() as file:
            try:
                # All of it now: a disk that is full only when a page is written ends the whole process.
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, n_bytes)
                else:
                    for begin in range(0, n_bytes, len(_ZEROS)):
                        file.write(_ZEROS[: n_bytes - begin])
                    file.flush()
            except OSError as error:
                raise self.no_room(n_bytes, error) from error
            return self.map(file, dtype)

    def zeros(self, size: int, dtype: DTypeLike) -> NDArray[Any]:
        """Return an array of zeros."""
        return self.empty(size, dtype) if self.spilling else np.zeros(size, dtype)

    def growing(self, dtype: DTypeLike) -> GrowingArray:
        """Return an array that grows at its end."""
        return GrowingArray(self, dtype)

    def chunks(self, size: int) -> Iterator[tuple[int, int]]:
        """Yield ranges of `size` elements: one, or several between which memory is given back."""
        step = _CHUNK if self.spilling else max(size, 1)
        for begin in range(0, size, step):
            yield begin, min(begin + step, size)
            self._give_back()

    def file(self) -> IO[bytes]:
        """Open a temporary file without a name."""
        return tempfile.TemporaryFile(dir=self.tmp)

    def map(self, file: IO[bytes], dtype: DTypeLike) -> NDArray[Any]:
        """Open a file as an array."""
        mapped = mmap.mmap(file.fileno(), 0)
        self._maps.add(mapped)
        return np.frombuffer(mapped, dtype)

    def no_room(self, needed: int, error: OSError | None = None) -> StategramError:
        """Return the error for a full disk, or for whatever else is wrong with it."""
        if error is not None and error.errno != errno.ENOSPC:
            return StategramError(f"cannot write temporary files to {self.tmp}: {error.strerror or error}")
        free = shutil.disk_usage(self.tmp).free
        return StategramError(
            f"not enough space for temporary files in {self.tmp}: {format_size(needed)} needed, "
            f"{format_size(free)} free; free some space, choose another folder with --tmp, or allow more "
            "--memory"
        )

    def _give_back(self) -> None:
        """Unmap the pages of our files; they stay in the cache of the system."""
        if hasattr(mmap, "MADV_DONTNEED"):
            for mapped in self._maps:
                mapped.madvise(mmap.MADV_DONTNEED)


class GrowingArray:
    """An array that grows at its end, in memory or in a file."""

    def __init__(self, workspace: Workspace, dtype: DTypeLike) -> None:
        self._workspace = workspace
        self._dtype = np.dtype(dtype)
        self._parts: list[NDArray[Any]] = []
        self._file: IO[bytes] | None = None
        self.size = 0

    def append(self, part: NDArray[Any]) -> None:
        """Add values at the end."""
        if len(part) == 0:
            return
        self._parts.append(part)
        self.size += len(part)
        if self._workspace.spilling:
            self._file = self._file or self._workspace.file()
            try:
                for waiting in self._parts:
                    self._file.write(np.ascontiguousarray(waiting, self._dtype).data)
            except OSError as error:
                raise self._workspace.no_room(part.nbytes, error) from error
            self._parts.clear()

    def finish(self) -> NDArray[Any]:
        """Return the array; nothing can be added after that."""
        if self._file is not None:
            with self._file as file:
                try:
                    file.flush()
                except OSError as error:
                    raise self._workspace.no_room(self.size * self._dtype.itemsize, error) from error
                return self._workspace.map(file, self._dtype)
        if len(self._parts) == 1:
            return self._parts[0]
        joined = np.empty(self.size, self._dtype)
        begin = 0
        while self._parts:  # each goes as soon as it is copied
            part = self._parts.pop(0)
            joined[begin : begin + len(part)] = part
            begin += len(part)
        return joined
