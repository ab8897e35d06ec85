"""The n-grams that were chosen, and the back-off model that they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from stategram.models.backoff.trie_index import TrieIndex
from stategram.models.plain_trie import PlainTrie
from stategram.text import BEGIN

_MIN_LEFT = 5e-7
"""What is left at least for the words that are not listed after a history."""
_ROUNDING = 1e-7


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
    index = TrieIndex(
        PlainTrie(
            numbers,
            np.array(begins, np.int64),
            np.concatenate(words),
            np.concatenate(log_probs),
            np.zeros(begins[-2], np.float32),
            np.concatenate(first_child).astype(np.uint32),
        )
    )
    normalize(index)
    return index


def normalize(index: TrieIndex) -> None:
    """Compute all back-off weights; those of short histories first, as longer ones need them."""
    trie = index.trie
    for length in range(1, index.order):
        here, longer = index.level(length), index.level(length + 1)
        n = here.stop - here.start
        histories = index.parents[longer]
        owners = histories - here.start
        sums = np.bincount(owners, _power(trie.log_probs[longer]), n)
        if (sums > 1.0 - _MIN_LEFT).any():
            excess = np.log10(np.maximum(sums / (1.0 - _MIN_LEFT), 1.0))
            trie.log_probs[longer] -= excess[owners].astype(np.float32)
            sums = np.bincount(owners, _power(trie.log_probs[longer]), n)
        lower = _power(index.log10_probs_after(index.links[histories], trie.words[longer]))
        left = 1.0 - np.bincount(owners, lower, n)
        # Both may be nothing but rounding where all words are listed.
        trie.backoffs[here] = np.log10(np.maximum(1.0 - sums, _ROUNDING) / np.maximum(left, _ROUNDING))


def _power(log10: NDArray[np.float32] | NDArray[np.float64]) -> NDArray[np.float64]:
    return np.power(10.0, log10, dtype=np.float64)
