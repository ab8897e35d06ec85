"""Which clusters to show first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.clustering import WordClasses


def representative_classes(words: WordClasses, n: int, *, min_words: float = 8.0) -> list[int]:
    """Return the classes that are most informative about their neighbours, best first.

    A class is as informative as its mutual information, per event, with the class before and the class after.
    Classes whose words are not worth ``min_words`` equally frequent ones are left out: a single frequent word
    with a tail of rare ones is informative, but not about classes.

    Examples
    --------
    >>> words = WordClasses(n_classes=2).fit(["a b", "a b b", "a a b"])
    >>> sorted(representative_classes(words, 2, min_words=1))
    [0, 1]

    """
    counts = words.class_bigrams_.astype(np.float64)
    margins = counts.sum(axis=1)
    rows, columns = np.nonzero(counts)
    bits = information(rows, columns, counts[rows, columns])
    sums = np.bincount(rows, bits, len(margins)) + np.bincount(columns, bits, len(margins))
    informative = sums / np.maximum(margins, 1)
    # Half of an equal fraction of the events: rare classes matter little.
    common = margins[:-1] >= counts.sum() / (2 * len(margins))
    n_words = effective_number(words.labels_, np.maximum(words.counts_, 1), len(common))
    large = np.flatnonzero((n_words >= min_words) & common)
    return [int(c) for c in sorted(large, key=lambda c: -informative[c])[:n]]


def information(rows: NDArray[Any], columns: NDArray[Any], counts: NDArray[Any]) -> NDArray[np.float64]:
    """Return what each cell of a table of counts adds to the mutual information of its two sides, in bits.

    >>> information(np.array([0, 1]), np.array([0, 1]), np.array([4, 4])).tolist()
    [4.0, 4.0]
    """
    of_rows, of_columns = np.bincount(rows, counts), np.bincount(columns, counts)
    expected = of_rows[rows] * of_columns[columns] / max(counts.sum(), 1.0)
    bits: NDArray[np.float64] = counts * np.log2(counts / expected)
    return bits


def effective_number(labels: NDArray[Any], weights: NDArray[Any], n_clusters: int) -> NDArray[np.float64]:
    """Return how many members of equal weight each cluster is worth: 2 to their entropy; 1 if it has none.

    >>> effective_number(np.array([0, 0, 1]), np.array([5, 5, 3]), 2).tolist()
    [2.0, 1.0]
    """
    own = weights > 0
    labels, weight = labels[own], weights[own].astype(np.float64)
    fraction = weight / np.bincount(labels, weight, n_clusters)[labels]
    return np.exp2(np.bincount(labels, -fraction * np.log2(fraction), n_clusters))
