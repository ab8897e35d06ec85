"""Where the exchange begins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from stategram.clustering.exchange import Clusters
from stategram.text import Vocabulary

UNPLACED = -1


def frequent_first(
    counts: NDArray[np.int64],
    n: int,
    *,
    given: NDArray[np.int64] | None = None,
    still: Iterable[int] = (),
    alone: Iterable[int] = (),
) -> Clusters:
    """Give the most frequent elements a cluster each; the others have none until the first sweep.

    Parameters
    ----------
    counts
        How often each element occurs. One that never does is not moved.
    n
        The number of clusters that take elements.
    given
        The cluster of an element that has one already, -1 for the others.
    still
        Elements that keep the cluster they are given.
    alone
        Elements that are context only, each in a further cluster of its own.

    Examples
    --------
    >>> clusters = frequent_first(np.array([3, 9, 1, 5]), 2, alone=[3])
    >>> clusters.labels.tolist(), clusters.order.tolist()
    ([1, 0, 3, 2], [1, 0, 2])

    """
    labels = np.full(len(counts), UNPLACED) if given is None else given.astype(np.int64)
    by_count = np.argsort(-counts, kind="stable")
    kept = np.zeros(len(counts), dtype=bool)
    further = n
    for element in alone:
        labels[element] = further
        kept[element] = True
        further += 1
    for element in still:
        kept[element] = True
    order = by_count[(counts[by_count] > 0) & ~kept[by_count]]
    unplaced = order[labels[order] == UNPLACED]
    taken = labels[(counts > 0) & (labels != UNPLACED)]
    empty = np.flatnonzero(np.bincount(taken, minlength=n)[:n] == 0)[: len(unplaced)]
    labels[unplaced[: len(empty)]] = empty
    labels[labels == UNPLACED] = further
    return Clusters(labels.astype(np.uint32), n, order.astype(np.uint32))


def number_classes(*files: Mapping[str, object]) -> dict[object, int]:
    """Give the class names of class files their numbers, in the order of their appearance."""
    numbers: dict[object, int] = {}
    for file in files:
        for name in file.values():
            numbers.setdefault(name, len(numbers))
    return numbers


def given_labels(
    vocabulary: Vocabulary, classes: Mapping[str, object], numbers: Mapping[object, int]
) -> NDArray[np.int64]:
    """Give the class of each word that a class file names, and -1 to the others."""
    labels = np.full(len(vocabulary), UNPLACED, dtype=np.int64)
    for word, name in classes.items():
        if word in vocabulary:
            labels[vocabulary.id(word)] = numbers[name]
    return labels
