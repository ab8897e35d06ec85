"""A binary hierarchy over word classes, by mergers that lose least average mutual information."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stategram import _core
from stategram.errors import UsageError
from stategram.progress import Progress


@dataclass(frozen=True, eq=False)
class ClassHierarchy:
    """A binary tree whose leaves are the classes 0 .. k-1.

    Attributes
    ----------
    merges
        One row per merger: the names of its two sides. Names below k are classes, and k + i is merger i, as
        in SciPy's linkage matrices. The first side is the one that holds the smallest class.
    losses
        By how much each merger lowers the criterion, in nats: the loss of average mutual information in bits
        is this divided by the number of events and by log 2. Never negative, but not always rising.

    Examples
    --------
    >>> tree = ClassHierarchy(np.array([[0, 2], [3, 1]]), np.array([1.5, 4.0]))
    >>> tree.bit_paths()
    ['00', '1', '01']
    >>> tree.cut(2)
    array([0, 1, 0])

    """

    merges: NDArray[np.int64]
    losses: NDArray[np.float64]

    @property
    def n_classes(self) -> int:
        """The number of leaves."""
        return len(self.merges) + 1

    def bit_paths(self) -> list[str]:
        """Return the path from the root to each class; at each merger, 0 leads to its first side.

        No path is the beginning of another. The only class of a tree without mergers is at ``0``.
        """
        k = self.n_classes
        if k == 1:
            return ["0"]
        paths = [""] * (2 * k - 1)
        for i in range(k - 2, -1, -1):
            for bit, side in zip("01", self.merges[i].tolist(), strict=True):
                paths[side] = paths[k + i] + bit
        return paths[:k]

    def cut(self, n_clusters: int) -> NDArray[np.int64]:
        """Label each class by its cluster at the time when only ``n_clusters`` are left.

        Clusters are numbered in the order of their smallest class.
        """
        k = self.n_classes
        if not 1 <= n_clusters <= k:
            raise UsageError(
                f"cannot cut a hierarchy of {k} classes into {n_clusters} clusters; choose 1 to {k}"
            )
        # The smallest class of a merger is that of its first side.
        smallest = list(range(k))
        parent = np.arange(k)
        for first, second in self.merges[: k - n_clusters].tolist():
            parent[smallest[second]] = smallest[first]
            smallest.append(smallest[first])
        # A parent is smaller than its child, so one pass in rising order reaches the roots.
        for leaf in range(k):
            parent[leaf] = parent[parent[leaf]]
        return np.unique(parent, return_inverse=True)[1].astype(np.int64)

    def cut_depth(self, depth: int) -> NDArray[np.int64]:
        """Label each class by the first ``depth`` bits of its path, or by all of it if it is shorter.

        Clusters are numbered in the order of their smallest class.

        Examples
        --------
        >>> ClassHierarchy(np.array([[0, 2], [3, 1]]), np.array([1.5, 4.0])).cut_depth(1)
        array([0, 1, 0])

        """
        if depth < 0:
            raise UsageError(f"the depth is {depth}; it must be 0 or more")
        label: dict[str, int] = {}
        return np.array([label.setdefault(path[:depth], len(label)) for path in self.bit_paths()], np.int64)


def build_hierarchy(
    counts: ArrayLike,
    mergeable: int | None = None,
    *,
    progress: Progress | None = None,
) -> ClassHierarchy:
    """Merge classes two by two, each time the pair that loses least average mutual information.

    This is the second phase of Brown clustering (Brown et al., 1992, "Class-based n-gram models of natural
    language"), done exactly: every merger has the least loss of all pairs.

    Parameters
    ----------
    counts
        Class bigrams: ``counts[a, b]`` is how often class b follows class a.
    mergeable
        The number of classes to merge; all by default. The rows and columns after them, such as that of the
        sentence boundary, count in the criterion but stay apart.
    progress
        Called about a hundred times with the fraction of the mergers that are done, and a message.

    Returns
    -------
    ClassHierarchy
        With one merger fewer than mergeable classes.

    Notes
    -----
    With F = sum N(a,b) log N(a,b) - sum N(a,.) log N(a,.) - sum N(.,b) log N(.,b), the loss of a merger is
    the fall of F. Losses that differ by less than 1e-12 T log T, T the number of events, are the same: of
    equal pairs, that with the smallest classes (each cluster named by its smallest) is merged.

    Examples
    --------
    >>> tree = build_hierarchy([[0, 5, 5, 0], [4, 0, 0, 4], [4, 0, 0, 4], [0, 5, 5, 0]])
    >>> tree.merges.tolist()
    [[0, 3], [1, 2], [4, 5]]
    >>> tree.bit_paths()
    ['00', '10', '11', '01']

    """
    table = np.asarray(counts)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise UsageError(f"class bigram counts have the shape {table.shape}; a square is needed")
    if not np.issubdtype(table.dtype, np.integer) or (table.size and table.min() < 0):
        raise UsageError(f"class bigram counts must be integers of 0 or more, not {table.dtype} below 0")
    k = len(table) if mergeable is None else mergeable
    if not 1 <= k <= len(table):
        raise UsageError(f"cannot merge {k} classes of {len(table)}; choose 1 to {len(table)}")
    builder = _core.HierarchyBuilder(np.ascontiguousarray(table, dtype=np.int64), k)
    # Often enough for a bar and for an interrupt, too seldom to be felt.
    at_a_time = max(1, k // 100)
    total = left = k - 1
    while left:
        left = builder.run(at_a_time)
        if progress is not None:
            progress(1 - left / total, f"{total - left:,} of {total:,} mergers")
    return ClassHierarchy(builder.merges().reshape(-1, 2), builder.losses())
