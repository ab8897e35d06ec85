"""The n-grams that were chosen, and the back-off model that they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from stategram.models.approximation.trie_index import TrieIndex
from stategram.models.plain_trie import PlainTrie
from stategram.models.pruning import normalize_trie
from stategram.models.trie_building import parents_of
from stategram.text import BEGIN

_MIN_LEFT = 5e-7
"""What is left at least for the words that are not listed after a history."""


@dataclass(frozen=True, eq=False)
class ChosenNgrams:
    """N-grams of one length."""

    histories: NDArray[np.uint32]
    """Their words but the last, as nodes of the skeleton."""
    words: NDArray[np.uint32]
    """Their last words, as numbers of the skeleton."""
    probs: NDArray[np.float32]
    gains: NDArray[np.float32]
    """By how much each lowers the logarithm of the perplexity."""

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, places: NDArray[np.int64] | NDArray[np.bool_]) -> ChosenNgrams:
        return ChosenNgrams(*(getattr(self, one.name)[places] for one in fields(self)))

    @classmethod
    def join(cls, parts: Sequence[ChosenNgrams]) -> ChosenNgrams:
        """Return the n-grams of all."""
        types = (np.uint32, np.uint32, np.float32, np.float32)
        return cls(
            *(
                np.concatenate([np.empty(0, type), *(getattr(part, one.name) for part in parts)])
                for one, type in zip(fields(cls), types, strict=True)
            )
        )


def close(
    skeleton: TrieIndex, levels: Sequence[ChosenNgrams], probs: NDArray[np.float32]
) -> list[ChosenNgrams]:
    """Add the starts of longer n-grams where they are missing.

    `levels` has the n-grams of 2, 3 ... words. Histories are nodes of the skeleton, and so is what is
    missing; `probs` has a probability for each node.
    """
    closed: list[ChosenNgrams] = []
    needed = np.empty(0, np.uint32)
    for level in reversed(levels):
        found = skeleton.children(level.histories, level.words)
        added = np.setdiff1d(needed, found)
        none = np.zeros(len(added), np.float32)
        starts = ChosenNgrams(skeleton.parents[added], skeleton.trie.words[added], probs[added], none)
        closed.append(ChosenNgrams.join((level, starts)))
        needed = np.unique(closed[-1].histories)
    return closed[::-1]


def assemble(skeleton: TrieIndex, unigrams: NDArray[np.float32], levels: Sequence[ChosenNgrams]) -> TrieIndex:
    """Return the back-off model of n-grams with all their starts; after each history it sums to one."""
    numbers, n_words = skeleton.trie.numbers, skeleton.n_words
    with np.errstate(divide="ignore"):
        of_words = np.log10(unigrams)
    of_words[numbers[BEGIN]] = skeleton.trie.log_probs[1 + numbers[BEGIN]]
    log_probs = [np.zeros(1, np.float32), of_words]
    words = [np.zeros(1, np.uint32), np.arange(n_words, dtype=np.uint32)]
    begins = [0, 1, 1 + n_words]
    first_child = [np.ones(1, np.int64)]
    # The node of each history of the skeleton in the new model.
    places = np.arange(len(skeleton.trie.words), dtype=np.uint32)
    for level in levels:
        parents = places[level.histories]
        order = np.lexsort((level.words, parents))
        counts = np.bincount(parents - begins[-2], minlength=begins[-1] - begins[-2])
        first_child.append(begins[-1] + np.cumsum(counts) - counts)
        words.append(level.words[order])
        log_probs.append(np.log10(level.probs[order]))
        nodes = skeleton.children(level.histories, level.words)[order]
        known = np.flatnonzero(nodes)
        places[nodes[known]] = begins[-1] + known
        begins.append(begins[-1] + len(order))
    first_child.append(np.array([begins[-1]]))
    trie = PlainTrie(
        numbers,
        np.array(begins, np.int64),
        np.concatenate(words),
        np.concatenate(log_probs),
        np.zeros(begins[-2], np.float32),
        np.concatenate(first_child).astype(np.uint32),
    )
    return TrieIndex(normalize(trie))


def normalize(trie: PlainTrie) -> PlainTrie:
    """Return the same n-grams with back-off weights, and less probability where nothing would be left."""
    parents = parents_of(trie)
    log_probs = trie.log_probs.copy()
    longer = slice(int(trie.begins[2]), None)
    sums = np.bincount(
        parents[longer], np.power(10.0, log_probs[longer], dtype=np.float64), len(trie.backoffs)
    )
    if (sums > 1.0 - _MIN_LEFT).any():
        excess = np.log10(np.maximum(sums / (1.0 - _MIN_LEFT), 1.0))
        log_probs[longer] -= excess[parents[longer]].astype(np.float32)
    return normalize_trie(replace(trie, log_probs=log_probs))
