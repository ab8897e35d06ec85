"""The levels of a context tree as they are clustered: which nodes move, and where they begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.clustering.exchange import Clusters, Exchange, two_sided_exchange
from stategram.clustering.initial import dealt_out, fill_empty, frequent_first
from stategram.clustering.settings import ClusteringSettings
from stategram.clustering.tree_clustering import Labels
from stategram.contexts import ContextTree
from stategram.counts import CompressedCounts
from stategram.resources import Resources


@dataclass(frozen=True)
class ContextLevels:
    """The levels of a tree on which contexts move; without a tree, the single contexts alone."""

    tree: ContextTree
    settings: ClusteringSettings
    _movable_nodes: dict[int, NDArray[np.uint32]] = field(default_factory=dict, repr=False)

    @cached_property
    def numbers(self) -> Sequence[int]:
        """The levels, from the root to the leaves."""
        return list(range(1, self.tree.depth + 1)) if self.settings.tree else [self.tree.depth]

    @cached_property
    def work(self) -> Sequence[float]:
        """For each level, about what a sweep takes, in rows of a table: at most one for each event."""
        words = int(np.minimum(self.tree.word_counts, self.settings.states).sum())
        work = []
        for number in self.numbers:
            counts = self.tree.levels[number - 1].counts[self._movable(number)]
            work.append(words + int(np.minimum(counts, self.settings.categories).sum(dtype=np.int64)))
        return work

    def exchange(
        self, level: int, above: Sequence[Labels], categories: Labels | None, states: Labels | None
    ) -> Exchange:
        """Return the exchange of a level, begun where the levels above ended, or where it was interrupted."""
        settings, movable = self.settings, self._movable(level)
        fixed = self._fixed_states(level, above)
        events = self._events(level, movable, fixed)
        words = frequent_first(self.tree.word_counts, settings.categories)
        return two_sided_exchange(
            events,
            CompressedCounts(*_core.transpose_counts(*events, len(words.labels))),
            self._state_clusters(movable, fixed, states, is_initial=settings.tree and not above),
            words if categories is None else Clusters(categories, words.n, words.order),
            settings.schedule.candidates,
            settings.criterion == "leave-one-out",
        )

    def states(self, level: int, above: Sequence[Labels], exchange: Exchange) -> Labels:
        """Return the state of every node of a level; rare ones stay where they were put."""
        assert exchange.contexts is not None
        states, movable = self._fixed_states(level, above).copy(), self._movable(level)
        states[movable] = exchange.contexts.labels()[: len(movable)]
        return states

    def n_nodes(self, level: int) -> int:
        """Return the number of nodes of a level that occur."""
        return int(np.count_nonzero(self.tree.levels[level - 1].counts))

    def merge_split(self, exchange: Exchange, seed: int) -> None:
        """Return None: only word classes are merged and split."""

    def initial_states(self, level: int) -> Labels:
        """Return the states of a level in the initial clustering without a tree: those of the nearest values.

        They are dealt out by falling count. So rare contexts, and those never seen, have something to go by.
        """
        states = dealt_out(self.tree.levels[0].counts, self.settings.states)
        for number in range(2, level + 1):
            states = states[self.tree.parents(number)]
        return states

    def _movable(self, level: int) -> NDArray[np.uint32]:
        """Return the nodes with enough events, the most frequent first."""
        if level not in self._movable_nodes:
            counts = self.tree.levels[level - 1].counts
            movable = np.flatnonzero(counts >= self.settings.min_count).astype(np.uint32)
            self._movable_nodes[level] = movable[np.argsort(~counts[movable], kind="stable")]
        return self._movable_nodes[level]

    def _fixed_states(self, level: int, above: Sequence[Labels]) -> Labels:
        """Return where nodes stay that do not move."""
        if above:
            return above[-1][self.tree.parents(level)]
        if not self.settings.tree:
            return self.initial_states(level)
        # Rare nodes of the first level share the last state.
        return np.full(len(self.tree.levels[0]), self.settings.states - 1, np.uint32)

    def _events(self, level: int, movable: NDArray[np.uint32], fixed: Labels) -> CompressedCounts:
        """Return the words after each node that moves, then after all that do not, a row for each state."""
        rare = np.flatnonzero(self.tree.levels[level - 1].counts < self.settings.min_count).astype(np.uint32)
        states = fixed[rare]
        ends = np.cumsum(np.bincount(states, minlength=self.settings.states))
        return CompressedCounts(
            *_core.sum_rows(
                *self.tree.events_of(level),
                np.concatenate((movable, rare[np.argsort(states, kind="stable")])),
                np.concatenate((np.arange(len(movable) + 1), len(movable) + ends)),
                len(self.tree.vocabulary),
                Resources.current().threads,
            )
        )

    def _state_clusters(
        self, movable: NDArray[np.uint32], fixed: Labels, states: Labels | None, is_initial: bool
    ) -> Clusters:
        """Return where the nodes that move begin; then the others, a row for each state."""
        n, order = self.settings.states, np.arange(len(movable), dtype=np.uint32)
        if states is not None:
            labels = states[movable]
        elif is_initial:
            # The most frequent have a state each; the others wait in one that takes none.
            labels = np.minimum(order, n)
        else:
            labels = fill_empty(fixed[movable], np.bincount(fixed, minlength=n))
        rows = np.concatenate((labels, np.arange(n))).astype(np.uint32)
        return Clusters(rows, n, order)
