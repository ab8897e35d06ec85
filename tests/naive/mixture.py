"""Mixtures by their formulas.

p(w | c) = sum_i weight_i p_i(w | c)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

Row = Sequence[float]


def em_step(events: Sequence[Row], weights: Row, centre: Row, strength: float) -> list[float]:
    """Give the next weights from the probabilities that the parts give to each event.

    w'_i = (sum_e w_i p_i(e) / sum_j w_j p_j(e) + s c_i) / (n + s)
    """
    totals = [strength * c for c in centre]
    for probs in events:
        mixed = sum(w * p for w, p in zip(weights, probs, strict=True))
        for i, (w, p) in enumerate(zip(weights, probs, strict=True)):
            totals[i] += w * p / mixed
    return [total / sum(totals) for total in totals]


def em(
    events: Sequence[Row], weights: Row, centre: Row, strength: float, iterations: int, tolerance: float
) -> tuple[list[float], int]:
    """Take steps until none of the weights grows by a factor of more than exp(tolerance)."""
    weights = list(weights)
    for done in range(iterations):
        following = em_step(events, weights, centre, strength)
        if max(math.log(b / a) for a, b in zip(weights, following, strict=True) if a > 0) <= tolerance:
            return weights, done
        weights = following
    return weights, iterations


def log_likelihood(events: Sequence[Row], weights: Row) -> float:
    return sum(math.log(sum(w * p for w, p in zip(weights, probs, strict=True))) for probs in events)
