"""One sweep of the exchange algorithm, whatever the criterion.

An exchange moves words between categories and, unless their states are fixed, contexts between states. A
sweep visits the words, then the contexts, the most frequent first, and moves each to the cluster where the
criterion gains most.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.clustering.settings import Sweep
from stategram.counts import BigramCounts, CompressedCounts
from stategram.errors import UsageError
from stategram.resources import Resources

# Elements that are scored before the first of them moves. Rare ones change little, so that their batches may
# be larger: at least this many, and up to one in so many of those before them.
_MIN_BATCH = 64
_BATCH_FRACTION = 8
# Smaller gains are rounding errors.
_LEAST_GAIN = 1e-6
# How the noise on an element's scores grows with its count n: as n^0.83, up to half the count of an average
# cluster. An exponent of 1 would treat every event alike, 0 every element. Without the limit frequent
# elements, which shape the clusters, settle too late: 500 classes lose 0.05% to 0.15% of their AMI.
_NOISE_EXPONENT = 0.83
_NOISE_LIMIT = 0.5
# A table has a count and four floats in each cell. There are two of them, and as many again for the classes
# that a round of merge-split tries; then the class bigrams, twice.
_BYTES_PER_CELL = 4 + 4 * 4
_BYTES_OF_ALL_TABLES = 2 * 2 * _BYTES_PER_CELL + 2 * 8


@dataclass(frozen=True)
class Clusters:
    """An initial map from elements to clusters.

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


def frequent_first(
    counts: NDArray[np.int64],
    n: int,
    *,
    given: NDArray[np.int64] | None = None,
    fixed: Sequence[int] = (),
    singletons: Sequence[int] = (),
) -> Clusters:
    """Return initial clusters: the most frequent elements have one each, the others wait to be placed.

    `given` has the cluster of elements that have one already, -1 for the others; those of `fixed` keep it.
    Elements of `singletons` are context only, each in a further cluster of its own. Those that never occur
    are not moved.

    >>> clusters = frequent_first(np.array([3, 9, 1, 5]), 2, singletons=[3])
    >>> clusters.labels.tolist(), clusters.order.tolist()
    ([1, 0, 3, 2], [1, 0, 2])
    """
    labels = np.full(len(counts), -1) if given is None else given.astype(np.int64)
    labels[list(singletons)] = np.arange(n, n + len(singletons))
    moves = counts > 0
    moves[[*singletons, *fixed]] = False
    by_count = np.argsort(-counts, kind="stable")
    order = by_count[moves[by_count]]
    unplaced = order[labels[order] < 0]
    taken = labels[(counts > 0) & (labels >= 0)]
    empty = np.flatnonzero(np.bincount(taken, minlength=n)[:n] == 0)[: len(unplaced)]
    labels[unplaced[: len(empty)]] = empty
    labels[labels < 0] = n + len(singletons)
    return Clusters(labels.astype(np.uint32), n, order.astype(np.uint32))


def shared_rest(counts: NDArray[np.int64], n: int, min_count: int = 1) -> Clusters:
    """Return initial clusters as Kneser and Ney (1993) have them: all but the most frequent share the last.

    Elements with fewer than `min_count` events stay there. Those that never occur have cluster `n`, which
    takes none.

    >>> clusters = shared_rest(np.array([3, 9, 0, 5, 1]), 2, min_count=3)
    >>> clusters.labels.tolist(), clusters.order.tolist()
    ([1, 0, 2, 1, 1], [1, 3, 0])
    """
    by_count = np.argsort(-counts, kind="stable")
    order = by_count[counts[by_count] >= max(min_count, 1)]
    labels = np.where(counts > 0, n - 1, n)
    labels[order] = np.minimum(np.arange(len(order)), n - 1)
    return Clusters(labels.astype(np.uint32), n, order.astype(np.uint32))


def give_empty(exchange: Exchange) -> None:
    """Move a context to each state without events: those that gain most, each if it moved alone."""
    kernel, contexts = exchange.kernel, exchange.contexts
    assert contexts is not None
    assert isinstance(kernel, _core.TwoSidedExchange)
    events = np.bincount(contexts.labels(), contexts.counts, contexts.n_clusters)[: contexts.n_clusters]
    empty = np.flatnonzero(events == 0).astype(np.uint32)
    if len(empty) == 0:
        return
    gains = kernel.context_gains(int(empty[0]))[contexts.order]
    chosen = np.argsort(-gains, kind="stable")[: len(empty)]
    chosen = chosen[gains[chosen] > _LEAST_GAIN]
    # Apply all moves, although the gains of contexts that leave the same state interact.
    always = np.full(len(chosen), np.inf)
    kernel.apply_contexts(contexts.order[chosen], empty[: len(chosen)], always)
    exchange.recompute_criterion()


def batches(order: NDArray[np.uint32], begin: int = 0) -> Iterator[NDArray[np.uint32]]:
    """Cut the order of a sweep, from its place `begin`, into batches.

    >>> [len(batch) for batch in batches(np.arange(900, dtype=np.uint32))]
    [64, 64, 64, 64, 64, 64, 64, 64, 64, 72, 81, 91, 80]
    """
    while begin < len(order):
        end = begin + max(_MIN_BATCH, begin // _BATCH_FRACTION)
        yield order[begin:end]
        begin = end


@dataclass(frozen=True)
class Side:
    """The words, or the contexts, and the method of the kernel that moves them."""

    order: NDArray[np.uint32]
    counts: NDArray[np.int64]
    n_clusters: int
    work: NDArray[np.int64]
    """For each element, what it takes to score it, in rows of a table."""
    move: Callable[[NDArray[np.uint32], NDArray[np.float32], float, int, bool], int]
    labels: Callable[[], NDArray[np.uint32]]

    def visit(self, elements: NDArray[np.uint32], sweep: Sweep, seed: int = 0) -> int:
        """Move the elements of a batch; return the number of moves."""
        return self.move(elements, self._scales, sweep.temperature, seed, sweep.shortlisted)

    @cached_property
    def _scales(self) -> NDArray[np.float32]:
        largest = _NOISE_LIMIT * self.counts.sum() / self.n_clusters
        limited: NDArray[np.float64] = np.minimum(self.counts, largest)
        return np.power(limited, _NOISE_EXPONENT).astype(np.float32)


@dataclass(frozen=True)
class Exchange:
    """The words and contexts of a level in their clusters, and the kernel that moves them."""

    kernel: _core.TiedExchange | _core.TwoSidedExchange
    words: Side
    contexts: Side | None = None
    """None if the states are fixed, or tied to the categories."""
    leave_one_out: bool = False

    @cached_property
    def _word_sums(self) -> tuple[float, int]:
        """The sum of N(w) log N(w) over all words, and that of N(w)."""
        seen = self.words.counts[self.words.counts > 0].astype(np.float64)
        return float((seen * np.log(seen)).sum()), int(self.words.counts.sum())

    @property
    def criterion(self) -> float:
        """The criterion of the design, in nats."""
        return self.kernel.criterion

    @property
    def perplexity(self) -> float:
        """The training perplexity of the maximum-likelihood model p(G(w)|S(c)) p(w|G(w)).

        By leaving-one-out, that of the clusters when the kernel last took its b.
        """
        kernel, (sum_n_log_n, n_events) = self.kernel, self._word_sums
        likelihood = kernel.likelihood if isinstance(kernel, _core.TwoSidedExchange) else kernel.criterion
        return math.exp(-(likelihood + sum_n_log_n) / n_events)

    @property
    def is_placed(self) -> bool:
        """Whether every element that may move has a cluster."""
        sides = filter(None, (self.words, self.contexts))
        return all((side.labels()[side.order] < side.n_clusters).all() for side in sides)

    def recompute_criterion(self) -> None:
        """Compute the criterion, and the b of leaving-one-out, from the counts alone.

        So a clustering that was resumed has the same figures, and published ones are exact.
        """
        if self.leave_one_out:
            assert isinstance(self.kernel, _core.TwoSidedExchange)
            self.kernel.leave_one_out()
        else:
            self.kernel.recompute_criterion()

    def sweep(self, sweep: Sweep, seed: int, tick: Callable[[float, int], object]) -> int:
        """Visit every element once; `tick` gets the fraction done and the moves so far, and may raise."""
        sides = [side for side in (self.words, self.contexts) if side is not None]
        total = sum(int(side.work[side.order].sum()) for side in sides)
        done = moves = 0
        try:
            for side in sides:
                for batch in batches(side.order):
                    moves += side.visit(batch, sweep, seed)
                    done += int(side.work[batch].sum())
                    tick(done / total, moves)
        finally:
            self.recompute_criterion()
        return moves


def tied_exchange(bigrams: BigramCounts, classes: Clusters, shortlist: int) -> Exchange:
    """Cluster words by the class bigram p(G(w)|G(w-1)) p(w|G(w)): one map for both sides."""
    check_memory(classes.n_all, classes.n_all)
    kernel = _core.TiedExchange(
        *bigrams.successors,
        *bigrams.predecessors,
        classes.labels,
        classes.n_all,
        classes.n,
        Resources.current().threads,
        shortlist,
    )
    work = _rows(bigrams.successors, classes.n) + _rows(bigrams.predecessors, classes.n)
    words = Side(classes.order, bigrams.word_counts, classes.n, work, kernel.visit, kernel.labels)
    return Exchange(kernel, words)


def predictive_exchange(bigrams: BigramCounts, classes: Clusters, shortlist: int) -> Exchange:
    """Cluster words by p(G(w)|w-1) p(w|G(w)): every word is a state of its own."""
    identity = np.arange(len(bigrams.word_counts), dtype=np.uint32)
    fixed = Clusters(identity, len(identity), identity[:0])
    # Only states with many followers have a row for all classes.
    dense = np.diff(bigrams.successors.offsets) * _core.SPARSE_FACTOR >= classes.n_all
    check_memory(int(dense.sum()), classes.n_all, bytes_per_cell=_BYTES_PER_CELL)
    return two_sided_exchange(
        bigrams.successors, bigrams.predecessors, fixed, classes, shortlist, states_move=False
    )


def two_sided_exchange(
    by_context: CompressedCounts,
    by_word: CompressedCounts,
    states: Clusters,
    categories: Clusters,
    shortlist: int,
    leave_one_out: bool = False,
    states_move: bool = True,
) -> Exchange:
    """Cluster contexts and words by p(G(w)|S(c)) p(w|G(w)), unless `states_move`, words alone.

    `by_context` has how often each word follows each context, a row for each context; `by_word` is its
    transpose.
    """
    if states_move:
        check_memory(states.n_all, categories.n_all)
    kernel = _core.TwoSidedExchange(
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
        shortlist,
    )
    work = _rows(by_word, states.n)
    words = Side(
        categories.order, _row_sums(by_word), categories.n, work, kernel.visit_words, kernel.categories
    )
    contexts = None
    if states_move:
        work = _rows(by_context, categories.n)
        contexts = Side(
            states.order, _row_sums(by_context), states.n, work, kernel.visit_contexts, kernel.states
        )
    exchange = Exchange(kernel, words, contexts, leave_one_out)
    exchange.recompute_criterion()
    return exchange


def check_memory(rows: int, columns: int, *, bytes_per_cell: int = _BYTES_OF_ALL_TABLES) -> None:
    """Raise a `UsageError` if the tables of so many clusters are larger than the memory."""
    needed = rows * columns * bytes_per_cell
    available = _physical_memory()
    if available is not None and needed > available:
        raise UsageError(
            f"tables for {rows} x {columns} clusters need {needed / 2**30:.1f} GiB and this machine has "
            f"{available / 2**30:.1f} GiB; ask for fewer"
        )


def _physical_memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _row_sums(counts: CompressedCounts) -> NDArray[np.int64]:
    sums = np.zeros(len(counts.offsets) - 1, np.int64)
    filled = np.diff(counts.offsets) > 0
    sums[filled] = np.add.reduceat(counts.counts, counts.offsets[:-1][filled], dtype=np.int64)
    return sums


def _rows(counts: CompressedCounts, clusters: int) -> NDArray[np.int64]:
    """Return, for each element, with how many clusters of the other side it can have been seen."""
    return np.minimum(np.diff(counts.offsets), clusters) + 1
