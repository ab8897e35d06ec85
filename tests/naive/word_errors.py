"""Word errors, said plainly, and how those of the best hypotheses depend on a weight.

    cost(i, j) = min( cost(i-1, j-1) + substitution if words differ,
                      cost(i-1, j) + insertion, cost(i, j-1) + deletion )

where a cost is (errors, insertions and deletions): the fewest errors, then the most substitutions.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise

Hypothesis = tuple[int, int, int]  # offset, slope, errors


def word_errors(words: Sequence[int], said: Sequence[int]) -> tuple[int, int, int]:
    """Return substitutions, deletions and insertions."""
    costs: dict[tuple[int, int], tuple[int, int]] = {}
    for i in range(len(words) + 1):
        for j in range(len(said) + 1):
            ways = [(0, 0)] if i == j == 0 else []
            if i and j:
                errors, apart = costs[i - 1, j - 1]
                ways.append((errors + (words[i - 1] != said[j - 1]), apart))
            for before in ([(i - 1, j)] if i else []) + ([(i, j - 1)] if j else []):
                errors, apart = costs[before]
                ways.append((errors + 1, apart + 1))
            costs[i, j] = min(ways)
    errors, apart = costs[len(words), len(said)]
    inserted = (apart + len(words) - len(said)) // 2
    return errors - apart, apart - inserted, inserted


def best_errors(utterances: Sequence[Sequence[Hypothesis]], weight: Fraction) -> int:
    """Return the errors of the best hypotheses, of equal ones the first."""
    return sum(max(lines, key=lambda line: line[0] + weight * line[1])[2] for lines in utterances)


def error_envelope(
    utterances: Sequence[Sequence[Hypothesis]], low: int, high: int
) -> list[tuple[Fraction, int]]:
    """Return the pieces of weights between two bounds: where each begins, and its errors."""
    crossings = {
        Fraction(a[0] - b[0], b[1] - a[1])
        for lines in utterances
        for a, b in combinations(lines, 2)
        if a[1] != b[1]
    }
    edges = [Fraction(low), *sorted(x for x in crossings if low < x < high), Fraction(high)]
    pieces: list[tuple[Fraction, int]] = []
    for begin, end in pairwise(edges):
        errors = best_errors(utterances, (begin + end) / 2)
        if not pieces or pieces[-1][1] != errors:
            pieces.append((begin, errors))
    return pieces
