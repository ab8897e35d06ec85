"""Mixtures by their formulas.

p(w | c) = sum_i weight_i p_i(w | c)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

Row = Sequence[float]


def em_step(events: Sequence[Row], weights: Row) -> list[float]:
    """Give the next weights from the probabilities that the parts give to each event.

    w'_i = sum_e w_i p_i(e) / sum_j w_j p_j(e) / n
    """
    totals = [0.0 for _ in weights]
    for probs in events:
        mixed = sum(w * p for w, p in zip(weights, probs, strict=True))
        for i, (w, p) in enumerate(zip(weights, probs, strict=True)):
            totals[i] += w * p / mixed
    return [total / sum(totals) for total in totals]


def em(events: Sequence[Row], weights: Row, iterations: int) -> list[float]:
    """Take so many steps."""
    for _ in range(iterations):
        weights = em_step(events, weights)
    return list(weights)


def bucket(features: Row, edges: Sequence[Row]) -> int:
    """Give the bucket of a history in a table: of a value of the first feature, and a range of the second."""
    if not features:
        return 0
    value = min(max(int(features[0]), 0), len(edges) - 1)
    before = sum(len(of_value) + 1 for of_value in edges[:value])
    return before + (sum(edge <= features[1] for edge in edges[value]) if len(features) > 1 else 0)


def mixed_log_prob(weights: Row, log_probs: Row) -> float:
    """log sum_i weight_i p_i, where even the greatest p_i may be too small for a float."""
    greatest = max(log_probs)
    if greatest == -math.inf:
        return greatest
    terms = (w * math.exp(log - greatest) for w, log in zip(weights, log_probs, strict=True))
    return math.log(math.fsum(terms)) + greatest


def gate_weights(rows: Sequence[Row]) -> list[float]:
    """Give the weights of an event from the rows of factors that it looks up: products that sum to one."""
    products = [math.prod(column) for column in zip(*rows, strict=True)]
    return [product / sum(products) for product in products]


def gate_log_likelihood(
    events: Sequence[Row], rows: Sequence[Sequence[int]], log_factors: Sequence[Row]
) -> float:
    """Give the log-likelihood of events, of which `rows` has the rows that each of them looks up."""
    factors = [[math.exp(number) for number in row] for row in log_factors]
    total = 0.0
    for probs, looked_up in zip(events, rows, strict=True):
        weights = gate_weights([factors[row] for row in looked_up])
        total += math.log(sum(w * p for w, p in zip(weights, probs, strict=True)))
    return total


def log_likelihood(events: Sequence[Row], weights: Row) -> float:
    return sum(math.log(sum(w * p for w, p in zip(weights, probs, strict=True))) for probs in events)
