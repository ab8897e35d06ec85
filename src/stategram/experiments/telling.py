"""Which classes to show first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stategram.clustering import WordClasses

__all__ = ["telling_classes"]


def telling_classes(words: WordClasses, n: int, *, least_words: float = 8.0) -> list[int]:
    """Give the classes that say most about their neighbours, best first.

    A class says as much as the mutual information, an event, with the class before and the class after.
    Classes whose words are not worth ``least_words`` equally frequent ones are left out: a single frequent
    word with a tail of rare ones tells much, but not about classes.

    Examples
    --------
    >>> words = WordClasses(n_classes=2).fit(["a b", "a b b", "a a b"])
    >>> sorted(telling_classes(words, 2, least_words=1))
    [0, 1]

    """
    counts = words.class_bigrams_.astype(np.float64)
    margins = counts.sum(axis=1)
    expected = np.outer(margins, margins) / counts.sum()
    seen = counts > 0
    information = np.zeros_like(counts)
    information[seen] = counts[seen] * np.log2(counts[seen] / expected[seen])
    telling = (information.sum(axis=0) + information.sum(axis=1)) / np.maximum(margins, 1)
    # Half an equal share of the events: what a rare class tells matters little.
    common = margins[:-1] >= counts.sum() / (2 * len(margins))
    large = np.flatnonzero((_effective_words(words) >= least_words) & common)
    return [int(c) for c in sorted(large, key=lambda c: -telling[c])[:n]]


def _effective_words(words: WordClasses) -> NDArray[np.float64]:
    """Give, for each class, 2 to the entropy of its words."""
    count = np.maximum(words.counts_, 1).astype(np.float64)
    total = np.bincount(words.labels_, weights=count)
    share = count / total[words.labels_]
    return np.exp2(np.bincount(words.labels_, weights=-share * np.log2(share)))
