"""States of contexts and categories of words, found along a context tree.

Level 1 of the tree moves all contexts with the same nearest value together, level 2 those with the same two
values, and so on down to single contexts. A node that is too rare to move stays in the state of its parent.
Words move on every level.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.clustering.exchange import Clusters, event_exchange, shortlist_length
from stategram.clustering.initial import frequent_first
from stategram.clustering.monitor import Monitor, SweepRecord
from stategram.clustering.schedule import COLD, FULL_EVERY, HOT
from stategram.contexts import ContextTree
from stategram.counts import CompressedCounts

__all__ = ["Clustering", "ClusteringSettings", "LevelResult", "TreeClustering"]


@dataclass(frozen=True)
class ClusteringSettings:
    """How to cluster.

    Parameters
    ----------
    states, categories
        The numbers of clusters.
    tree
        Whether groups of contexts move first; else single contexts from the start.
    criterion
        ``ml`` or ``leave-one-out``.
    min_count
        Contexts with fewer events do not move on their own.
    anneal
        Annealing sweeps on the first level.
    tolerance
        A level ends when a sweep over all clusters lowers the training perplexity by less than this share; by
        leaving-one-out, what stands in the place of that perplexity in its criterion.
    max_sweeps
        A level ends after so many sweeps at most, annealing not counted.
    candidates
        Between two sweeps over all clusters, elements look at so many clusters only; 0, or
        fewer than 200 clusters: always at all.
    seed
        Of the annealing.

    """

    states: int = 2000
    categories: int = 2000
    tree: bool = True
    criterion: str = "ml"
    min_count: int = 6
    anneal: int = 0
    tolerance: float = 0.001
    max_sweeps: int = 6
    candidates: int = 16
    seed: int = 0


@dataclass(frozen=True)
class LevelResult:
    """What a level of the tree came to."""

    level: int
    nodes: int
    movable: int
    sweeps: int
    criterion: float
    perplexity: float
    seconds: float


@dataclass(frozen=True, eq=False)
class Clustering:
    """States of contexts and categories of words.

    Parameters
    ----------
    tree
        The contexts.
    states
        For each level of the tree the state of each of its nodes.
    categories
        The category of each word of the vocabulary. Words that never occur have none: there stands the number
        of categories.
    settings
        How they were found.
    levels, history
        What each level and each sweep came to.
    trials
        If numbers of clusters were tried out: the numbers, and the perplexity of sentences set aside.

    """

    tree: ContextTree
    states: tuple[NDArray[np.uint32], ...]
    categories: NDArray[np.uint32]
    settings: ClusteringSettings
    levels: tuple[LevelResult, ...] = ()
    history: tuple[SweepRecord, ...] = ()
    trials: tuple[tuple[int, float], ...] = ()

    def __repr__(self) -> str:
        return f"Clustering({self.tree.definition}, {self.n_states} states, {self.n_categories} categories)"

    @property
    def n_states(self) -> int:
        """The number of states."""
        return self.settings.states

    @property
    def n_categories(self) -> int:
        """The number of categories."""
        return self.settings.categories


@dataclass(frozen=True)
class Position:
    """Where a clustering is: the next sweep is number `sweep` of `level`."""

    level: int
    sweep: int
    criterion: float
    """After the last sweep over all clusters of the level, or -inf."""


class _EarlyEnd(Exception):  # noqa: N818 -- an end, not an error
    """The user wants what there is."""


@dataclass
class TreeClustering:
    """A clustering in the making, level by level; it can be cut off between sweeps and taken up again.

    Parameters
    ----------
    tree, settings
        What to cluster, and how.
    threads
        The number of threads.
    monitor
        Is told of every sweep.
    save
        Called where the clustering can be taken up again: before sweeps over all clusters.
    states, categories, levels
        What is done already.

    """

    tree: ContextTree
    settings: ClusteringSettings
    threads: int
    monitor: Monitor
    save: Callable[[TreeClustering, Position, NDArray[np.uint32]], None] | None = None
    states: list[NDArray[np.uint32]] = field(default_factory=list)
    categories: NDArray[np.uint32] | None = None
    levels: list[LevelResult] = field(default_factory=list)

    def run(self, start: Position | None = None, states: NDArray[np.uint32] | None = None) -> Clustering:
        """Cluster; from a position with the states of its level, if they are given."""
        for number in self.numbers:
            if start is None or number >= start.level:
                here = start if start is not None and number == start.level else Position(number, 0, -np.inf)
                if not self._run_level(here, states if here is start else None):
                    break
        return self._finish()

    @property
    def numbers(self) -> list[int]:
        """The levels on which contexts move."""
        return list(range(1, self.tree.depth + 1)) if self.settings.tree else [self.tree.depth]

    def share_done(self, number: int, share: float) -> float:
        """Give how much of all work is done when a share of a level is."""
        at = self.numbers.index(number)
        return (sum(self._work[:at]) + self._work[at] * share) / sum(self._work)

    @cached_property
    def _work(self) -> list[int]:
        """For each level, about what a sweep takes, in rows of a table; no element has more than events."""
        settings = self.settings
        words = int(np.minimum(self.tree.word_counts, settings.states).sum())
        work = []
        for number in self.numbers:
            counts = self.tree.levels[number - 1].counts
            movable = counts[counts >= settings.min_count]
            work.append(words + int(np.minimum(movable, settings.categories).sum(dtype=np.int64)))
        return work

    def _run_level(self, start: Position, states: NDArray[np.uint32] | None) -> bool:
        """Sweep over a level; whether there was no early end."""
        work = LevelWork(self, start.level, states)
        work.n_sweeps = start.sweep
        plan = list(_plan(self.settings, start.level == self.numbers[0]))
        criterion = start.criterion
        # A perplexity that falls by a share t is a criterion that rises by -log(1 - t) an event.
        least_gain = -math.log1p(-self.settings.tolerance) * work.exchange.n_events
        ended = False
        for sweep, (step, temperature, shortlisted) in enumerate(plan):
            if sweep < start.sweep:
                continue
            if not shortlisted and (sweep > 0 or start.level > self.numbers[0]) and self.save is not None:
                categories = work.categories()
                self.save(
                    replace(self, categories=categories),
                    Position(start.level, sweep, criterion),
                    work.states(),
                )
            try:
                work.sweep(step, temperature, shortlisted, sweep, len(plan))
            except _EarlyEnd:
                ended = True
                # Elements without a cluster, or hot ones, are owed a sweep.
                if step != "exchange":
                    self.monitor.stop = None
                    work.sweep("exchange", 0.0, False, sweep, len(plan))
                work.settle()
                break
            if step == "exchange" and not shortlisted:
                if work.exchange.criterion - criterion < least_gain:
                    break
                criterion = work.exchange.criterion
        self.states.append(work.states())
        self.categories = work.categories()
        self.levels.append(work.result())
        return not ended

    def _finish(self) -> Clustering:
        assert self.categories is not None
        states = list(self.states)
        if not self.settings.tree:
            # No group tells where a context that was never seen belongs: they share the state of rare ones.
            rest = self.settings.states - 1
            states = [np.full(len(level), rest, np.uint32) for level in self.tree.levels[:-1]] + states
        while len(states) < self.tree.depth:  # after an early end
            states.append(states[-1][self.tree.parents(len(states) + 1)])
        return Clustering(
            self.tree,
            tuple(states),
            self.categories,
            self.settings,
            tuple(self.levels),
            tuple(self.monitor.history),
        )


def _spread(labels: NDArray[np.uint32], members: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Give nodes a state that has no members each: the most frequent first, but one of each state stays.

    A level with fewer nodes than states leaves such states; single moves would fill them slowly.

    Examples
    --------
    >>> _spread(np.array([0, 0, 1, 0, 1, 1]), np.array([3, 3, 0, 0])).tolist()
    [0, 2, 1, 3, 1, 1]

    """
    _, stays = np.unique(labels, return_index=True)  # nodes are sorted: the first is the most frequent
    goes = np.delete(np.arange(len(labels)), stays)
    empty = np.flatnonzero(members == 0)
    n = min(len(goes), len(empty))
    spread = labels.copy()
    spread[goes[:n]] = empty[:n]
    return spread


def _plan(settings: ClusteringSettings, is_first: bool) -> Iterator[tuple[str, float, bool]]:
    """Give the sweeps of a level: step, temperature, whether over shortlists."""
    short = shortlist_length(min(settings.states, settings.categories), settings.candidates) > 0
    if is_first:
        yield "place", 0.0, False
        for number in range(settings.anneal):
            share = number / settings.anneal
            yield "anneal", HOT + (COLD - HOT) * share, short and number % FULL_EVERY != 0
    for number in range(settings.max_sweeps):
        yield "exchange", 0.0, short and number % _FULL_EXCHANGE_EVERY != 0


_FULL_EXCHANGE_EVERY = 3


class LevelWork:
    """The exchange of one level."""

    def __init__(self, clustering: TreeClustering, number: int, states: NDArray[np.uint32] | None) -> None:
        self.clustering = clustering
        self.number = number
        self.level = clustering.tree.levels[number - 1]
        self.started = clustering.monitor.seconds
        self.n_sweeps = 0
        settings = clustering.settings
        self.inherited = self._inherited()
        counts = self.level.counts
        movable = np.flatnonzero(counts >= settings.min_count).astype(np.uint32)
        self.movable = movable[np.argsort(~counts[movable], kind="stable")]  # the most frequent first
        self.exchange = event_exchange(
            self._events(),
            self._state_clusters(states),
            self._category_clusters(),
            candidates=settings.candidates,
            threads=clustering.threads,
        )
        self.settle()

    def _events(self) -> CompressedCounts:
        """Give the words after each node that may move, then after all that do not, a row for each state."""
        clustering, n_movable = self.clustering, len(self.movable)
        rare = np.flatnonzero(self.level.counts < clustering.settings.min_count).astype(np.uint32)
        states = self.inherited[rare]
        of_states = np.cumsum(np.bincount(states, minlength=clustering.settings.states))
        return CompressedCounts(
            *_core.sum_rows(
                *clustering.tree.events_of(self.number, threads=clustering.threads),
                np.concatenate((self.movable, rare[np.argsort(states, kind="stable")])),
                np.concatenate((np.arange(n_movable + 1), n_movable + of_states)),
                len(clustering.tree.vocabulary),
                clustering.threads,
            )
        )

    def _inherited(self) -> NDArray[np.uint32]:
        clustering = self.clustering
        if clustering.states:
            return clustering.states[-1][clustering.tree.parents(self.number)]
        # Rare contexts share the last state, as long as no group has put them elsewhere.
        return np.full(len(self.level), clustering.settings.states - 1, np.uint32)

    def _state_clusters(self, states: NDArray[np.uint32] | None) -> Clusters:
        n = self.clustering.settings.states
        order = np.arange(len(self.movable), dtype=np.uint32)
        still = np.arange(n, dtype=np.uint32)
        if states is not None:
            labels = states[self.movable]
        elif self.clustering.states:
            labels = _spread(self.inherited[self.movable], np.bincount(self.inherited, minlength=n))
        else:
            # The most frequent have a state each; the others wait in one that takes none, until the first
            # sweep.
            labels = np.minimum(order, n).astype(np.uint32)
        return Clusters(np.concatenate((labels, still)).astype(np.uint32), n, order)

    def _category_clusters(self) -> Clusters:
        clustering = self.clustering
        n = clustering.settings.categories
        fresh = frequent_first(clustering.tree.word_counts, n)
        if clustering.categories is None:
            return fresh
        return Clusters(clustering.categories, n, fresh.order)

    def sweep(self, step: str, temperature: float, shortlisted: bool, done: int, planned: int) -> None:
        """Make one sweep, the next after `done` of `planned`; _EarlyEnd if the user wants one."""
        monitor, settings, exchange = self.clustering.monitor, self.clustering.settings, self.exchange
        number = len(monitor.history)
        name = f"level {self.number}: {step}"

        def tick(part: float, moves: int) -> None:
            share = self.clustering.share_done(self.number, (done + part) / planned)
            monitor.tell(name, number + 1, moves, exchange.criterion, exchange.perplexity, share)
            if monitor.stopped():
                raise _EarlyEnd

        seed = (settings.seed * 1_000_003 + number) % 2**64
        moves = exchange.sweep(temperature, seed, tick, shortlisted=shortlisted)
        self.settle()
        monitor.record(name, temperature, moves, exchange.criterion, exchange.perplexity)
        self.n_sweeps += 1

    def settle(self) -> None:
        """Take the criterion, and the b of leaving-one-out, from the counts alone.

        So a clustering that was taken up again has the same figures, and those it ends with are exact.
        """
        kernel = self.exchange.kernel
        assert isinstance(kernel, _core.TwoSidedExchange)
        if self.clustering.settings.criterion == "leave-one-out":
            kernel.leave_one_out()
        else:
            kernel.settle()

    def states(self) -> NDArray[np.uint32]:
        """Give the state of every node of the level."""
        states = self.inherited.astype(np.uint32).copy()
        states[self.movable] = self.exchange.sides[1].labels()[: len(self.movable)]
        return states

    def categories(self) -> NDArray[np.uint32]:
        return self.exchange.sides[0].labels()

    def result(self) -> LevelResult:
        monitor = self.clustering.monitor
        return LevelResult(
            self.number,
            int(np.count_nonzero(self.level.counts)),
            len(self.movable),
            self.n_sweeps,
            self.exchange.criterion,
            self.exchange.perplexity,
            monitor.seconds - self.started,
        )
