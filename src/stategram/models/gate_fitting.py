"""The tables of a gate, learned on held-out text.

The logarithms of all factors are those that make the text most likely, less half the sum of their squares
times a strength: what few events tell does not count for much. The factors of all histories are free.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.models.ascent import climb
from stategram.models.buckets import Buckets
from stategram.models.gate import Gate
from stategram.models.held_out import HeldOut, Settings
from stategram.resources import Resources

# Beyond, products of the factors of many tables could leave the range of numbers.
_MOST = 30.0
# About how much the likelihood bends for each event, by the logarithm of a factor.
_BEND = 0.03


@dataclass(frozen=True, eq=False)
class GateProblem:
    """A gate to be learned, or to be measured: what the parts say of events, and the rows they look up."""

    heldout: HeldOut
    buckets: tuple[Buckets, ...]
    starts: NDArray[np.int64]
    """The first row of each table, and the end."""
    row_events: NDArray[np.int64]
    kernel: _core.GateLikelihood

    @classmethod
    def of(cls, heldout: HeldOut, buckets: tuple[Buckets, ...]) -> GateProblem:
        """Look the rows of all events up."""
        starts = np.cumsum([0, *(one.number for one in buckets)])
        rows = np.empty((len(buckets), heldout.events), np.uint32)
        for number, one in enumerate(buckets):
            rows[number] = one.of(heldout.features[one.part], heldout.events) + starts[number]
        ratios = np.ascontiguousarray(heldout.ratios.T)
        kernel = _core.GateLikelihood(ratios, rows, int(starts[-1]), Resources.current().threads)
        row_events = np.bincount(rows.ravel(), minlength=int(starts[-1]))
        return cls(heldout, buckets, starts, row_events, kernel)

    def first(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give factors that have the same weights for all histories."""
        factors = np.zeros((int(self.starts[-1]), len(weights)))
        factors[0] = np.log(np.maximum(weights, np.exp(-_MOST)))
        return factors.ravel()

    def log_likelihood(self, factors: NDArray[np.float64]) -> float:
        """Give the log-likelihood of the events, by the logarithms of factors."""
        value, _ = self.kernel.value_and_gradient(_bounded(factors))
        return float(self.heldout.log_best.sum()) + value

    def learn(
        self, factors: NDArray[np.float64], strength: float, settings: Settings
    ) -> tuple[NDArray[np.float64], int]:
        """Give better factors than the given ones, and the number of steps."""
        n_parts = len(self.heldout.ratios)
        pull = np.full(len(factors), strength)
        pull[: self.buckets[0].number * n_parts] = 0.0
        # Rows of many events bend more than others. In these units all bend about alike: the way is short.
        unit = 1 / np.sqrt(_BEND * np.repeat(self.row_events, n_parts) + np.maximum(pull, 1.0))

        def value_and_gradient(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            factors = point * unit
            value, gradient = self.kernel.value_and_gradient(_bounded(factors))
            gradient -= pull * factors
            return value - 0.5 * float((pull * factors * factors).sum()), gradient * unit

        found, _, steps = climb(
            value_and_gradient,
            factors / unit,
            tolerance=settings.tolerance * self.heldout.events,
            max_iterations=settings.max_iterations,
        )
        return found * unit, steps

    def gate(self, kind: str, factors: NDArray[np.float64]) -> Gate:
        """Make a gate of factors."""
        rows = _bounded(factors).reshape(-1, len(self.heldout.ratios))
        shares = np.exp(rows - rows.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        return Gate(kind, self.buckets, tuple(shares[begin:end] for begin, end in pairwise(self.starts)))


def _bounded(factors: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.clip(factors, -_MOST, _MOST)
