"""The histories that a back-off model may have: those of an n-gram model, and how often each is used.

A back-off model is a Markov chain whose states are its histories. From a state s it goes to the child (s, w)
with probability p(w | s), and on to the longest suffix of that which is a history. Words that are not among
the children of s come from its link: all children of the link together get the visits of s times its back-off
weight, less what is there for the words that s has itself.

So no text is needed to know how often a history occurs. A Kneser-Ney model of 500,000 words of Wikipedia
expects to know two words of the history at 67.2% of all events, and at 67.0% of those of another text it did.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.models.ngrams.plain import PlainTrie
from stategram.text import BEGIN, END, Corpus, Vocabulary

_WORDS = 30
"""After so many words the chain has forgotten where it started."""


@dataclass(frozen=True, eq=False)
class Histories:
    """Short histories, each with full histories that end in it.

    Words are ids, the last one in the last column; of each row, the last `lengths` count.
    """

    words: NDArray[np.uint32]
    lengths: NDArray[np.uint8]
    full_words: NDArray[np.uint32]
    full_lengths: NDArray[np.uint8]
    first_full: NDArray[np.int64]
    """Where the full histories of each short one begin, and the end."""

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """The short history of each full one."""
        return np.repeat(np.arange(len(self)), np.diff(self.first_full))

    def averages(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return for each short history the average of the rows of its full ones."""
        averages: NDArray[np.float32] = np.add.reduceat(rows, self.first_full[:-1], axis=0)
        counts = np.diff(self.first_full).astype(np.float32)
        averages /= counts.reshape(-1, *(1,) * (rows.ndim - 1))
        return averages

    def corpus(self, vocabulary: Vocabulary, last: NDArray[np.uint32] | None = None) -> Corpus:
        """Return the full histories as sentences, each followed by a last word, or by ``</s>``."""
        if last is None:
            last = np.full(len(self.full_words), END, np.uint32)
        width = self.full_words.shape[1]
        columns = np.arange(width)
        # The start of a sentence is no word of it.
        counted = columns >= width - self.full_lengths[:, None]
        counted &= self.full_words != BEGIN
        rows = np.concatenate((self.full_words, last[:, None]), axis=1)
        counted = np.concatenate((counted, np.ones((len(rows), 1), bool)), axis=1)
        starts = np.concatenate(([0], np.cumsum(counted.sum(axis=1))))
        return Corpus(rows[counted], starts, vocabulary)


@dataclass(frozen=True, eq=False)
class Skeleton:
    """The n-grams of a model, and how often each of its histories is used."""

    index: PlainTrie

    @property
    def width(self) -> int:
        """The number of words of the longest histories."""
        return self.index.order - 1

    @cached_property
    def ids(self) -> NDArray[np.uint32]:
        """The id of each number of a word."""
        ids = np.empty_like(self.index.numbers)
        ids[self.index.numbers] = np.arange(len(ids), dtype=np.uint32)
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
        starts_sentence = (lengths > 0) & (first_words == index.numbers[BEGIN])
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


@dataclass(frozen=True, eq=False)
class ExpectedCounts:
    """Fractions of all events of a text that a model writes itself."""

    visits: NDArray[np.float64]
    """For each history: before how many events it is the longest one that is known."""
    events: NDArray[np.float64]
    """For each node: at how many events its last word follows its history as the longest that lists it."""


def expected_counts(index: PlainTrie) -> ExpectedCounts:
    """Follow the chain from the start of a sentence; exact if no suffix of an n-gram was pruned."""
    links, parents, n = index.links, index.parents, index.n_histories
    probs, backoffs = index.probs.astype(np.float64), index.backoff_weights.astype(np.float64)
    nodes = np.arange(len(links))
    # Children that the link of their parent has too.
    shared = nodes[(index.lengths[links] == index.lengths[links[parents]] + 1) & (parents > 0)]
    begin = 1 + int(index.numbers[BEGIN])
    states = np.where(nodes < n, nodes, links)
    states[index.words == index.numbers[END]] = begin  # after </s> comes <s>
    states[0] = 0
    probs[[0, begin]] = 0.0  # nothing leads to the root, and <s> is no event
    visits: NDArray[Any] = np.zeros(n)
    events = np.zeros(len(nodes))
    visits[begin] = 1.0
    for _ in range(_WORDS):
        arrivals = visits.copy()
        for length in range(index.order - 1, 0, -1):
            here = index.level(length)
            arrivals += np.bincount(links[here], arrivals[here] * backoffs[here], n)
        events = arrivals[parents] * probs
        passed_on = arrivals[parents[shared]] * backoffs[parents[shared]] * probs[links[shared]]
        events -= np.bincount(links[shared], passed_on, len(events))
        np.maximum(events, 0.0, out=events)  # rounding, and suffixes that were pruned
        events /= events.sum()
        visits = np.bincount(states, events, n)
    return ExpectedCounts(visits, events)
