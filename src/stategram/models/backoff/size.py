"""The size of a back-off model: its n-grams, or the bytes of its ARPA file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stategram.models.backoff.chosen import ChosenNgrams
from stategram.models.backoff.skeleton import Skeleton
from stategram.text import Vocabulary

_BYTES_OF_NUMBERS = 21
"""A probability and a back-off weight of seven digits, with signs and points, tabs and line end."""

_BYTES_OF_HEADERS = 200


class ModelSize:
    """Measures what was chosen: in bytes if a vocabulary is given, else in n-grams."""

    def __init__(self, skeleton: Skeleton, vocabulary: Vocabulary | None = None) -> None:
        index = skeleton.index
        self._words: NDArray[np.int64] = np.zeros(index.n_words, np.int64)
        self._rest, headers = 1, 0
        if vocabulary is not None:
            lengths = np.array([len(word.encode()) + 1 for word in vocabulary.words])  # and a space
            self._words = lengths[skeleton.ids]
            self._rest, headers = _BYTES_OF_NUMBERS, _BYTES_OF_HEADERS
        self._histories = np.zeros(len(index.trie.words), np.int64)
        for length in range(1, index.order + 1):
            here = index.level(length)
            self._histories[here] = self._histories[index.parents[here]] + self._words[index.trie.words[here]]
        self.of_words = headers + int(self._words.sum()) + self._rest * index.n_words
        self.of_skeleton = headers + int(self._histories.sum()) + self._rest * (len(self._histories) - 1)

    def of(self, levels: Sequence[ChosenNgrams]) -> int:
        """Return the size of the model of these n-grams and all single words."""
        size = self.of_words
        for level in levels:
            of_ngrams = self._histories[level.histories].sum() + self._words[level.words].sum()
            size += int(of_ngrams) + self._rest * len(level)
        return size
