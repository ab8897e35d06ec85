"""The n-grams of a back-off model as plain arrays: easy to make, to change and to write to files."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.resources import Resources


@dataclass(frozen=True, eq=False)
class PlainTrie:
    """A node for each n-gram, ordered by its length and then by its words; node 0 is the root, the empty one.

    Nodes ``begins[k] .. begins[k + 1] - 1`` are the n-grams of k words. The children of a node are the
    n-grams with one more word at their end; they are neighbours, in rising order of that word. The root has a
    child for each word of the vocabulary. All logarithms are to the base of 10, as in ARPA files.
    """

    numbers: NDArray[np.uint32]
    """The trie's number of each word of the vocabulary: a permutation of its ids."""
    begins: NDArray[np.int64]
    """`order` + 2 node numbers, where n-grams of each length begin; the last is the number of all nodes."""
    words: NDArray[np.uint32]
    """For each node, the trie's number of its last word; 0 for the root."""
    log_probs: NDArray[np.float32]
    """For each node its log10 probability; 0 for the root."""
    backoffs: NDArray[np.float32]
    """For each node of fewer than `order` words its log10 back-off weight."""
    first_child: NDArray[np.uint32]
    """For each node of fewer than `order` words, and one more: the children of node i are
    ``first_child[i] .. first_child[i + 1] - 1``."""

    @property
    def order(self) -> int:
        """The number of words of the longest n-grams."""
        return len(self.begins) - 2

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of n-grams of 1, 2, ..., `order` words."""
        return tuple(np.diff(self.begins)[1:].tolist())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by their names."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def check(self) -> None:
        """Check every n-gram; ValueError if the arrays are inconsistent."""
        _core.check_plain_trie(**self.arrays(), threads=Resources.current().threads)
