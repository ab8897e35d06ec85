"""Discounts of counts, which leave probability for unseen words, from counts of counts.

``n[r]`` is the number of n-grams that occur r times.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.text import BEGIN


def kneser_ney_discounts(n: Sequence[int]) -> tuple[tuple[float, float, float], str | None]:
    """Return the discounts of counts of 1, 2 and more (Chen and Goodman 1998); a note on defaults.

    Y = n1 / (n1 + 2 n2),  D1 = 1 - 2 Y n2 / n1,  D2 = 2 - 3 Y n3 / n2,  D3 = 3 - 4 Y n4 / n3
    """
    if all(n[r] > 0 for r in range(1, 5)):
        y = n[1] / (n[1] + 2 * n[2])
        found = (
            1 - 2 * y * n[2] / n[1],
            2 - 3 * y * n[3] / n[2],
            3 - 4 * y * n[4] / n[3],
        )
        # A discount of 0 could leave a history without any weight for unseen words.
        if all(0 < discount <= r for r, discount in enumerate(found, 1)):
            return found, None
    return (0.5, 1.0, 1.5), (
        "too few rare ones to estimate discounts from; the default discounts 0.5, 1 and 1.5 are used"
    )


def absolute_discount(n: Sequence[int]) -> tuple[tuple[float, float, float], str | None]:
    """Return the discount D = n1 / (n1 + 2 n2) of counts of 1, 2 and more (Ney, Essen and Kneser 1994)."""
    if n[1] > 0 and n[2] > 0:
        found = n[1] / (n[1] + 2 * n[2])
        return (found, found, found), None
    return (0.5, 0.5, 0.5), "too few rare ones to estimate a discount from; 0.5 is used"


def good_turing_ratios(n: Sequence[int], max_count: int) -> tuple[list[float], str | None]:
    """Return the ratio by which counts of 0, 1, ..., `max_count` and more are multiplied (Katz 1987).

    r* = (r + 1) n[r + 1] / n[r],  A = (m + 1) n[m + 1] / n[1],  ratio = (r* / r - A) / (1 - A),
    m = max_count. The ratio of all greater counts is 1, and so is one that is not between 0 and 1.
    """
    ratios = [0.0] + [1.0] * (max_count + 1)
    wrong = []
    a = (max_count + 1) * n[max_count + 1] / n[1] if n[1] > 0 else 1.0
    for r in range(1, max_count + 1):
        if n[r] > 0 and n[r + 1] > 0 and a < 1:
            ratio = ((r + 1) * n[r + 1] / (r * n[r]) - a) / (1 - a)
            if 0 < ratio <= 1:
                ratios[r] = ratio
                continue
        wrong.append(r)
    note = f"counts of {', '.join(map(str, wrong))} are not discounted: too irregular" if wrong else None
    return ratios, note


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


def category_sums(
    word_probs: NDArray[np.float64], ids: NDArray[np.uint32], n_categories: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return for each category g the sum of p(w | g) over its words, which is 1 or 0, and their entropy.

    >>> category_sums(np.array([0.5, 0.5, 1.0]), np.array([0, 0, 2], np.uint32), 3)
    (array([1., 0., 1.]), array([0.69314718, 0.        , 0.        ]))
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(word_probs > 0, -word_probs * np.log(word_probs), 0.0)
    sums: NDArray[Any] = np.bincount(ids, word_probs, n_categories)
    entropies: NDArray[Any] = np.bincount(ids, terms, n_categories)
    return sums, entropies
