"""What the tree clustering clusters: the levels of a context tree, or words as a single level.

Tied classes of words can be shaken: two similar ones are merged, and the class set free takes half of
another. Single moves cannot get there, as on the way every class would have to be worse. Sweeps after it
decide whether it was worth it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.clustering.exchange import (
    Clusters,
    Exchange,
    frequent_first,
    give_empty,
    predictive_exchange,
    shared_rest,
    tied_exchange,
    two_sided_exchange,
)
from stategram.clustering.monitor import StopEarly
from stategram.clustering.settings import ROUND, ClusteringSettings
from stategram.clustering.tree_clustering import Labels, ResumePoint, TreeClustering, sweep_seed
from stategram.contexts import ContextTree
from stategram.counts import BigramCounts, CompressedCounts, cluster_bigrams

# The fraction of classes that are merged away at a time.
_FRACTION = 0.05
# Classes are chosen for a split at random from so many times as many of the most frequent.
_CHOICE = 3


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


@dataclass(frozen=True)
class ClassLevel:
    """The words of a text and their initial classes.

    `criterion` is ``tied``, ``predictive`` or ``two-sided``; for the last, `n_states` may differ from the
    number of classes. `candidates` is the length of shortlists.
    """

    criterion: str
    bigrams: BigramCounts
    classes: Clusters
    n_states: int | None
    candidates: int
    numbers: Sequence[int] = (1,)
    work: Sequence[float] = (1.0,)

    def exchange(self, point: ResumePoint) -> Exchange:
        """Return the exchange that begins with the initial classes."""
        bigrams, classes = self.bigrams, self.classes
        if self.criterion == "tied":
            return tied_exchange(bigrams, classes, self.candidates)
        if self.criterion == "predictive":
            return predictive_exchange(bigrams, classes, self.candidates)
        states = frequent_first(bigrams.word_counts, min(self.n_states or classes.n, self.n_nodes(1)))
        return two_sided_exchange(bigrams.successors, bigrams.predecessors, states, classes, self.candidates)

    def labels(self, point: ResumePoint, exchange: Exchange) -> tuple[Labels, Labels]:
        """Return the states of words as contexts; their classes, if these are the same."""
        return (exchange.contexts or exchange.words).labels(), np.empty(0, np.uint32)

    def n_nodes(self, level: int) -> int:
        """Return the number of words that occur."""
        return int(np.count_nonzero(self.bigrams.word_counts))

    n_movable = n_nodes

    def merge_split(self, clustering: TreeClustering, kept: Exchange) -> Exchange:
        """Merge and split classes in rounds, each of which is kept if the criterion has gained."""
        schedule = clustering.schedule
        if clustering.monitor.stopped:
            return kept
        for number in range(schedule.rounds):
            exchange = kept  # the tables of a round that has failed are freed first
            reached = replace(self.classes, labels=kept.words.labels())
            changed = merge_and_split(self.bigrams, reached, sweep_seed(clustering.seed, number))
            if changed is None:
                break
            exchange = tied_exchange(self.bigrams, changed, self.candidates)
            n_done = schedule.n_sweeps(True) - len(ROUND) * (schedule.rounds - number)
            try:
                for n_sweeps, sweep in enumerate(ROUND, n_done):
                    clustering.sweep(1, n_sweeps, sweep, exchange)
            except StopEarly:
                break
            if exchange.criterion > kept.criterion:
                kept = exchange
        return kept


def merge_and_split(bigrams: BigramCounts, classes: Clusters, seed: int) -> Clusters | None:
    """Return classes of which some were merged and as many split; None if there are not two to merge.

    The merged pairs lose least mutual information, each class in one pair at the most. Of the words of a
    split class that may move, a random half goes to the free class.
    """
    if classes.n < 2:
        return None
    counts = cluster_bigrams(bigrams, classes.labels, classes.n_all)
    n_pairs = max(1, int(_FRACTION * classes.n))
    builder = _core.HierarchyBuilder(counts, classes.n)
    # Some mergers are with a class that was merged already; twice as many are nearly always enough.
    builder.run(min(2 * n_pairs, classes.n - 1))
    mergers = builder.merges().reshape(-1, 2)
    pairs = mergers[(mergers < classes.n).all(axis=1)][:n_pairs].tolist()
    generator = np.random.default_rng(seed)
    target = np.arange(classes.n_all, dtype=classes.labels.dtype)
    for kept, freed in pairs:
        target[freed] = kept
    labels = target[classes.labels]
    frequent = np.argsort(-counts[: classes.n].sum(axis=1), kind="stable")[: _CHOICE * len(pairs)]
    chosen = generator.permutation(target[frequent])[: len(pairs)]
    for (_, freed), split in zip(pairs, chosen.tolist(), strict=False):
        words = classes.order[labels[classes.order] == split]
        labels[words[generator.random(len(words)) < 0.5]] = freed
    return replace(classes, labels=labels)
