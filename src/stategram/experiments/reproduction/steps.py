"""What a reproduction says while it works, and how much longer it will take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from stategram.experiments.reproduction.plan import ClusteredPlan, MixturePlan, NgramPlan, RecipePlan, RowPlan
from stategram.experiments.reproduction.results import RowResult
from stategram.experiments.steps import Steps

# Seconds on two cores, measured on two million words with 500 clusters a side. Only their proportions matter:
# the rows that are done say how fast this machine is.
_NGRAM = 0.4
_LEVEL = 1.2
_EFFORTS = {"paper": 1.0, "normal": 1.0, "best": 3.0}
_RECIPES = {"fast": 8.0, "best": 45.0}
_MIXTURE = 0.05
_EVENTS, _CLUSTERS = 2_000_000, 500


class RowSteps(Steps):
    """Takes what a reproduction says; this one keeps silent, a command line shows it."""

    def planned(self, rows: Sequence[RowPlan], done: Sequence[RowResult], left: TimeLeft) -> None:
        """Take all rows, in the order of the work, and those that an earlier run has finished."""

    def finished(self, row: RowResult) -> None:
        """Take a row that was finished just now."""


@dataclass
class TimeLeft:
    """Foresees the time of rows: the more are done, the better.

    Parameters
    ----------
    rows
        All of them.
    events
        Of the training text.

    """

    rows: Sequence[RowPlan]
    events: int
    _seconds: dict[str, float] = field(default_factory=dict)

    def finished(self, key: str, seconds: float) -> None:
        """Learn from a row."""
        self._seconds[key] = seconds

    def seconds(self, under_way: str | None = None, share: float = 0.0) -> float:
        """Give how long the rest will take, when a share of the row under way is done.

        Examples
        --------
        >>> row = NgramPlan(key="a", table=1, title="", order=3, smoothing="katz")
        >>> left = TimeLeft([row, NgramPlan(key="b", table=1, title="", order=3, smoothing="katz")], 100)
        >>> left.finished("a", 8.0)
        >>> left.seconds(), left.seconds("b", 0.25)
        (8.0, 6.0)

        """
        costs = {row.key: self._cost(row) for row in self.rows}
        done = sum(costs[key] for key in self._seconds)
        speed = sum(self._seconds.values()) / done if done > 0 else 1.0
        left = sum(cost for key, cost in costs.items() if key not in self._seconds)
        if under_way in costs and under_way not in self._seconds:
            left -= share * costs[under_way]
        return max(0.0, left * speed)

    def _cost(self, row: RowPlan) -> float:
        size = self.events / _EVENTS
        if isinstance(row, NgramPlan):
            return _NGRAM * row.order * size
        if isinstance(row, MixturePlan):
            return _MIXTURE
        if isinstance(row, ClusteredPlan):
            levels = row.context.count(",") + 1 if row.tree else 1
            clusters = 0.5 + 0.5 * row.wanted[0] / _CLUSTERS
            return _LEVEL * levels * clusters * _EFFORTS[row.preset] * size
        assert isinstance(row, RecipePlan)
        return _RECIPES[row.recipe] * size
