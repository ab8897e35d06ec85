"""The criterion of leaving-one-out: every event is predicted by the counts of all others.

    F_LO = sum_{N(s,g)>1} N(s,g) log(N(s,g) - 1 - b) + n1 log( b (n+ - 1) / (n0 + 1) )
           - sum_s N(s) log(N(s) - 1) - sum_g N(g) log(N(g) - 1)          with b = n1 / (n1 + 2 n2)

n_r: how many cells (s, g) hold r events; n+ cells hold some, n0 none; rows and columns of empty clusters do
not count. A logarithm of something not positive counts as 0.

A sweep moves elements by the F_LO whose b, n+ and n0 are those of the counts before it: they are frozen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from naive.exchange import Pairs, moved, two_sided_counts


def log(x: float) -> float:
    return math.log(x) if x > 0 else 0.0


@dataclass(frozen=True)
class Frozen:
    """What is the same for all moves of a sweep."""

    b: float
    filled: int
    empty: int

    @property
    def single(self) -> float:
        """What a cell with one event adds."""
        return log(self.b * (self.filled - 1) / (self.empty + 1))


def freeze(pairs: Pairs, states: Sequence[int], categories: Sequence[int]) -> Frozen:
    """Return b, n+ and n0."""
    cells, of_states, of_categories = two_sided_counts(pairs, states, categories)
    n1, n2 = (sum(n == r for n in cells.values()) for r in (1, 2))
    b = n1 / (n1 + 2 * n2) if n1 else 0.0
    return Frozen(b, len(cells), len(of_states) * len(of_categories) - len(cells))


def frozen_criterion(pairs: Pairs, states: Sequence[int], categories: Sequence[int], frozen: Frozen) -> float:
    cells, of_states, of_categories = two_sided_counts(pairs, states, categories)
    return (
        sum(n * log(n - 1 - frozen.b) if n > 1 else frozen.single for n in cells.values())
        - sum(n * log(n - 1) for n in of_states.values())
        - sum(n * log(n - 1) for n in of_categories.values())
    )


def leave_one_out_criterion(pairs: Pairs, states: Sequence[int], categories: Sequence[int]) -> float:
    return frozen_criterion(pairs, states, categories, freeze(pairs, states, categories))


def frozen_scores(
    pairs: Pairs, states: Sequence[int], categories: Sequence[int], word: int, targets: int, frozen: Frozen
) -> list[float]:
    """For each category, the frozen F_LO with the word in it less that with the word in the first."""
    found = [
        frozen_criterion(pairs, states, moved(categories, word, target), frozen) for target in range(targets)
    ]
    return [value - found[0] for value in found]
