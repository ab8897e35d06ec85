"""A move of entire classes: two similar ones are merged, and the class set free takes half of another.

Single moves cannot get there: on the way every class would have to be worse. Sweeps after it decide
whether it was worth it.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from stategram import _core
from stategram.clustering.exchange import Clusters
from stategram.counts import BigramCounts, cluster_bigrams

# The fraction of classes that are merged away at a time.
_FRACTION = 0.05
# Classes are chosen for a split at random from so many times as many of the most frequent.
_CHOICE = 3


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
    return dataclasses.replace(classes, labels=labels)


def _cheapest_pairs(counts: np.ndarray, n: int, n_pairs: int) -> list[tuple[int, int]]:
    if n < 2:
        return []
    builder = _core.HierarchyBuilder(counts, n)
    # Some mergers are with a class that was merged already; twice as many are nearly always enough.
    builder.run(min(2 * n_pairs, n - 1))
    mergers = builder.merges().reshape(-1, 2).tolist()
    return [(first, second) for first, second in mergers if first < n and second < n][:n_pairs]
