"""How often each category follows each state: the cells of a table that are not zero, and its smoothing.

A table of many states and categories is mostly empty. Only cells that are not zero are kept, so that a model
takes as much memory as its file, whatever numbers of states and categories the manifest has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.storage import array_of

# What is taken from counts of 1, 2 and more. States are fitted to these very counts, which are therefore too
# high: the discounts are larger than those that counts of counts suggest. Chosen on held-out text, the same
# for two million and for 40 million words.
_DISCOUNTS = np.array([0.0, 0.7, 1.1, 1.5])


@dataclass(frozen=True, eq=False)
class StateCounts:
    """A table of counts with a row for each state and a column for each category.

    >>> counts = StateCounts.from_table(np.array([[0, 2, 1], [0, 0, 0], [5, 0, 0]]))
    >>> counts.shape, counts.row(0).tolist(), counts.of_states.tolist(), counts.of_categories.tolist()
    ((3, 3), [0, 2, 1], [3, 0, 5], [5, 2, 1])
    """

    offsets: NDArray[np.int64]
    """The cells of state ``s`` are those from ``offsets[s]`` to ``offsets[s + 1] - 1``."""
    columns: NDArray[np.uint32]
    """The category of each cell, rising in each row."""
    counts: NDArray[np.uint32]
    """The count of each cell, above zero."""
    n_categories: int

    @classmethod
    def from_table(cls, table: NDArray[np.integer[Any]]) -> StateCounts:
        """Return the counts of a table."""
        rows, columns = np.nonzero(table)
        counts = table[rows, columns].astype(np.uint32)
        return cls(_offsets(rows, len(table)), columns.astype(np.uint32), counts, table.shape[1])

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], n_states: int, n_categories: int) -> StateCounts:
        """Inverse of `arrays`; ValueError for anything else."""
        counts = array_of(arrays, "counts", np.uint32, None)
        rows, columns = (array_of(arrays, name, np.uint32, len(counts)) for name in ("rows", "columns"))
        if int(rows.max(initial=0)) >= n_states or int(columns.max(initial=0)) >= n_categories:
            raise ValueError("a count is that of no state or category")
        places = rows.astype(np.uint64) * np.uint64(n_categories) + columns
        if (places[1:] <= places[:-1]).any() or not counts.all():
            raise ValueError("its counts are not in order")
        return cls(_offsets(rows, n_states), columns, counts, n_categories)

    def arrays(self) -> dict[str, NDArray[np.uint32]]:
        """Return the row, the column and the count of each cell."""
        return {"rows": self.rows.astype(np.uint32), "columns": self.columns, "counts": self.counts}

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of states and of categories."""
        return len(self.offsets) - 1, self.n_categories

    @property
    def rows(self) -> NDArray[np.int64]:
        """The state of each cell."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.offsets))

    @cached_property
    def of_states(self) -> NDArray[np.int64]:
        """The sum of each row."""
        return np.bincount(self.rows, self.counts, self.shape[0]).astype(np.int64)

    @cached_property
    def of_categories(self) -> NDArray[np.int64]:
        """The sum of each column."""
        return np.bincount(self.columns, self.counts, self.n_categories).astype(np.int64)

    def row(self, state: int) -> NDArray[np.int64]:
        """Return the counts of all categories after a state."""
        row = np.zeros(self.n_categories, np.int64)
        here = slice(*self.offsets[state : state + 2].tolist())
        row[self.columns[here]] = self.counts[here]
        return row

    def smoothed(self, fractions: NDArray[np.float64]) -> StateProbs:
        """Take discounts from counts, and distribute what was taken over all categories by fractions."""
        rows, discounts = self.rows, _DISCOUNTS[np.minimum(self.counts, 3)]
        total = self.of_states.astype(np.float64)
        safe = np.maximum(total, 1.0)
        taken = np.where(total > 0, np.bincount(rows, discounts, len(total)) / safe, 1.0)
        return StateProbs(self, (self.counts - discounts) / safe[rows], taken, fractions)


@dataclass(frozen=True, eq=False)
class StateProbs:
    """p(g | s): that of the cell, if there is one, and ``taken[s] * fractions[g]``."""

    cells: StateCounts
    probs: NDArray[np.float64]
    taken: NDArray[np.float64]
    fractions: NDArray[np.float64]

    def rows(self, states: NDArray[np.uint32]) -> NDArray[np.float64]:
        """Return the probability of each category after states: a row for each."""
        rows: NDArray[np.float64] = self.taken[states][:, None] * self.fractions
        begins = self.cells.offsets[states]
        sizes = self.cells.offsets[states + 1] - begins
        ends = np.cumsum(sizes)
        places = np.arange(int(sizes.sum())) + np.repeat(begins - ends + sizes, sizes)
        rows[np.repeat(np.arange(len(states)), sizes), self.cells.columns[places]] += self.probs[places]
        return rows

    def at(self, states: NDArray[np.uint32], categories: NDArray[np.uint32]) -> NDArray[np.float64]:
        """Return the probability of each category after the state beside it."""
        found: NDArray[np.float64] = self.taken[states] * self.fractions[categories]
        if len(self.probs):
            wanted = states.astype(np.int64) * self.cells.n_categories + categories
            place = np.minimum(np.searchsorted(self._places, wanted), len(self.probs) - 1)
            found += np.where(self._places[place] == wanted, self.probs[place], 0.0)
        return found

    def for_kernel(self) -> _core.StateTable:
        """Return the same for the kernel."""
        return _core.StateTable(
            self.cells.offsets, self.cells.columns, self.probs, self.taken, self.fractions
        )

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        return self.cells.rows * self.cells.n_categories + self.cells.columns


def _offsets(rows: NDArray[Any], n_states: int) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n_states))))
