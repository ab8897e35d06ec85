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

from stategram.clustering.exchange import shortlist_length
from stategram.clustering.level_work import EarlyEnd, LevelResult, LevelWork
from stategram.clustering.monitor import Monitor, SweepRecord
from stategram.clustering.schedule import COLD, FULL_EVERY, HOT
from stategram.contexts import ContextTree


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


@dataclass
class TreeClustering:
    """A clustering in the making, level by level; it can be cut off between sweeps and taken up again.

    Parameters
    ----------
    tree, settings
        What to cluster, and how.
    monitor
        Is told of every sweep.
    save
        Called where the clustering can be taken up again: before sweeps over all clusters.
    states, categories, levels
        What is done already.

    """

    tree: ContextTree
    settings: ClusteringSettings
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
            except EarlyEnd:
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
