"""Whether the tables of an exchange fit into this machine's memory."""

from __future__ import annotations

import os

from stategram.errors import UsageError

# Two tables, each with a count and four floats a cell, and as much again for classes that are tried; then the
# class bigrams, twice.
_BYTES_A_CELL = 2 * 2 * (4 + 4 * 4) + 2 * 8


def check_memory(rows: int, columns: int) -> None:
    """Raise a `UsageError` if the tables of so many clusters are larger than the memory."""
    needed = rows * columns * _BYTES_A_CELL
    there = _physical_memory()
    if there is not None and needed > there:
        raise UsageError(
            f"tables for {rows} x {columns} clusters need {needed / 2**30:.1f} GiB and this machine has "
            f"{there / 2**30:.1f} GiB; ask for fewer"
        )


def _physical_memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
