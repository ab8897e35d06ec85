"""Weights of scores with few word errors: a grid over each weight in turn, refined around its best value.

The errors of the best hypotheses are piecewise constant in the weights, so they have no gradient.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stategram.evaluation.nbest import HypothesisErrors
from stategram.progress import Progress

_MAX_ROUNDS = 20
# Eight values per decade, then twice a finer grid around the best ones.
_MAGNITUDES = np.geomspace(0.01, 1000.0, 41)
_REFINEMENTS, _REFINED_VALUES = 2, 12


def tune_weights(
    found: HypothesisErrors,
    features: NDArray[np.float64],
    starts: Sequence[NDArray[np.float64]],
    lowest: Sequence[float | None],
    progress: Progress | None = None,
) -> NDArray[np.float64]:
    """Return weights of features whose weighted sum chooses hypotheses with few errors.

    Parameters
    ----------
    found
        The errors of each hypothesis.
    features
        A row for each hypothesis.
    starts
        The weights from which the search starts, once from each; of equal results, that of the first stays.
    lowest
        The lowest value of each weight, 0 or -inf; None: it is not changed.
    progress
        Called with the fraction done and a few words.

    """
    best, fewest = starts[0], _count(found, features @ starts[0])
    for number, start in enumerate(starts):
        weights, errors = _descend(found, features, start, lowest)
        if errors < fewest:
            best, fewest = weights, errors
        if progress:
            progress((number + 1) / len(starts), f"{fewest:,} errors")
    return best


def _descend(
    found: HypothesisErrors,
    features: NDArray[np.float64],
    start: NDArray[np.float64],
    lowest: Sequence[float | None],
) -> tuple[NDArray[np.float64], int]:
    """Search along one weight after the other, until none gains; return the weights and the errors."""
    weights, errors = start.copy(), _count(found, features @ start)
    for _ in range(_MAX_ROUNDS):
        before = errors
        for axis, low in enumerate(lowest):
            if low is None:
                continue
            others = features @ np.where(np.arange(len(weights)) == axis, 0.0, weights)
            weight, reached = search_weight(found, others, features[:, axis], low)
            # Where nothing is gained, the middle of the range that is as good is still the safer choice.
            if reached <= errors:
                weights[axis], errors = weight, reached
        if errors == before:
            break
    return weights, errors


def search_weight(
    found: HypothesisErrors, offsets: NDArray[np.float64], slopes: NDArray[np.float64], lowest: float
) -> tuple[float, int]:
    """Return the weight of `slopes` with the fewest errors, and these.

    It is the middle of the widest range of neighbouring values that are as good.
    """
    values = np.concatenate((-_MAGNITUDES[::-1], [0.0], _MAGNITUDES))
    values = values[values >= lowest]
    errors = _counts(found, offsets, slopes, values)
    changes = np.flatnonzero(np.diff(errors))
    if len(changes) == 0:
        return 0.0, int(errors[0])
    # What lies outside of all changes has no width of its own.
    inside = slice(changes[0], changes[-1] + 2)
    values, errors = values[inside], errors[inside]
    for _ in range(_REFINEMENTS):
        begin, end = _widest_best(values, errors)
        # These stay among the values, so that no refinement has more errors.
        borders = values[[max(begin - 1, 0), begin, end, min(end + 1, len(values) - 1)]]
        values = np.unique(np.linspace(borders[:-1], borders[1:], _REFINED_VALUES))
        errors = _counts(found, offsets, slopes, values)
    begin, end = _widest_best(values, errors)
    middle = begin + int(np.argmin(abs(values[begin : end + 1] - (values[begin] + values[end]) / 2)))
    return float(values[middle]), int(errors[middle])


def _widest_best(values: NDArray[np.float64], errors: NDArray[np.int64]) -> tuple[int, int]:
    """Return the first and the last of the neighbouring values that have the fewest errors."""
    edges = np.flatnonzero(np.diff(errors == errors.min(), prepend=False, append=False))
    begins, ends = edges[::2], edges[1::2] - 1
    widest = int(np.argmax(values[ends] - values[begins]))
    return int(begins[widest]), int(ends[widest])


def _counts(
    found: HypothesisErrors,
    offsets: NDArray[np.float64],
    slopes: NDArray[np.float64],
    values: NDArray[np.float64],
) -> NDArray[np.int64]:
    return np.array([_count(found, offsets + value * slopes) for value in values])


def _count(found: HypothesisErrors, totals: NDArray[np.float64]) -> int:
    return int(found.errors[found.nbest.best(totals)].sum())
