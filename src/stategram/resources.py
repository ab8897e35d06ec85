"""What the machine may give to a computation: threads, memory, temporary files, workers for counting.

Resources never change a result, so they are not arguments of the functions that compute it: the innermost
``with use_resources(...)`` around a call has them. Kernels are given ``Resources.current().threads``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from stategram.errors import UsageError

# More than any machine can use, and fewer than systems refuse to start.
_MAX_THREADS = 512
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}

Item = TypeVar("Item")
Result = TypeVar("Result")


class Executor(Protocol):
    """What runs independent tasks, perhaps in other processes, perhaps on other machines.

    A task is a function that can be imported, of one small item: numbers and names, in a tuple or a frozen
    dataclass whose `str` names it in messages. Large data goes through files. A task may run twice, so it
    writes them atomically; their names are full ones.
    """

    def map(self, function: Callable[[Item], Result], items: Iterable[Item], /) -> Iterator[Result]:
        """Return ``function(item)`` for each item, in the order of the items."""


@dataclass(frozen=True)
class Resources:
    """What a computation may use.

    Parameters
    ----------
    threads
        The number of threads of a kernel.
    memory
        The bytes that the process may use; None for no limit. What does not fit goes to files of `tmp`.
    tmp
        The folder of temporary files; None for the system's.
    executor
        Where the tasks of counting run; None for this thread, one after the other.

    """

    threads: int
    memory: int | None = None
    tmp: Path | None = None
    executor: Executor | None = None

    @classmethod
    def current(cls) -> Resources:
        """Return the resources of the innermost ``with use_resources(...)``; by default, all processors."""
        return _current.get() or cls(threads=available_processors())

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Return ``function(item)`` for each item, in order, computed by the executor if there is one.

        See `Executor` for what a task may be.
        """
        return map(function, items) if self.executor is None else self.executor.map(function, items)


_current: ContextVar[Resources | None] = ContextVar("stategram_resources", default=None)


@contextmanager
def use_resources(
    *,
    threads: int | None = None,
    memory: str | int | None = None,
    tmp: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
) -> Iterator[Resources]:
    """Limit what stategram uses inside a ``with`` block. Results do not depend on it.

    Parameters
    ----------
    threads
        The number of threads; all processors by default.
    memory
        The memory that the process may use, such as ``"2G"``; no limit by default. Counts of n-grams and of
        contexts that do not fit go to files of `tmp`.
    tmp
        The folder of temporary files; the system's by default.
    executor
        Where the tasks of `count_text` run: see `open_cluster`.

    Examples
    --------
    >>> import stategram
    >>> with stategram.use_resources(threads=1, memory="2G"):
    ...     model = stategram.NgramModel.train(["the cat sat", "the dog sat"], order=2)

    """
    if threads is not None and not 1 <= threads <= _MAX_THREADS:
        raise UsageError(f"threads is {threads}; it must be 1 to {_MAX_THREADS}")
    given: dict[str, Any] = {
        "threads": threads,
        "memory": None if memory is None else parse_size(memory),
        "tmp": None if tmp is None else Path(tmp),
        "executor": executor,
    }
    here = replace(Resources.current(), **{key: value for key, value in given.items() if value is not None})
    token = _current.set(here)
    try:
        yield here
    finally:
        _current.reset(token)


def parse_size(size: str | int) -> int:
    """Return a number of bytes.

    >>> parse_size("2G"), parse_size("512M"), parse_size("1.5k"), parse_size(4096)
    (2147483648, 536870912, 1536, 4096)
    """
    found = re.fullmatch(r"(\d{1,18}(?:\.\d{1,18})?)\s*([KMGT]?)(?:i?B)?", str(size).strip(), re.IGNORECASE)
    if not found or (number := int(float(found[1]) * _UNITS[found[2].upper()])) <= 0:
        shown = str(size) if len(str(size)) <= 40 else str(size)[:40] + "..."
        raise UsageError(f"{shown!r} is not a size; write it as 2G or 512M")
    return number


def available_processors() -> int:
    """Return the number of processors that this process may run on."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1
