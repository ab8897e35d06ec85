"""The entropy of a distribution, in nats, and what a word takes of it."""

from __future__ import annotations

import math
from collections.abc import Sequence


def entropy(probabilities: Sequence[float]) -> float:
    """- sum p ln p, where 0 ln 0 is 0; the sum of the probabilities need not be one."""
    return -sum(p * math.log(p) for p in probabilities if p > 0)


def category_entropy(
    probabilities: Sequence[float], masses: Sequence[float], entropies: Sequence[float]
) -> float:
    """The same where each p is that of m words, which have the entropy e among themselves."""
    rows = zip(probabilities, masses, entropies, strict=True)
    return sum(e * p - m * p * math.log(p) for p, m, e in rows if p > 0)


def entropy_reduction(before: float, after: float | None) -> float | None:
    """By how much the entropy falls from before a word to after it, 0 if it rises; None after the last."""
    return None if after is None else max(0.0, before - after)
