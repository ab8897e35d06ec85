"""The levels of a context tree as they are clustered, and the states and categories that come of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.clustering.checkpoint import Checkpoint, fingerprint
from stategram.clustering.exchange import (
    Clusters,
    Exchange,
    give_empty,
    shared_rest,
    two_sided_exchange,
)
from stategram.clustering.monitor import LevelResult, Monitor, SweepRecord
from stategram.clustering.settings import ClusteringSettings
from stategram.clustering.tree_clustering import Labels, ResumePoint, TreeClustering
from stategram.contexts import ContextTree
from stategram.counts import CompressedCounts
from stategram.progress import Progress, Stop


@dataclass(frozen=True, eq=False)
class Clustering:
    """States of contexts and categories of words.

    Parameters
    ----------
    tree
        The contexts.
    states
        For each level of the tree the state of each of its nodes.
    inherited
        For each level the state of unseen contexts, by their state on the level above; one for all above
        the first.
    categories
        The category of each word of the vocabulary. Words that never occur have none: their label is the
        number of categories.
    settings
        How they were found.
    levels, history
        The results of each level and of each sweep.
    trials
        If numbers of clusters were tried out: the numbers, and the perplexity of sentences set aside.

    """

    tree: ContextTree
    states: tuple[NDArray[np.uint32], ...]
    inherited: tuple[NDArray[np.uint32], ...]
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


def cluster_tree(
    tree: ContextTree,
    settings: ClusteringSettings,
    *,
    checkpoint: Checkpoint | None = None,
    resume: bool = False,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> Clustering:
    """Do what `cluster` does with contexts that are counted already, and no more categories than words."""
    levels, monitor = ContextLevels(tree, settings), Monitor(progress, stop)
    start = save = None
    if checkpoint is not None:
        mark = fingerprint(tree, settings)
        start = checkpoint.restore(mark, tree, settings) if resume else None
        save = partial(checkpoint.save, mark)
    end, _ = TreeClustering(levels, settings.schedule, monitor, settings.seed, save).run(start)
    upper = range(1, levels.numbers[0])
    states = [*map(levels.initial_states, upper), *end.above]
    inherited = [*map(levels.initial_inherited, upper), *end.inherited]
    for number in range(len(states) + 1, tree.depth + 1):  # after an early end
        states.append(states[-1][tree.parents(number)])
        inherited.append(levels.initial_inherited(number))
    assert end.categories is not None
    return Clustering(
        tree,
        tuple(states),
        tuple(inherited),
        end.categories,
        settings,
        end.results,
        tuple(monitor.history),
    )


@dataclass(frozen=True)
class ContextLevels:
    """The levels of a tree on which contexts move; without a tree, the single contexts alone.

    The rows of an exchange are the nodes that move on their own, then groups of those that are too rare:
    one group for each state of the level above.
    """

    tree: ContextTree
    settings: ClusteringSettings

    @cached_property
    def numbers(self) -> Sequence[int]:
        """The levels, from the root to the leaves."""
        return range(1 if self.settings.tree else self.tree.depth, self.tree.depth + 1)

    @cached_property
    def work(self) -> Sequence[float]:
        """For each level, about what a sweep takes, in rows of a table: at most one for each event."""
        words = int(np.minimum(self.tree.word_counts, self.settings.states).sum())
        work = []
        for number in self.numbers:
            counts = self.tree.levels[number - 1].counts[self._movable[number]]
            work.append(words + int(np.minimum(counts, self.settings.categories).sum(dtype=np.int64)))
        return work

    def exchange(self, point: ResumePoint) -> Exchange:
        """Return the exchange of a level, begun where the levels above ended, or where it was interrupted."""
        settings, movable = self.settings, self._movable[point.level]
        words = shared_rest(self.tree.word_counts, settings.categories, settings.min_word_count)
        if point.categories is not None:
            words = replace(words, labels=point.categories)
        if point.states is not None:
            labels, inherited = point.states[movable], point.inherited[-1]
        else:
            labels, inherited = self._initial(point)
        groups_move = settings.free_states > 0 and bool(point.above)
        order = np.arange(len(labels) + (len(inherited) if groups_move else 0), dtype=np.uint32)
        states = Clusters(np.concatenate((labels, inherited)).astype(np.uint32), settings.states, order)
        exchange = self._exchange(self._events(point), states, words)
        if point.states is None and (point.above or self._starts_nearest):
            give_empty(exchange)
        return exchange

    def labels(self, point: ResumePoint, exchange: Exchange) -> tuple[Labels, Labels]:
        """Return the state of each node of a level, and that of rare and unseen ones by their state above."""
        assert exchange.contexts is not None
        movable, groups, labels = self._movable[point.level], self._groups(point), exchange.contexts.labels()
        own, inherited = np.split(labels, [len(movable)])
        if len(exchange.contexts.order) > len(movable):
            # A group without rare contexts goes with its most frequent one.
            numbers, first = np.unique(groups[movable], return_index=True)
            empty = exchange.contexts.counts[len(movable) + numbers] == 0
            inherited[numbers[empty]] = own[first[empty]]
        states = inherited[groups]
        states[movable] = own
        return states, inherited

    def n_nodes(self, level: int) -> int:
        """Return the number of nodes of a level that occur."""
        return int(np.count_nonzero(self.tree.levels[level - 1].counts))

    def n_movable(self, level: int) -> int:
        """Return the number of nodes of a level that move on their own."""
        return len(self._movable[level])

    def initial_states(self, level: int) -> Labels:
        """Return the states of a level in the initial clustering without a tree.

        All contexts share the last one, or have that of their nearest value; these are dealt out by falling
        count, so that rare contexts, and those never seen, have something to go by.
        """
        first = np.full(len(self.tree.levels[0]), self.settings.states - 1, np.uint32)
        if self._starts_nearest:
            order = np.argsort(-self.tree.levels[0].counts.astype(np.int64), kind="stable")
            first[order] = np.arange(len(order)) % self.settings.states
        states: Labels = first
        for number in range(2, level + 1):
            states = states[self.tree.parents(number)]
        return states

    def initial_inherited(self, level: int) -> Labels:
        """Return the states of unseen contexts in the initial clustering, by their state above a level."""
        n = self.settings.states
        return np.arange(n, dtype=np.uint32) if level > 1 else np.array([n - 1], np.uint32)

    @property
    def _starts_nearest(self) -> bool:
        settings = self.settings
        # A context of one value has no other than its nearest.
        return not settings.tree and settings.flat_start == "nearest" and self.tree.depth > 1

    @cached_property
    def _movable(self) -> dict[int, NDArray[np.uint32]]:
        """For each level, the nodes with enough events, the most frequent first."""
        found = {}
        for number in self.numbers:
            counts = self.tree.levels[number - 1].counts
            movable = np.flatnonzero(counts >= self.settings.min_count).astype(np.uint32)
            found[number] = movable[np.argsort(~counts[movable], kind="stable")]
        return found

    def _groups(self, point: ResumePoint) -> Labels:
        """Return for each node of a level its state above it."""
        if point.above:
            return point.above[-1][self.tree.parents(point.level)]
        if point.level > 1:
            return self.initial_states(point.level)
        return np.zeros(len(self.tree.levels[0]), np.uint32)

    def _initial(self, point: ResumePoint) -> tuple[Labels, Labels]:
        """Return the states in which the nodes that move, and the groups of the others, begin.

        Those of freed states, the ones with the fewest events, have none: label `n`.
        """
        n, movable = self.settings.states, self._movable[point.level]
        inherited = self.initial_inherited(point.level)
        if not point.above and not self._starts_nearest:
            return np.minimum(np.arange(len(movable), dtype=np.uint32), n - 1), inherited
        if point.above:
            events = np.bincount(point.above[-1], self.tree.levels[point.level - 2].counts, n)
            freed = np.argsort(events, kind="stable")[: round(n * self.settings.free_states)]
            inherited[freed] = n
        return inherited[self._groups(point)[movable]], inherited

    def _events(self, point: ResumePoint) -> CompressedCounts:
        """Return the words after each row of the exchange: nodes that move, then groups of rare ones."""
        movable, groups = self._movable[point.level], self._groups(point)
        counts = self.tree.levels[point.level - 1].counts
        rare = np.flatnonzero(counts < self.settings.min_count).astype(np.uint32)
        n_groups = len(self.initial_inherited(point.level))
        ends = np.cumsum(np.bincount(groups[rare], minlength=n_groups))
        return self.tree.sum_events(
            point.level,
            np.concatenate((movable, rare[np.argsort(groups[rare], kind="stable")])),
            np.concatenate((np.arange(len(movable) + 1), len(movable) + ends)),
        )

    def _exchange(self, events: CompressedCounts, states: Clusters, words: Clusters) -> Exchange:
        return two_sided_exchange(
            events,
            CompressedCounts(*_core.transpose_counts(*events, len(words.labels))),
            states,
            words,
            self.settings.schedule.candidates,
            self.settings.criterion == "leave-one-out",
        )
