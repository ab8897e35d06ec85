"""How many processors this process may use."""

from __future__ import annotations

import os

from stategram.errors import UsageError

__all__ = ["thread_count"]


def thread_count(threads: int | None) -> int:
    """Give the number of threads asked for, or that of the processors this process may run on."""
    if threads is None:
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    if threads < 1:
        raise UsageError(f"threads is {threads}; it must be at least 1")
    return threads
