"""The n-grams of a back-off model as flat arrays: small, mapped from disk, quick to search.

The trie has a node for each n-gram, ordered by its length and then by its words. Node 0 is the root, the
empty n-gram; nodes ``begins[k] .. begins[k + 1] - 1`` are the n-grams of k words. The children of a node are
the n-grams with one more word at their end; they are neighbours, in rising order of that word.

Words have numbers of their own in the trie, those of the vocabulary shuffled: the children of any node then
lie evenly between 0 and the size of the vocabulary, and the place of a word among them can be guessed
(interpolation search) instead of searched by halves.

A node also holds a `link`: the longest proper suffix (the n-gram without its first words) that has children
or a back-off weight other than 1, in the end the root. Where a history has no such child, the search goes on
at its link:

    p(w | node) = p(child)                          if the node has a child w
                  backoff(node) * p(w | link)       else

The root has a child for every word of the vocabulary, in the order of the numbers: node 1 + number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class NgramTrie:
    """The arrays of a back-off model. All logarithms are to the base of 10, as in ARPA files.

    Parameters
    ----------
    numbers
        The trie's number of each word of the vocabulary: a permutation of its ids.
    begins
        `order` + 2 node numbers: n-grams of k words are the nodes ``begins[k] .. begins[k + 1] - 1``;
        ``begins[0]`` is 0, ``begins[1]`` is 1, the last is the number of all nodes.
    words
        For each node, the trie's number of its last word; 0 for the root.
    nodes
        For each node of fewer than `order` words four values of 32 bits: log10 probability and log10 back-off
        weight (both bits of a float32), first child, link. One more row closes the array: its first child is
        the number of all nodes. The children of node i are ``nodes[i, 2] .. nodes[i + 1, 2] - 1``.
    leaves
        For each node of `order` words two values: log10 probability (bits of a float32), link.

    """

    numbers: NDArray[np.uint32]
    begins: NDArray[np.int64]
    words: NDArray[np.uint32]
    nodes: NDArray[np.uint32]
    leaves: NDArray[np.uint32]

    @property
    def order(self) -> int:
        """The number of words of the longest n-grams."""
        return len(self.begins) - 2

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of n-grams of 1, 2, ..., `order` words."""
        return tuple(np.diff(self.begins)[1:].tolist())
