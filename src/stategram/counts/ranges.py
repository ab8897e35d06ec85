"""Counting by ranges of first symbols: independent tasks, whose results are put one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from stategram.counts.workspace import Workspace
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
CountedLevel = tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]
"""Symbols, counts and first children of the nodes of one level; the last level has no children."""


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


class GrowingLevels:
    """The levels of a trie, from those of rising ranges of first symbols.

    >>> levels, none = GrowingLevels(Workspace(), 2), np.empty(0, np.uint32)
    >>> for symbol in range(2):
    ...     roots = [np.array(one, np.uint32) for one in ([symbol], [3], [0, 2])]
    ...     levels.append([tuple(roots), (np.array([5, 6]), np.array([1, 2]), none)])
    >>> [[array.tolist() for array in level] for level in levels.finish()]
    [[[0, 1], [3, 3], [0, 2, 4]], [[5, 6, 5, 6], [1, 2, 1, 2], []]]
    """

    def __init__(self, workspace: Workspace, depth: int) -> None:
        self._levels = [[workspace.growing(np.uint32) for _ in range(3)] for _ in range(depth)]

    def append(self, counted: Sequence[CountedLevel]) -> None:
        """Add the levels of the next range, whose arrays are changed."""
        for level, below, (symbols, counts, first_child) in zip(
            self._levels, [*self._levels[1:], None], counted, strict=True
        ):
            if below is not None:
                np.add(first_child, np.uint32(below[0].size), out=first_child)
            for array, part in zip(level, (symbols, counts, first_child[:-1]), strict=True):
                array.append(part)

    def finish(self) -> list[CountedLevel]:
        """Return the levels; what no other name holds is freed as soon as it is copied."""
        for level, below in pairwise(self._levels):
            level[2].append(np.array([below[0].size], np.uint32))
        return [(level[0].finish(), level[1].finish(), level[2].finish()) for level in self._levels]
