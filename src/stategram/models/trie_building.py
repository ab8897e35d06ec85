"""N-grams of any order put into their places in a plain trie, one length after the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stategram.models.plain_trie import PlainTrie


class TrieShape:
    """The n-grams of a trie that is being built, without their probabilities.

    Examples
    --------
    >>> shape = TrieShape(np.arange(3, dtype=np.uint32))
    >>> shape.add_level(np.array([2, 0, 2]), np.array([1, 2, 1]))  # 2 1, 0 2 and 2 1 again
    array([1, 0, 1])
    >>> shape.begins, shape.trie([np.zeros(3), np.zeros(2)], [np.zeros(3)]).first_child
    ([0, 1, 4, 6], array([1, 4, 5, 5, 6], dtype=uint32))

    """

    def __init__(self, numbers: NDArray[np.uint32]) -> None:
        """Start with all words: `numbers` has the trie's number of each."""
        self.numbers = numbers
        self.begins = [0, 1, 1 + len(numbers)]
        self._words = [np.zeros(1, np.uint32), np.arange(len(numbers), dtype=np.uint32)]
        self._first_child = [np.ones(1, np.uint32)]

    def add_level(self, parents: NDArray[np.int64], words: NDArray[np.int64]) -> NDArray[np.int64]:
        """Add n-grams with one word more; return the place of each among those of its length.

        `parents` are the places of their starts among the n-grams of the length before. An n-gram may be
        given several times.
        """
        places: NDArray[np.int64]
        found, places = np.unique(parents << 32 | words, return_inverse=True)
        n_parents = self.begins[-1] - self.begins[-2]
        children = np.searchsorted(found, np.arange(n_parents) << 32) + self.begins[-1]
        self._first_child.append(children.astype(np.uint32))
        self._words.append((found & 0xFFFFFFFF).astype(np.uint32))
        self.begins.append(self.begins[-1] + len(found))
        return places.reshape(-1)

    def trie(
        self, log_probs: list[NDArray[np.float64]], backoffs: list[NDArray[np.float64]] | None = None
    ) -> PlainTrie:
        """Return the trie: `log_probs` of the n-grams of each length, `backoffs` of those that have some."""
        inner = self.begins[-2]
        root = np.zeros(1)
        return PlainTrie(
            self.numbers,
            np.array(self.begins, np.int64),
            np.concatenate(self._words),
            np.concatenate([root, *log_probs]).astype(np.float32),
            np.concatenate([root, *backoffs]).astype(np.float32) if backoffs else np.zeros(inner, np.float32),
            np.concatenate([*self._first_child, [self.begins[-1]]]).astype(np.uint32),
        )


def parents_of(trie: PlainTrie) -> NDArray[np.int64]:
    """Return the start of each n-gram, by its node; 0 for the root."""
    n_inner = len(trie.backoffs)
    children = trie.first_child[1:] - trie.first_child[:-1]
    parents = np.repeat(np.arange(n_inner), children)
    return np.concatenate([np.zeros(1, np.int64), parents])
