"""The histories that a back-off model may have: those of an n-gram model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stategram.models.approximation.targets import Histories
from stategram.models.approximation.trie_index import TrieIndex
from stategram.models.approximation.visits import expected_counts
from stategram.text import BEGIN


@dataclass(frozen=True, eq=False)
class Skeleton:
    """The n-grams of a model, and how often each of its histories is used."""

    index: TrieIndex

    @property
    def width(self) -> int:
        """The number of words of the longest histories."""
        return self.index.order - 1

    @cached_property
    def ids(self) -> NDArray[np.uint32]:
        """The id of each number of a word."""
        ids = np.empty_like(self.index.trie.numbers)
        ids[self.index.trie.numbers] = np.arange(len(ids), dtype=np.uint32)
        return ids

    @cached_property
    def occupancies(self) -> NDArray[np.float64]:
        """At which fraction of all events each history is used.

        That is when it is the longest that is known, or when a longer one does not list the word.
        """
        index = self.index
        left = np.clip(1.0 - index.sums_of_children(index.probs), 0.0, 1.0)
        occupancies = expected_counts(index).visits
        for length in range(self.width, 0, -1):
            here = index.level(length)
            handed_down = occupancies[here] * left[here]
            occupancies += np.bincount(index.links[here], handed_down, len(occupancies))
        return occupancies

    @cached_property
    def _longest(self) -> NDArray[np.uint32]:
        """The longest histories, sorted by their last words, so that those with the same end are together."""
        here = self.index.level(self.width)
        nodes = np.arange(here.start, here.stop, dtype=np.uint32)
        return nodes[np.lexsort(self.index.words_of(nodes, self.width).T)]

    @cached_property
    def _ranges(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each history a range of `_longest` that ends in it; it is empty if none does."""
        first, last = np.zeros((2, self.index.n_histories), np.int64)
        nodes = self._longest
        for _ in range(self.width + 1):
            starts = np.flatnonzero(np.diff(nodes.astype(np.int64), prepend=-1))
            first[nodes[starts]] = starts
            last[nodes[starts]] = np.append(starts[1:], len(nodes))[: len(starts)]
            nodes = self.index.links[nodes]
        return first, last

    def histories(self, nodes: NDArray[np.uint32], limits: NDArray[np.int64]) -> Histories:
        """Return histories, each with at most so many full ones: the longest that end in it, evenly chosen.

        One that starts a sentence is full itself.
        """
        index, width = self.index, self.width
        words, lengths = index.words_of(nodes, width), index.lengths[nodes]
        first, last = (bounds[nodes] for bounds in self._ranges)
        first_words = words[np.arange(len(nodes)), np.minimum(width - lengths.astype(np.int64), width - 1)]
        starts_sentence = (lengths > 0) & (first_words == index.trie.numbers[BEGIN])
        is_full = starts_sentence | (first == last)
        counts = np.where(is_full, 1, np.minimum(limits, last - first))
        first_full = np.concatenate(([0], np.cumsum(counts)))
        owners = np.repeat(np.arange(len(nodes)), counts)
        ranks = np.arange(len(owners)) - first_full[owners]
        places = first[owners] + (2 * ranks + 1) * (last - first)[owners] // (2 * counts[owners])
        full = nodes[owners]
        chosen = ~is_full[owners]
        full[chosen] = self._longest[places[chosen]]
        full_words = self.ids[index.words_of(full, width)]
        return Histories(self.ids[words], lengths, full_words, index.lengths[full], first_full)
