"""The words of categories: which is in which, and how probable each is in its own."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.models.discounts import absolute_discount
from stategram.text import BEGIN, END, SPECIAL_WORDS, UNKNOWN, Vocabulary, dense_ids

Categories: TypeAlias = "Mapping[str, Hashable] | NDArray[np.integer[Any]] | Sequence[int]"

_NO_CATEGORY = -1


def category_ids(vocabulary: Vocabulary, categories: Categories) -> NDArray[np.uint32]:
    """Return the category of each word, as the id of a vocabulary in which categories are the words.

    Its special words: ``<unk>`` is the category of ``<unk>`` and of all words without one; ``<s>`` and
    ``</s>`` are themselves. So no id is without a word, and no probability is lost.
    """
    labels = _labels(vocabulary, categories)
    labels[labels < 0] = _NO_CATEGORY
    with_unknown = (labels == labels[UNKNOWN]) | (labels == _NO_CATEGORY)
    with_unknown[[BEGIN, END]] = False
    others = ~with_unknown
    others[[BEGIN, END]] = False
    ids = np.full(len(vocabulary), UNKNOWN, np.uint32)
    ids[[BEGIN, END]] = BEGIN, END
    ids[others] = len(SPECIAL_WORDS) + np.unique(labels[others], return_inverse=True)[1].reshape(-1)
    return ids


def _labels(vocabulary: Vocabulary, categories: Categories) -> NDArray[np.int64]:
    if isinstance(categories, Mapping):
        words = vocabulary.words
        numbers = dense_ids(categories[word] for word in words if word in categories)
        labels = (numbers[categories[word]] if word in categories else _NO_CATEGORY for word in words)
        return np.fromiter(labels, np.int64, len(words))
    given = np.asarray(categories)
    if given.shape != (len(vocabulary),) or not np.issubdtype(given.dtype, np.integer):
        raise UsageError(
            f"the categories are an array of {given.dtype} and of shape {given.shape}; "
            f"give an integer for each of the {len(vocabulary)} words of the vocabulary"
        )
    return given.astype(np.int64)


def word_probabilities(
    counts: NDArray[np.int64], ids: NDArray[np.uint32]
) -> tuple[NDArray[np.float64], float]:
    """Return p(w | g) of each word w in its category g, and the discount D.

        p(w | g) = (max(N(w) - D, 0) + D n+(g) / n(g)) / N(g)

    n(g): the words of g, n+(g): those that occur. D is the leaving-one-out estimate n1 / (n1 + 2 n2) from the
    numbers of words that occur once and twice. A category that does not occur is uniform.
    """
    known = counts > 0
    seen = np.bincount(counts[counts < 3], minlength=3)
    (discount, _, _), _ = absolute_discount(seen.tolist())
    n = np.bincount(ids)
    total = np.bincount(ids, weights=counts)
    n_seen = np.bincount(ids, weights=known)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_category = np.where(total > 0, discount * n_seen / n / total, 1 / n)
        own = np.where(known, (counts - discount) / total[ids], 0.0)
    probs: NDArray[np.float64] = own + of_category[ids]
    probs[BEGIN] = 0.0
    return probs, discount
