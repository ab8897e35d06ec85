"""Counting by ranges of first symbols: independent tasks, whose results are put one after the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.text import Corpus

# What one kernel call can count: its counters are 32 bits wide.
MAX_EVENTS = 2**31 - 1
# What to do with a text that is too large.
TOO_LARGE_ADVICE = (
    "give a part of it, or train an n-gram model on the counts of its parts (stategram counts, then "
    "stategram train --counts)"
)
# Positions of the text that are counted at a time; more gain nothing.
RANGE_SIZE = 12_000_000

Range = tuple[int, int]


def require_countable(corpus: Corpus) -> None:
    """Refuse a text with more events than can be counted."""
    if corpus.n_events > MAX_EVENTS:
        raise UsageError(
            f"the text has {corpus.n_events:,} events, more than {MAX_EVENTS:,}, which can be counted; "
            f"{TOO_LARGE_ADVICE}"
        )


def ranges_of(positions: NDArray[np.int64], max_positions: int) -> list[Range]:
    """Divide symbols into ranges that have at most `max_positions` positions, or one symbol.

    >>> ranges_of(np.array([2, 1, 5, 1]), 3)
    [(0, 2), (2, 3), (3, 4)]
    """
    before = np.concatenate(([0], np.cumsum(positions)))
    ranges = []
    first = 0
    while first < len(positions):
        last = max(first + 1, int(np.searchsorted(before, before[first] + max_positions, "right")) - 1)
        ranges.append((first, last))
        first = last
    return ranges
