"""Searching plain n-grams, many at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.models.plain_trie import PlainTrie
from stategram.resources import Resources


@dataclass(frozen=True, eq=False)
class TrieIndex:
    """The n-grams of a back-off model, with what a search for them needs."""

    trie: PlainTrie

    @property
    def order(self) -> int:
        """The number of words of the longest n-grams."""
        return self.trie.order

    @property
    def n_words(self) -> int:
        """The size of the vocabulary."""
        return len(self.trie.numbers)

    @property
    def n_histories(self) -> int:
        """The number of nodes of fewer than `order` words, which can have children."""
        return int(self.trie.begins[self.order])

    def level(self, length: int) -> slice:
        """Return the nodes of so many words."""
        return slice(int(self.trie.begins[length]), int(self.trie.begins[length + 1]))

    @cached_property
    def probs(self) -> NDArray[np.float32]:
        """The probability of each node."""
        return np.power(10.0, self.trie.log_probs, dtype=np.float32)

    @cached_property
    def backoffs(self) -> NDArray[np.float32]:
        """The back-off weight of each history."""
        return np.power(10.0, self.trie.backoffs, dtype=np.float32)

    @cached_property
    def parents(self) -> NDArray[np.uint32]:
        """The node without its last word, of each node; the root is its own."""
        first = self.trie.first_child.astype(np.int64)
        counts = first[1:] - first[:-1]
        nodes = np.repeat(np.arange(self.n_histories, dtype=np.uint32), counts)
        return np.concatenate((np.zeros(1, np.uint32), nodes))

    @cached_property
    def _keys(self) -> NDArray[np.uint64]:
        """For each node a number of its parent and its word, which rises from node to node."""
        return self.parents.astype(np.uint64) * np.uint64(self.n_words) + self.trie.words

    def children(self, nodes: NDArray[np.uint32], words: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Return the child of each node with a word; 0 where there is none, and for leaves."""
        keys = nodes.astype(np.uint64) * np.uint64(self.n_words) + words
        places = 1 + np.searchsorted(self._keys[1:], keys)
        places[places == len(self._keys)] = 0
        found: NDArray[np.uint32] = np.where(self._keys[places] == keys, places, 0).astype(np.uint32)
        return found

    @cached_property
    def links(self) -> NDArray[np.uint32]:
        """The longest proper suffix of each node that is a node: where the search goes on."""
        links = np.zeros(len(self.trie.words), np.uint32)
        for length in range(2, self.order + 1):
            here = self.level(length)
            words, shorter = self.trie.words[here], links[self.parents[here]]
            found = self.children(shorter, words)
            while (missing := np.flatnonzero((found == 0) & (shorter > 0))).size:
                shorter[missing] = links[shorter[missing]]
                found[missing] = self.children(shorter[missing], words[missing])
            links[here] = found
        return links

    @cached_property
    def lengths(self) -> NDArray[np.uint8]:
        """The number of words of each node."""
        sizes = np.diff(self.trie.begins)
        return np.repeat(np.arange(len(sizes), dtype=np.uint8), sizes)

    def words_of(self, nodes: NDArray[np.uint32], width: int) -> NDArray[np.uint32]:
        """Return the last `width` words of each node, the last one in the last column; 0 before the first."""
        rows = np.zeros((len(nodes), width), np.uint32)
        for column in range(width - 1, -1, -1):
            rows[:, column] = self.trie.words[nodes]
            nodes = self.parents[nodes]
        return rows

    def find(self, words: NDArray[np.uint32], lengths: NDArray[np.uint8]) -> NDArray[np.uint32]:
        """Return the longest suffix of each row of words that is a history; `lengths` of them count."""
        found = np.zeros(len(words), np.uint32)
        width = words.shape[1]
        for length in range(min(width, self.order - 1), 0, -1):
            rows = np.flatnonzero((found == 0) & (lengths >= length))
            nodes = 1 + words[rows, width - length]
            for column in range(width - length + 1, width):
                nodes = self.children(nodes, words[rows, column])
                rows, nodes = rows[nodes > 0], nodes[nodes > 0]
            found[rows] = nodes
        return found

    def log10_probs_after(self, nodes: NDArray[np.uint32], words: NDArray[np.uint32]) -> NDArray[np.float64]:
        """Return the log10 probability of each word after a node."""
        nodes, backed_off = nodes.copy(), np.zeros(len(nodes))
        found = self.children(nodes, words)
        while (missing := np.flatnonzero(found == 0)).size:
            backed_off[missing] += self.trie.backoffs[nodes[missing]]
            nodes[missing] = self.links[nodes[missing]]
            found[missing] = self.children(nodes[missing], words[missing])
        log_probs: NDArray[np.float64] = backed_off + self.trie.log_probs[found]
        return log_probs

    def probs_after(self, nodes: NDArray[np.uint32], words: NDArray[np.uint32]) -> NDArray[np.float64]:
        """Return the probability of each word after a node."""
        return np.power(10.0, self.log10_probs_after(nodes, words))

    def sums_of_children(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return for each history the sum of the values of its children, of which each node has one."""
        sums: NDArray[Any] = np.bincount(self.parents[1:], values[1:], self.n_histories)
        return sums

    def add_rows(
        self, nodes: NDArray[np.uint32], weights: NDArray[np.float32], rows: NDArray[np.float32]
    ) -> None:
        """Add to each row the weighted distribution after a node, by the numbers of words."""
        _core.add_backoff_rows(
            self.probs,
            self.backoffs,
            self.trie.words,
            self.trie.first_child,
            self.links,
            nodes,
            weights,
            self.n_words,
            rows.reshape(-1),
            Resources.current().threads,
        )
