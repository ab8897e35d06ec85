"""Which clusters to show first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.clustering import WordClasses


def telling_classes(words: WordClasses, n: int, *, least_words: float = 8.0) -> list[int]:
    """Give the classes that say most about their neighbours, best first.

    A class says as much as the mutual information, an event, with the class before and the class after.
    Classes whose words are not worth ``least_words`` equally frequent ones are left out: a single frequent
    word with a tail of rare ones tells much, but not about classes.

    Examples
    --------
    >>> words = WordClasses(n_classes=2).fit(["a b", "a b b", "a a b"])
    >>> sorted(telling_classes(words, 2, least_words=1))
    [0, 1]

    """
    counts = words.class_bigrams_.astype(np.float64)
    margins = counts.sum(axis=1)
    told = information(counts)
    telling = (told.sum(axis=0) + told.sum(axis=1)) / np.maximum(margins, 1)
    # Half an equal share of the events: what a rare class tells matters little.
    common = margins[:-1] >= counts.sum() / (2 * len(margins))
    n_words = effective_number(words.labels_, np.maximum(words.counts_, 1), len(common))
    large = np.flatnonzero((n_words >= least_words) & common)
    return [int(c) for c in sorted(large, key=lambda c: -telling[c])[:n]]


def information(counts: NDArray[Any]) -> NDArray[np.float64]:
    """Give what each cell of a table of counts adds to the mutual information of its two sides, in bits.

    >>> information(np.array([[4, 0], [0, 4]])).tolist()
    [[4.0, 0.0], [0.0, 4.0]]
    """
    table = counts.astype(np.float64)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / max(table.sum(), 1.0)
    seen = table > 0
    found = np.zeros_like(table)
    found[seen] = table[seen] * np.log2(table[seen] / expected[seen])
    return found


def effective_number(labels: NDArray[Any], weights: NDArray[Any], n_clusters: int) -> NDArray[np.float64]:
    """Give how many members of equal weight each cluster is worth: 2 to their entropy; 1 if it has none.

    >>> effective_number(np.array([0, 0, 1]), np.array([5, 5, 3]), 2).tolist()
    [2.0, 1.0]
    """
    own = weights > 0
    labels, weight = labels[own], weights[own].astype(np.float64)
    share = weight / np.bincount(labels, weight, n_clusters)[labels]
    return np.exp2(np.bincount(labels, -share * np.log2(share), n_clusters))
