"""Word errors, said plainly, and those of the best hypotheses at a weight.

    cost(i, j) = min( cost(i-1, j-1) + substitution if words differ,
                      cost(i-1, j) + insertion, cost(i, j-1) + deletion )

where a cost is (errors, insertions and deletions): the fewest errors, then the most substitutions.
"""

from __future__ import annotations

from collections.abc import Sequence

Hypothesis = tuple[int, int, int]  # offset, slope, errors


def word_errors(words: Sequence[object], said: Sequence[object]) -> tuple[int, int, int]:
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


def best_errors(utterances: Sequence[Sequence[Hypothesis]], weight: float) -> int:
    """Return the errors of the best hypotheses, of equal ones the first."""
    return sum(max(lines, key=lambda line: line[0] + weight * line[1])[2] for lines in utterances)
