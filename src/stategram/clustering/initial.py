"""Initial clusterings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

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
    fixed: Iterable[int] = (),
    singletons: Iterable[int] = (),
) -> Clusters:
    """Return clusters of the most frequent elements, one each; the others have none until the first sweep.

    Parameters
    ----------
    counts
        How often each element occurs. One that never does is not moved.
    n
        The number of clusters that take elements.
    given
        The cluster of an element that has one already, -1 for the others.
    fixed
        Elements that keep the cluster they are given.
    singletons
        Elements that are context only, each in a further cluster of its own.

    Examples
    --------
    >>> clusters = frequent_first(np.array([3, 9, 1, 5]), 2, singletons=[3])
    >>> clusters.labels.tolist(), clusters.order.tolist()
    ([1, 0, 3, 2], [1, 0, 2])

    """
    labels = np.full(len(counts), UNPLACED) if given is None else given.astype(np.int64)
    by_count = np.argsort(-counts, kind="stable")
    kept = np.zeros(len(counts), dtype=bool)
    further = n
    for element in singletons:
        labels[element] = further
        kept[element] = True
        further += 1
    for element in fixed:
        kept[element] = True
    order = by_count[(counts[by_count] > 0) & ~kept[by_count]]
    unplaced = order[labels[order] == UNPLACED]
    taken = labels[(counts > 0) & (labels != UNPLACED)]
    empty = np.flatnonzero(np.bincount(taken, minlength=n)[:n] == 0)[: len(unplaced)]
    labels[unplaced[: len(empty)]] = empty
    labels[labels == UNPLACED] = further
    return Clusters(labels.astype(np.uint32), n, order.astype(np.uint32))


def dealt_out(counts: NDArray[np.unsignedinteger[Any]], n: int) -> NDArray[np.uint32]:
    """Return clusters of elements that are dealt out like cards, in order of falling count.

    >>> dealt_out(np.array([7, 9, 1, 2, 8], np.uint32), 3).tolist()
    [2, 0, 1, 0, 1]
    """
    labels = np.empty(len(counts), np.uint32)
    labels[np.argsort(-counts.astype(np.int64), kind="stable")] = np.arange(len(counts)) % n
    return labels


def fill_empty(labels: NDArray[np.uint32], members: NDArray[np.int64]) -> NDArray[np.uint32]:
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


def given_labels(
    vocabulary: Vocabulary, classes: Mapping[str, object], numbers: Mapping[object, int]
) -> NDArray[np.int64]:
    """Return the class of each word that a class file names, and -1 for the others."""
    labels = np.full(len(vocabulary), UNPLACED, dtype=np.int64)
    for word, name in classes.items():
        if word in vocabulary:
            labels[vocabulary.id(word)] = numbers[name]
    return labels
