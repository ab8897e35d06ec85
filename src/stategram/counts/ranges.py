"""How much is counted at a time: ranges of first symbols, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec
import numpy as np
from numpy.typing import NDArray

from stategram.counts.workspace import Workspace, format_size, memory_in_use
from stategram.errors import UsageError
from stategram.resources import Resources
from stategram.text import BEGIN, Corpus

MAX_ORDER = 9
# What one kernel call can count: its counters are 32 bits wide.
MAX_EVENTS = 2**31 - 1
# What to do with a text that is too large.
TOO_LARGE_ADVICE = (
    "give a part of it, or count it (stategram count) and train an n-gram model or word classes on its counts"
)
# Positions of the text that are counted at a time; more gain nothing.
RANGE_SIZE = 12_000_000

# Measured on texts of 8 and 40 million words, n-grams of 3 and 5 words; upper ends.
_BYTES_PER_POSITION = 40  # while the n-grams of a range of first words are counted,
_BYTES_PER_LIMB = 24  # and for each 64 bits of their words
_MIN_RANGE_SIZE = 500_000
# Of one level: their numbers have 32 bits.
_MAX_NODES = 2**32 - 2

Range = tuple[int, int]
CountedLevel = tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]
"""Symbols, counts and first children of the nodes of one level; the last level has no children."""


def trie_numbers(n_words: int) -> NDArray[np.uint32]:
    """Return the number in a trie of each id: the ids 0 to n_words - 1, always shuffled in the same way."""
    # The finalizer of SplitMix64 (Steele, Lea and Flood 2014): a bijection, so that no two ids tie.
    mixed = np.arange(1, n_words + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    numbers = np.empty(n_words, np.uint32)
    numbers[np.argsort(mixed)] = np.arange(n_words, dtype=np.uint32)
    return numbers


def positions_by_number(
    word_counts: NDArray[np.int64], n_sentences: int, numbers: NDArray[np.uint32]
) -> NDArray[np.int64]:
    """Return how many positions of a text begin with each word, by its number in the trie."""
    positions = np.zeros(len(numbers), np.int64)
    positions[numbers] = word_counts
    positions[numbers[BEGIN]] = n_sentences
    return positions


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


def fitting_range_size(order: int, n_words: int, range_size: int = RANGE_SIZE) -> int:
    """Return how many positions can be counted at a time, at most `range_size`, if memory is limited."""
    memory = Resources.current().memory
    if memory is None:
        return range_size
    limbs = -(-order * n_words.bit_length() // 64)
    bytes_per_position = _BYTES_PER_POSITION + _BYTES_PER_LIMB * limbs
    # The other half is for the n-grams that are counted already, as long as they are not in files.
    needed = 2 * min(_MIN_RANGE_SIZE, range_size) * bytes_per_position
    in_use = memory_in_use()
    if in_use + needed > memory:
        raise UsageError(
            f"{format_size(memory)} of memory (--memory) is too little: {format_size(in_use)} is already in "
            f"use; give {format_size(in_use + needed)} or more"
        )
    return min(range_size, (memory - in_use) // (2 * bytes_per_position))


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
            if level[0].size + len(symbols) > _MAX_NODES:
                raise UsageError(
                    f"more than {_MAX_NODES:,} n-grams or contexts of one length; take shorter ones, "
                    "keep fewer words (--vocab), or give a part of the text"
                )
            if below is not None:
                np.add(first_child, np.uint32(below[0].size), out=first_child)
            for array, part in zip(level, (symbols, counts, first_child[:-1]), strict=True):
                array.append(part)

    def finish(self) -> list[CountedLevel]:
        """Return the levels; what no other name holds is freed as soon as it is copied."""
        for level, below in pairwise(self._levels):
            level[2].append(np.array([below[0].size], np.uint32))
        return [(level[0].finish(), level[1].finish(), level[2].finish()) for level in self._levels]


class RunPart(msgspec.Struct, frozen=True, array_like=True):
    """The n-grams of one range of first words in a run: some bytes of a blob."""

    name: str
    begin: int
    end: int


class Runs(msgspec.Struct, frozen=True):
    """The n-grams of a text by ranges of first words, each of them in one run or in several."""

    order: int
    n_words: int
    bounds: list[int]
    """Range i has the words whose trie numbers are ``bounds[i]`` to ``bounds[i + 1] - 1``."""
    parts: list[list[RunPart]]
    """The runs of each range."""

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """The ranges of first words."""
        return list(pairwise(self.bounds))


def require_order(order: int) -> None:
    """Refuse n-grams of a length that cannot be counted."""
    if not 1 <= order <= MAX_ORDER:
        raise UsageError(f"n-grams of {order} words: 1 to {MAX_ORDER} can be counted")
