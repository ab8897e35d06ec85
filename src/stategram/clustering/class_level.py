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
    predictive_exchange,
    tied_exchange,
    two_sided_exchange,
)
from stategram.clustering.initial import frequent_first
from stategram.clustering.tree_clustering import Labels
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

    def exchange(
        self, level: int, above: Sequence[Labels], categories: Labels | None, states: Labels | None
    ) -> Exchange:
        """Return the exchange that begins with the initial classes."""
        bigrams, classes = self.bigrams, self.classes
        if self.criterion == "tied":
            return self._tied(classes)
        if self.criterion == "predictive":
            return predictive_exchange(bigrams, classes)
        n_states = min(self.n_states or classes.n, int(np.count_nonzero(bigrams.word_counts)))
        return two_sided_exchange(
            bigrams.successors,
            bigrams.predecessors,
            frequent_first(bigrams.word_counts, n_states),
            classes,
            self.candidates,
        )

    def states(self, level: int, above: Sequence[Labels], exchange: Exchange) -> Labels:
        """Return the states, if words as contexts have their own."""
        return exchange.words.labels() if exchange.contexts is None else exchange.contexts.labels()

    def n_nodes(self, level: int) -> int:
        """Return the number of words that occur."""
        return int(np.count_nonzero(self.bigrams.word_counts))

    def merge_split(self, exchange: Exchange, seed: int) -> Exchange | None:
        """Return an exchange with some classes merged and others split; None if there are not two."""
        reached = replace(self.classes, labels=exchange.words.labels())
        changed = merge_and_split(self.bigrams, reached, seed)
        return None if changed is None else self._tied(changed)

    def _tied(self, classes: Clusters) -> Exchange:
        return tied_exchange(self.bigrams, classes, self.candidates)


def merge_and_split(bigrams: BigramCounts, classes: Clusters, seed: int) -> Clusters | None:
    """Return classes of which some were merged and as many split; None if there are not two to merge.

    The merged pairs lose least mutual information, each class in one pair at the most. Of the words of a
    split class that may move, a random half goes to the free class.
    """
    counts = cluster_bigrams(bigrams, classes.labels, classes.n_all)
    pairs = _cheapest_pairs(counts, classes.n, max(1, int(_FRACTION * classes.n)))
    if not pairs:
        return None
    generator = np.random.default_rng(seed)
    labels = classes.labels.copy()
    target = np.arange(classes.n_all, dtype=labels.dtype)
    for kept, freed in pairs:
        target[freed] = kept
    labels = target[labels]
    frequent = np.argsort(-counts[: classes.n].sum(axis=1), kind="stable")[: _CHOICE * len(pairs)]
    chosen = generator.permutation(target[frequent])[: len(pairs)]
    for (_, freed), split in zip(pairs, chosen.tolist(), strict=False):
        words = classes.order[labels[classes.order] == split]
        labels[words[generator.random(len(words)) < 0.5]] = freed
    return replace(classes, labels=labels)


def _cheapest_pairs(counts: np.ndarray, n: int, n_pairs: int) -> list[tuple[int, int]]:
    if n < 2:
        return []
    builder = _core.HierarchyBuilder(counts, n)
    # Some mergers are with a class that was merged already; twice as many are nearly always enough.
    builder.run(min(2 * n_pairs, n - 1))
    mergers = builder.merges().reshape(-1, 2).tolist()
    return [(first, second) for first, second in mergers if first < n and second < n][:n_pairs]
