"""Word classes as the tree clustering sees them: a single level, by one of three criteria.

Tied classes can be shaken: two similar ones are merged, and the class set free takes half of another. Single
moves cannot get there, as on the way every class would have to be worse. Sweeps after it decide whether it
was worth it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from stategram import _core
from stategram.clustering.exchange import (
    Clusters,
    Exchange,
    frequent_first,
    predictive_exchange,
    tied_exchange,
    two_sided_exchange,
)
from stategram.clustering.monitor import StopEarly
from stategram.clustering.schedule import ROUND
from stategram.clustering.tree_clustering import Labels, ResumePoint, TreeClustering, sweep_seed
from stategram.counts import BigramCounts, cluster_bigrams

# The fraction of classes that are merged away at a time.
_FRACTION = 0.05
# Classes are chosen for a split at random from so many times as many of the most frequent.
_CHOICE = 3


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
