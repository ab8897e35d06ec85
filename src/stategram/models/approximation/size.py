"""The size of a back-off model: its n-grams, or the bytes of its ARPA file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stategram.models.approximation.chosen import ChosenNgrams
from stategram.models.approximation.skeleton import Skeleton
from stategram.text import Vocabulary

_BYTES_OF_PROBABILITY, _BYTES_OF_BACKOFF = 12, 11
"""Seven digits with a sign, a point and a tab; the probability also with the end of the line."""

_BYTES_OF_HEADERS = 200


class ModelSize:
    """Measures what was chosen: in bytes if a vocabulary is given, else in n-grams."""

    def __init__(self, skeleton: Skeleton, vocabulary: Vocabulary | None = None) -> None:
        index = skeleton.index
        self._words: NDArray[np.int64] = np.zeros(index.n_words, np.int64)
        self._probability, self._backoff, headers = 1, 0, 0
        if vocabulary is not None:
            lengths = np.array([len(word.encode()) + 1 for word in vocabulary.words])  # and a space
            self._words = lengths[skeleton.ids]
            self._probability, self._backoff = _BYTES_OF_PROBABILITY, _BYTES_OF_BACKOFF
            headers = _BYTES_OF_HEADERS
        self._histories = np.zeros(len(index.trie.words), np.int64)
        for length in range(1, index.order + 1):
            here = index.level(length)
            self._histories[here] = self._histories[index.parents[here]] + self._words[index.trie.words[here]]
        self.of_words = headers + int(self._words.sum()) + self._probability * index.n_words
        n_ngrams, n_histories = len(self._histories) - 1, index.n_histories - 1
        of_numbers = self._probability * n_ngrams + self._backoff * n_histories
        self.of_skeleton = headers + int(self._histories.sum()) + of_numbers

    def of(self, levels: Sequence[ChosenNgrams]) -> int:
        """Return the size of the model of these n-grams and all single words."""
        size = self.of_words
        for level in levels:
            size += int(self._histories[level.histories].sum() + self._words[level.words].sum())
            size += self._probability * len(level) + self._backoff * len(np.unique(level.histories))
        return size
