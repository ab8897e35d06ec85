"""One sweep of the exchange algorithm, whatever the criterion.

An exchange has one or two sides. A sweep visits the elements of each side, the most frequent first, and moves
each to the cluster where the criterion gains most.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.counts import BigramCounts, CompressedCounts
from stategram.resources import Resources

# A part of a sweep holds whole batches, so that the result does not depend on where the sweep was cut.
_BATCH = _core.SWEEP_BATCH
_SECONDS_BETWEEN_TICKS = 0.1
# How the noise on an element's scores grows with its count n. An exponent of 1 would treat every event alike,
# 0 every element; 0.9 gave the best criterion for 100 and for 500 classes.
_NOISE_EXPONENT = 0.9
# With few clusters, looking at all of them is as quick.
_SHORTLIST = 16
_LEAST_CLUSTERS_FOR_SHORTLISTS = 200


@dataclass(frozen=True)
class Clusters:
    """A map from elements to clusters, to begin with.

    Clusters below ``n`` take elements. ``labels`` may name further ones: there an element is only
    context, and it leaves if it is in ``order``.
    """

    labels: NDArray[np.uint32]
    n: int
    order: NDArray[np.uint32]
    """The elements that may move, in the order of a sweep."""

    @property
    def n_all(self) -> int:
        """The number of clusters, those that take no elements included."""
        return max(self.n, int(self.labels.max(initial=0)) + 1)


class _Sweep(Protocol):
    def __call__(
        self,
        order: NDArray[np.uint32],
        scales: NDArray[np.float32],
        temperature: float,
        seed: int,
        shortlisted: bool,
    ) -> int: ...


@dataclass(frozen=True)
class Side:
    """The elements of one side and the kernel that moves them."""

    order: NDArray[np.uint32]
    scales: NDArray[np.float32]
    work: NDArray[np.int64]
    """For each element, what it takes to score it, in rows of a table."""
    sweep: _Sweep
    labels: Callable[[], NDArray[np.uint32]]

    def visit_all(self) -> int:
        """Make one plain sweep over this side; give the number of moves."""
        return self.sweep(self.order, self.scales, 0.0, 0, False)

    def parts(self) -> Iterator[NDArray[np.uint32]]:
        """Cut the order into parts that take about as long as the time between two ticks."""
        begin, size = 0, _BATCH
        while begin < len(self.order):
            started = time.monotonic()
            yield self.order[begin : begin + size]
            begin += size
            # Later elements are rarer and cheaper: the size may double, but not explode.
            pace = _SECONDS_BETWEEN_TICKS / max(time.monotonic() - started, 1e-6)
            size = max(_BATCH, int(size * min(2.0, pace)) // _BATCH * _BATCH)


@dataclass(frozen=True)
class Exchange:
    """A clustering in the making."""

    sides: tuple[Side, ...]
    kernel: _core.TiedExchange | _core.TwoSidedExchange
    n_events: int
    words_entropy: float
    """The sum of N(w) log N(w)."""

    @property
    def criterion(self) -> float:
        """The criterion of the design, in nats."""
        return self.kernel.criterion

    @property
    def perplexity(self) -> float:
        """The training perplexity of the maximum-likelihood model p(G(w)|S(c)) p(w|G(w)).

        By leaving-one-out, that of the clusters when the kernel last took its b.
        """
        kernel = self.kernel
        likelihood = kernel.likelihood if isinstance(kernel, _core.TwoSidedExchange) else kernel.criterion
        return math.exp(-(likelihood + self.words_entropy) / self.n_events)

    def sweep(
        self, temperature: float, seed: int, tick: Callable[[float, int], object], *, shortlisted: bool
    ) -> int:
        """Visit every element once; ``tick`` gets the share done and the moves so far, and may raise.

        With ``shortlisted``, an element looks only at the clusters that were good for it when it last looked
        at all.
        """
        total = sum(int(side.work[side.order].sum()) for side in self.sides)
        done = moves = 0
        for side in self.sides:
            for part in side.parts():
                moves += side.sweep(part, side.scales, temperature, seed, shortlisted)
                done += int(side.work[part].sum())
                tick(done / total, moves)
        return moves


def tied_exchange(bigrams: BigramCounts, classes: Clusters) -> Exchange:
    """Cluster words by the class bigram p(G(w)|G(w-1)) p(w|G(w)): one map for both sides."""
    kernel = _core.TiedExchange(
        *bigrams.successors,
        *bigrams.predecessors,
        classes.labels,
        classes.n_all,
        classes.n,
        Resources.current().threads,
        shortlist_length(classes.n),
    )
    work = _rows(bigrams.successors, classes.n) + _rows(bigrams.predecessors, classes.n)
    words = Side(classes.order, _scales(bigrams.word_counts), work, kernel.sweep, kernel.labels)
    return Exchange((words,), kernel, bigrams.n_events, _words_entropy(bigrams.word_counts))


def predictive_exchange(bigrams: BigramCounts, classes: Clusters) -> Exchange:
    """Cluster words by p(G(w)|w-1) p(w|G(w)): every word is a state of its own."""
    identity = np.arange(len(bigrams.word_counts), dtype=np.uint32)
    still = Clusters(identity, len(identity), identity[:0])
    kernel = _two_sided_kernel(
        bigrams.successors,
        bigrams.predecessors,
        still,
        classes,
        states_move=False,
        candidates=0,
    )
    work = _rows(bigrams.predecessors, len(identity))
    words = Side(classes.order, _scales(bigrams.word_counts), work, kernel.sweep_words, kernel.categories)
    return Exchange((words,), kernel, bigrams.n_events, _words_entropy(bigrams.word_counts))


def two_sided_exchange(bigrams: BigramCounts, states: Clusters, categories: Clusters) -> Exchange:
    """Cluster words as they are predicted and words as contexts by p(G(w)|S(w-1)) p(w|G(w))."""
    return _two_sided(bigrams.successors, bigrams.predecessors, states, categories, _SHORTLIST)


def event_exchange(
    events: CompressedCounts, states: Clusters, categories: Clusters, *, candidates: int
) -> Exchange:
    """Cluster contexts and words by p(G(w)|S(c)) p(w|G(w)).

    Parameters
    ----------
    events
        How often each word follows each context: a row for each context.
    states, categories
        The clusters of contexts and of words.
    candidates
        The length of an element's shortlist.

    """
    by_word = CompressedCounts(*_core.transpose_counts(*events, len(categories.labels)))
    return _two_sided(events, by_word, states, categories, candidates)


def _two_sided(
    by_context: CompressedCounts,
    by_word: CompressedCounts,
    states: Clusters,
    categories: Clusters,
    candidates: int,
) -> Exchange:
    kernel = _two_sided_kernel(
        by_context, by_word, states, categories, states_move=True, candidates=candidates
    )
    word_counts, context_counts = _row_sums(by_word), _row_sums(by_context)
    words = Side(
        categories.order,
        _scales(word_counts),
        _rows(by_word, states.n),
        kernel.sweep_words,
        kernel.categories,
    )
    contexts = Side(
        states.order,
        _scales(context_counts),
        _rows(by_context, categories.n),
        kernel.sweep_contexts,
        kernel.states,
    )
    n_events = int(word_counts.sum())
    return Exchange((words, contexts), kernel, n_events, _words_entropy(word_counts))


def _two_sided_kernel(
    by_context: CompressedCounts,
    by_word: CompressedCounts,
    states: Clusters,
    categories: Clusters,
    *,
    states_move: bool,
    candidates: int,
) -> _core.TwoSidedExchange:
    return _core.TwoSidedExchange(
        *by_context,
        *by_word,
        states.labels,
        categories.labels,
        states.n_all,
        states.n,
        categories.n_all,
        categories.n,
        states_move,
        Resources.current().threads,
        # The sparse rows of still states are slow to look a single cluster up in.
        shortlist_length(min(states.n, categories.n), candidates) if states_move else 0,
    )


def shortlist_length(clusters: int, candidates: int = _SHORTLIST) -> int:
    """Give how many clusters an element looks at in a sweep over shortlists; 0: at all of them."""
    return candidates if clusters >= _LEAST_CLUSTERS_FOR_SHORTLISTS else 0


def _scales(counts: NDArray[np.int64]) -> NDArray[np.float32]:
    return np.power(counts.astype(np.float64), _NOISE_EXPONENT).astype(np.float32)


def _row_sums(counts: CompressedCounts) -> NDArray[np.int64]:
    sums = np.zeros(len(counts.offsets) - 1, np.int64)
    filled = np.diff(counts.offsets) > 0
    sums[filled] = np.add.reduceat(counts.counts, counts.offsets[:-1][filled], dtype=np.int64)
    return sums


def _rows(counts: CompressedCounts, clusters: int) -> NDArray[np.int64]:
    """Give, for each element, with how many clusters of the other side it can have been seen."""
    return np.minimum(np.diff(counts.offsets), clusters) + 1


def _words_entropy(counts: NDArray[np.int64]) -> float:
    seen = counts[counts > 0].astype(np.float64)
    return float((seen * np.log(seen)).sum())
