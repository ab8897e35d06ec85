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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.counts import Workspace
from stategram.errors import StategramError
from stategram.models.plain_trie import PlainTrie
from stategram.models.smoothing import Estimates
from stategram.resources import Resources

_NONE = np.empty(0, np.uint32)


@dataclass(frozen=True, eq=False)
class NgramTrie:
    """The arrays of a back-off model. All logarithms are to the base of 10, as in ARPA files."""

    numbers: NDArray[np.uint32]
    """The trie's number of each word of the vocabulary: a permutation of its ids."""
    begins: NDArray[np.int64]
    """`order` + 2 node numbers, where n-grams of each length begin; the last is the number of all nodes."""
    words: NDArray[np.uint32]
    """For each node, the trie's number of its last word; 0 for the root."""
    nodes: NDArray[np.uint32]
    """For each node of fewer than `order` words four values of 32 bits: log10 probability and log10 back-off
    weight (both bits of a float32), first child, link. One more row closes the array: its first child is the
    number of all nodes. The children of node i are ``nodes[i, 2] .. nodes[i + 1, 2] - 1``."""
    leaves: NDArray[np.uint32]
    """For each node of `order` words two values: log10 probability (bits of a float32), link."""

    @property
    def order(self) -> int:
        """The number of words of the longest n-grams."""
        return len(self.begins) - 2

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of n-grams of 1, 2, ..., `order` words."""
        return tuple(np.diff(self.begins)[1:].tolist())

    def plain(self) -> PlainTrie:
        """Return the same n-grams as plain arrays."""
        floats = self.nodes.view(np.float32)
        return PlainTrie(
            self.numbers,
            self.begins,
            self.words,
            np.concatenate([floats[:-1, 0], self.leaves.view(np.float32)[:, 0]]),
            np.ascontiguousarray(floats[:-1, 1]),
            np.ascontiguousarray(self.nodes[:, 2]),
        )

    @classmethod
    def from_plain(cls, plain: PlainTrie) -> NgramTrie:
        """Inverse of `plain`."""
        n_inner = len(plain.backoffs)
        nodes = np.zeros((n_inner + 1, 4), np.uint32)
        nodes.view(np.float32)[:-1, 0] = plain.log_probs[:n_inner]
        nodes.view(np.float32)[:-1, 1] = plain.backoffs
        nodes[:, 2] = plain.first_child
        leaves = np.zeros((len(plain.words) - n_inner, 2), np.uint32)
        leaves.view(np.float32)[:, 0] = plain.log_probs[n_inner:]
        threads = Resources.current().threads
        _core.set_links(
            plain.numbers, plain.begins, plain.words, nodes.reshape(-1), leaves.reshape(-1), threads
        )
        return cls(plain.numbers, plain.begins, plain.words, nodes, leaves)


def assemble(estimates: Estimates) -> NgramTrie:
    """Return the trie of all n-grams that are kept. The estimates are used up on the way."""
    levels, workspace = estimates.levels, estimates.workspace
    order = len(levels) - 1
    ranks = [_ranks(level.keep, workspace) for level in levels]
    sizes = [int(rank[-1]) if len(rank) else len(level) for rank, level in zip(ranks, levels, strict=True)]
    begins = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    if begins[-1] >= 2**32:
        raise StategramError(
            f"the model would have {begins[-1]:,} n-grams, more than {2**32 - 1:,}; "
            "drop rare ones (--min-count) or take shorter ones (--order)"
        )
    n_nodes = int(begins[order])
    words: NDArray[Any] = workspace.empty(int(begins[-1]), np.uint32)
    nodes: NDArray[Any] = workspace.empty(4 * (n_nodes + 1), np.uint32)
    leaves: NDArray[Any] = workspace.empty(2 * sizes[order], np.uint32)
    nodes[4 * n_nodes :] = (0, 0, begins[-1], 0)
    links: NDArray[Any] = np.zeros(1, np.uint32)
    ranks.append(_NONE)
    for k, level in enumerate(levels):
        if k > 0:
            lower, lower_links = levels[k - 1], links
            links = workspace.empty(len(level), np.uint32)
            for begin, end in workspace.chunks(len(level)):
                _core.link_level(
                    level.suffixes,
                    lower.first_child,
                    lower_links,
                    ranks[k - 1],
                    ranks[k],
                    int(begins[k - 1]),
                    begin,
                    end,
                    links,
                    Resources.current().threads,
                )
            lower.first_child = lower.words = lower.suffixes = _NONE
            lower.log_probs = lower.backoffs = np.empty(0, np.float32)
        first, last = int(begins[k]), int(begins[k + 1])
        rows = leaves if k == order else nodes[4 * first : 4 * last]
        for begin, end in workspace.chunks(len(level)):
            _core.assemble_level(
                level.words,
                level.log_probs,
                level.backoffs,
                level.first_child,
                links,
                ranks[k],
                ranks[k + 1],
                last,
                begin,
                end,
                words[first:last],
                rows,
                Resources.current().threads,
            )
    return NgramTrie(estimates.numbers, begins, words, nodes.reshape(-1, 4), leaves.reshape(-1, 2))


def _ranks(keep: NDArray[np.uint8], workspace: Workspace) -> NDArray[np.uint32]:
    """Return for each n-gram, and one more, how many before it are kept; empty if all are."""
    if len(keep) == 0:
        return _NONE
    ranks: NDArray[Any] = workspace.empty(len(keep) + 1, np.uint32)
    ranks[0] = 0
    np.cumsum(keep, out=ranks[1:], dtype=np.uint32)
    return ranks
