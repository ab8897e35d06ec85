"""Probabilities of a model over a larger vocabulary than its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stategram.text import UNKNOWN, Vocabulary


def align(own: Vocabulary, vocabulary: Vocabulary) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """Return the id in a model's own vocabulary of each word of a larger one, and how many share it.

    Words that the model lacks are its ``<unk>``, whose probability they share evenly with ``<unk>`` itself:
    so the probabilities of all words still sum to one.

    >>> ids, shared_by = align(Vocabulary.from_words(["cat"]), Vocabulary.from_words(["dog", "cat", "cow"]))
    >>> ids, shared_by
    (array([0, 1, 2, 0, 3, 0], dtype=uint32), array([3., 1., 1., 3., 1., 3.]))
    """
    ids = np.fromiter(map(own.id, vocabulary.words), np.uint32, len(vocabulary))
    shared_by = np.where(ids == UNKNOWN, np.count_nonzero(ids == UNKNOWN), 1.0)
    return ids, shared_by
