"""The distributions of models before the events of a text, many at a time, and their entropies.

Kinds of models differ in what they know of a history. What they have in common is a row of probabilities for
each event, to which each part of a mixture adds its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.errors import BadDataError
from stategram.models.state_counts import StateProbs
from stategram.progress import Progress
from stategram.resources import Resources
from stategram.text import BEGIN, UNKNOWN, Corpus

if TYPE_CHECKING:
    from stategram.models.model import Model

# The probabilities that are in memory at a time.
_MAX_CELLS = 1 << 21

Rows = NDArray[np.float64]
"""For each event the probability of each word."""


class Distributions(Protocol):
    """The distribution before each event of a text."""

    @property
    def keys(self) -> NDArray[np.uint32] | None:
        """For each event a row of numbers; events with the same row have the same distribution.

        None if distributions depend on all words before: they have to be added in order, and once.
        """

    def add(self, events: NDArray[np.int64], weights: NDArray[np.float64], rows: Rows) -> None:
        """Add the distributions before events to rows, each times its weight."""


@dataclass(frozen=True, eq=False)
class NgramDistributions:
    """Those of an n-gram model: `unigram` by id, `ids` by the trie's numbers, `keys` the states."""

    reader: _core.TrieReader
    keys: NDArray[np.uint32]
    unigram: NDArray[np.float64]
    ids: NDArray[np.uint32]

    def add(self, events: NDArray[np.int64], weights: NDArray[np.float64], rows: Rows) -> None:
        """Add rows of all words."""
        states, threads = self.keys[events].reshape(-1), Resources.current().threads
        try:
            self.reader.add_rows(states, weights, self.unigram, self.ids, rows.reshape(-1), threads)
        except ValueError as error:  # of damaged n-grams
            raise BadDataError(f"damaged n-grams: {error}; write the model again") from error


@dataclass(frozen=True, eq=False)
class StateDistributions:
    """Those of the categories of a clustered model.

    Of each level: `weights` by count bucket, `tables` by state; `keys` has the states, then the buckets.
    """

    frequencies: NDArray[np.float64]
    weights: NDArray[np.float64]
    tables: Sequence[StateProbs]
    keys: NDArray[np.uint32]

    def add(self, events: NDArray[np.int64], weights: NDArray[np.float64], rows: Rows) -> None:
        """Add rows of all categories."""
        depth = len(self.tables)
        found = np.tile(self.frequencies, (len(events), 1))
        for level, (of_buckets, table) in enumerate(zip(self.weights, self.tables, strict=True)):
            states, buckets = self.keys[events, level], self.keys[events, depth + level]
            found += of_buckets[buckets][:, None] * (table.rows(states) - found)
        rows += weights[:, None] * found


@dataclass(frozen=True, eq=False)
class CategoryDistributions:
    """Those of words, from distributions of their categories."""

    of_categories: Distributions
    n_categories: int
    categories: NDArray[np.int32]
    word_probs: NDArray[np.float64]

    @property
    def keys(self) -> NDArray[np.uint32] | None:
        """Those of the categories."""
        return self.of_categories.keys

    def add(self, events: NDArray[np.int64], weights: NDArray[np.float64], rows: Rows) -> None:
        """Add rows of all words."""
        found = np.zeros((len(events), self.n_categories))
        self.of_categories.add(events, weights, found)
        _core.add_category_rows(
            found.reshape(-1),
            self.categories,
            self.word_probs,
            self.n_categories,
            rows.reshape(-1),
            Resources.current().threads,
        )


@dataclass(frozen=True, eq=False)
class AlignedDistributions:
    """Those of a model over a larger vocabulary: `ids` and `shares` are those of `align`."""

    own: Distributions
    n_own: int
    ids: NDArray[np.uint32]
    shares: NDArray[np.float64]

    @property
    def keys(self) -> NDArray[np.uint32] | None:
        """Those of the model."""
        return self.own.keys

    def add(self, events: NDArray[np.int64], weights: NDArray[np.float64], rows: Rows) -> None:
        """Add rows of the larger vocabulary."""
        found = np.zeros((len(events), self.n_own))
        self.own.add(events, weights, found)
        rows += found[:, self.ids] * self.shares


@dataclass(frozen=True, eq=False)
class MixedDistributions:
    """Those of a mixture; `weights` has a row for each event."""

    parts: Sequence[Distributions]
    weights: NDArray[np.float64]

    @property
    def keys(self) -> NDArray[np.uint32] | None:
        """Those of all parts, and the weights."""
        keys = [part.keys for part in self.parts]
        known = [one for one in keys if one is not None]
        weights = np.ascontiguousarray(self.weights).view(np.uint32)
        return np.hstack([*known, weights]) if len(known) == len(keys) else None

    def add(self, events: NDArray[np.int64], weights: NDArray[np.float64], rows: Rows) -> None:
        """Add rows of all words, part by part."""
        for number, part in enumerate(self.parts):
            part.add(events, weights * self.weights[events, number], rows)


@dataclass(eq=False)
class CacheDistributions:
    """Those of a cache, which each word changes."""

    cache: _core.WordCache
    corpus: Corpus
    unigram: NDArray[np.float64]
    keys: None = None

    def add(self, events: NDArray[np.int64], weights: NDArray[np.float64], rows: Rows) -> None:
        """Add rows of all words, and the words to the cache."""
        if not len(events):
            return
        begin, end = int(events[0]), int(events[-1]) + 1
        starts = self.corpus.sentence_starts
        inner = starts[(starts > begin) & (starts < end)] - begin
        # What begins with a sentence goes on from none.
        first = [0, 0] if begin > 0 and begin in starts else [0]
        own_starts = np.concatenate((first, inner, [end - begin])).astype(np.int64)
        self.cache = self.cache.add_rows(
            self.corpus.ids[begin:end], own_starts, self.unigram, weights, rows.reshape(-1)
        )


@dataclass(frozen=True, eq=False)
class TreeDistributions:
    """Those of a word tree model; the arguments are those of its kernel."""

    kernel: _core.TreeModelKernel
    ids: NDArray[np.uint32]
    streams: Sequence[NDArray[np.uint32]]
    classes: NDArray[np.uint32]
    history: int
    weights: Sequence[NDArray[np.float32]]
    tree_weights: NDArray[np.float64]
    cache: _core.TextCache | None

    @property
    def keys(self) -> NDArray[np.uint32] | None:
        """All values of an event, unless there is a cache."""
        return np.column_stack([*self.streams, self.classes]) if self.cache is None else None

    def add(self, events: NDArray[np.int64], weights: NDArray[np.float64], rows: Rows) -> None:
        """Add rows of all words, and the words to the cache."""
        ids = self.ids[events]
        self.kernel.add_rows(
            np.where(ids == BEGIN, np.uint32(UNKNOWN), ids),  # <s> is never predicted
            [stream[events] for stream in self.streams],
            self.classes[events],
            self.history,
            list(self.weights),
            self.cache,
            self.tree_weights,
            weights,
            rows.reshape(-1),
            Resources.current().threads,
        )


def entropies_of(
    distributions: Distributions,
    n_events: int,
    masses: NDArray[np.float64],
    column_entropies: NDArray[np.float64],
    progress: Progress | None = None,
) -> NDArray[np.float64]:
    """Return sum_i (e_i p_i - m_i p_i ln p_i) of each distribution p.

    `masses` has m, and `column_entropies` e. With m = 1 and e = 0 these are the entropies in nats. If columns
    are categories, m is the sum of p(w | g) over the words of a category, and e the entropy of p(w | g).
    """
    keys = distributions.keys
    if keys is None:
        firsts, places = np.arange(n_events), np.arange(n_events)
    else:
        firsts, places = _distinct(keys)
    found = np.empty(len(firsts))
    n_rows = max(1, _MAX_CELLS // len(masses))
    for begin in range(0, len(firsts), n_rows):
        events = firsts[begin : begin + n_rows]
        rows = np.zeros((len(events), len(masses)))
        distributions.add(events, np.ones(len(events)), rows)
        found[begin : begin + len(events)] = _core.row_entropies(
            rows.reshape(-1), masses, column_entropies, Resources.current().threads
        )
        if progress:
            done = begin + len(events)
            progress(done / len(firsts), f"entropies after {done:,} of {len(firsts):,} histories")
    return found[places]


def distribution_rows(
    model: Model, corpus: Corpus, max_events: int
) -> Iterator[tuple[NDArray[np.int64], Rows]]:
    """Return the distributions before the events of a text, in order, for at most so many at a time."""
    distributions, n_words = model._distributions(corpus, model.start()), len(model.vocabulary)
    step = max(1, min(_MAX_CELLS // n_words, max_events))
    for begin in range(0, corpus.n_events, step):
        events = np.arange(begin, min(begin + step, corpus.n_events))
        rows = np.zeros((len(events), n_words))
        distributions.add(events, np.ones(len(events)), rows)
        yield events, rows


def _distinct(keys: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the place of the first row of each kind, and the kind of each row.

    >>> firsts, kinds = _distinct(np.array([[1, 2], [3, 2], [1, 2]], np.uint32))
    >>> firsts, kinds
    (array([0, 1]), array([0, 1, 0]))
    """
    kinds = np.zeros(len(keys), np.uint64)
    firsts = np.zeros(min(len(keys), 1), np.int64)
    for column in keys.T:
        # Kinds are below 2^32, as values are.
        pairs = kinds << np.uint64(32) | column
        _, firsts, inverse = np.unique(pairs, return_index=True, return_inverse=True)
        kinds = inverse.reshape(-1).astype(np.uint64)
    return firsts, kinds.astype(np.int64)
