"""How many processors this process may use."""

from __future__ import annotations

import os

from stategram.errors import UsageError

__all__ = ["thread_count"]

# More than any machine can use, and fewer than systems refuse to start.
_MOST_THREADS = 512


def thread_count(threads: int | None) -> int:
    """Give the number of threads asked for, or that of the processors this process may run on."""
    if threads is None:
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    if not 1 <= threads <= _MOST_THREADS:
        raise UsageError(f"threads is {threads}; it must be 1 to {_MOST_THREADS}")
    return threads
