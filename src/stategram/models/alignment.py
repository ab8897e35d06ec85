"""Probabilities of a model over a larger vocabulary than its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stategram.text import UNKNOWN, Vocabulary

# Where texts have words that are <unk>, it stands for these far more often than for the words that a model
# lacks: an even share for each nearly rules them out (WikiText-2 in two halves: perplexity 376, not 233).
_SHARE_OF_UNKNOWN = 0.5


def align(own: Vocabulary, vocabulary: Vocabulary) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """Return the id in a model's own vocabulary of each word of a larger one, and its share of that word.

    Words that the model lacks are its ``<unk>``, of whose probability they have one half, in even shares, and
    ``<unk>`` itself the other half: so the probabilities of all words still sum to one.

    >>> ids, shares = align(Vocabulary.from_words(["cat"]), Vocabulary.from_words(["dog", "cat", "cow"]))
    >>> ids, shares
    (array([0, 1, 2, 0, 3, 0], dtype=uint32), array([0.5 , 1.  , 1.  , 0.25, 1.  , 0.25]))
    """
    ids = np.fromiter(map(own.id, vocabulary.words), np.uint32, len(vocabulary))
    lacking = ids == UNKNOWN
    lacking[UNKNOWN] = False
    shares = np.ones(len(vocabulary))
    if lacking.any():
        shares[UNKNOWN] = _SHARE_OF_UNKNOWN
        shares[lacking] = (1 - _SHARE_OF_UNKNOWN) / np.count_nonzero(lacking)
    return ids, shares
