"""The levels of a context tree as they are clustered, and the states and categories that come of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.clustering.checkpoint import Checkpoint, fingerprint
from stategram.clustering.exchange import Clusters, Exchange, frequent_first, two_sided_exchange
from stategram.clustering.monitor import LevelResult, Monitor, SweepRecord
from stategram.clustering.settings import ClusteringSettings
from stategram.clustering.tree_clustering import Labels, ResumePoint, TreeClustering
from stategram.contexts import ContextTree
from stategram.counts import CompressedCounts
from stategram.notebook import Value, card, columns_of
from stategram.progress import Progress, Stop

# In a notebook.
_CATEGORIES_SHOWN = 10
_WORDS_SHOWN = 9


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
    categories: NDArray[np.uint32]
    settings: ClusteringSettings
    levels: tuple[LevelResult, ...] = ()
    history: tuple[SweepRecord, ...] = ()
    trials: tuple[tuple[int, float], ...] = ()

    def __repr__(self) -> str:
        return f"Clustering({self.tree.definition}, {self.n_states} states, {self.n_categories} categories)"

    def _repr_html_(self) -> str:
        facts: list[tuple[str, Value]] = [
            ("Context", str(self.tree.definition)),
            ("Contexts", int(np.count_nonzero(self.tree.levels[-1].counts))),
            ("States", self.n_states),
            ("Categories", self.n_categories),
            ("Words", int(np.count_nonzero(self.tree.word_counts))),
        ]
        names = ("Level", "Contexts", "Moved on their own", "Sweeps", "Criterion", "Training perplexity")
        levels = [
            (one.level, one.nodes, one.movable, one.sweeps, one.criterion, one.perplexity)
            for one in self.levels
        ]
        tables = [
            ("Levels of the context tree", columns_of(names, levels)),
            (
                "Categories",
                columns_of(("Category", "Events", "Words", "Most frequent words"), self._categories()),
            ),
            ("Numbers of clusters that were tried", columns_of(("Clusters", "Perplexity"), self.trials)),
        ]
        return card("Clustering", facts, tables)

    def _categories(self) -> list[tuple[int, int, int, str]]:
        """Return the first categories: events, number of words, and the most frequent of these."""
        counts, rows = self.tree.word_counts, []
        for category in range(min(self.n_categories, _CATEGORIES_SHOWN)):
            ids = np.flatnonzero(self.categories == category)
            frequent = ids[np.argsort(-counts[ids], kind="stable")[:_WORDS_SHOWN]]
            words = " ".join(map(self.tree.vocabulary.word, frequent.tolist()))
            rows.append((category, int(counts[ids].sum()), len(ids), words))
        return rows

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
    states = list(end.above)
    if not settings.tree:
        states = [levels.initial_states(number) for number in range(1, tree.depth)] + states
    while len(states) < tree.depth:  # after an early end
        states.append(states[-1][tree.parents(len(states) + 1)])
    assert end.categories is not None
    return Clustering(tree, tuple(states), end.categories, settings, end.results, tuple(monitor.history))


@dataclass(frozen=True)
class ContextLevels:
    """The levels of a tree on which contexts move; without a tree, the single contexts alone."""

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
        settings, words = self.settings, frequent_first(self.tree.word_counts, self.settings.categories)
        if point.categories is not None:
            words = Clusters(point.categories, words.n, words.order)
        fixed = self._fixed_states(point)
        events = self._events(point.level, fixed)
        return two_sided_exchange(
            events,
            CompressedCounts(*_core.transpose_counts(*events, len(words.labels))),
            self._state_clusters(point, fixed),
            words,
            settings.schedule.candidates,
            settings.criterion == "leave-one-out",
        )

    def states(self, point: ResumePoint, exchange: Exchange) -> Labels:
        """Return the state of every node of a level; rare ones stay where they were put."""
        assert exchange.contexts is not None
        states, movable = self._fixed_states(point).copy(), self._movable[point.level]
        states[movable] = exchange.contexts.labels()[: len(movable)]
        return states

    def n_nodes(self, level: int) -> int:
        """Return the number of nodes of a level that occur."""
        return int(np.count_nonzero(self.tree.levels[level - 1].counts))

    def initial_states(self, level: int) -> Labels:
        """Return the states of a level in the initial clustering without a tree: those of the nearest values.

        They are dealt out by falling count. So rare contexts, and those never seen, have something to go by.
        """
        counts = self.tree.levels[0].counts
        states = np.empty(len(counts), np.uint32)
        states[np.argsort(-counts.astype(np.int64), kind="stable")] = (
            np.arange(len(counts)) % self.settings.states
        )
        for number in range(2, level + 1):
            states = states[self.tree.parents(number)]
        return states

    @cached_property
    def _movable(self) -> dict[int, NDArray[np.uint32]]:
        """For each level, the nodes with enough events, the most frequent first."""
        found = {}
        for number in self.numbers:
            counts = self.tree.levels[number - 1].counts
            movable = np.flatnonzero(counts >= self.settings.min_count).astype(np.uint32)
            found[number] = movable[np.argsort(~counts[movable], kind="stable")]
        return found

    def _fixed_states(self, point: ResumePoint) -> Labels:
        """Return where nodes stay that do not move."""
        if point.above:
            return point.above[-1][self.tree.parents(point.level)]
        if not self.settings.tree:
            return self.initial_states(point.level)
        # Rare nodes of the first level share the last state.
        return np.full(len(self.tree.levels[0]), self.settings.states - 1, np.uint32)

    def _events(self, level: int, fixed: Labels) -> CompressedCounts:
        """Return the words after each node that moves, then after all that do not, a row for each state."""
        movable = self._movable[level]
        rare = np.flatnonzero(self.tree.levels[level - 1].counts < self.settings.min_count).astype(np.uint32)
        states = fixed[rare]
        ends = np.cumsum(np.bincount(states, minlength=self.settings.states))
        return self.tree.sum_events(
            level,
            np.concatenate((movable, rare[np.argsort(states, kind="stable")])),
            np.concatenate((np.arange(len(movable) + 1), len(movable) + ends)),
        )

    def _state_clusters(self, point: ResumePoint, fixed: Labels) -> Clusters:
        """Return where the nodes that move begin; then the others, a row for each state."""
        n, movable = self.settings.states, self._movable[point.level]
        order = np.arange(len(movable), dtype=np.uint32)
        if point.states is not None:
            labels = point.states[movable]
        elif self.settings.tree and not point.above:
            # The most frequent have a state each; the others wait in one that takes none.
            labels = np.minimum(order, n)
        else:
            labels = fill_empty(fixed[movable], np.bincount(fixed, minlength=n))
        return Clusters(np.concatenate((labels, np.arange(n))).astype(np.uint32), n, order)


def fill_empty(labels: Labels, members: NDArray[np.int64]) -> Labels:
    """Return labels in which each cluster without members has got an element: the first ones, by their order.

    The first element of each cluster stays. A level with fewer nodes than states leaves such states; single
    moves would fill them slowly.

    >>> fill_empty(np.array([0, 0, 1, 0, 1, 1]), np.array([3, 3, 0, 0])).tolist()
    [0, 2, 1, 3, 1, 1]
    """
    _, stay = np.unique(labels, return_index=True)
    go = np.delete(np.arange(len(labels)), stay)
    empty = np.flatnonzero(members == 0)
    n = min(len(go), len(empty))
    filled = labels.copy()
    filled[go[:n]] = empty[:n]
    return filled
