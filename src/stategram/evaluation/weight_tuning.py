"""Weights of scores that make the fewest word errors: exact line searches, one weight after the other.

The errors of the best hypotheses are piecewise constant in the weights, so they have no gradient; but along
one weight all places where they change are known (Och 2003, "Minimum error rate training in statistical
machine translation").
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.evaluation.nbest import HypothesisErrors
from stategram.progress import Progress
from stategram.resources import Resources

_MAX_ROUNDS = 20
Bounds = tuple[float, float]


def tune_weights(
    found: HypothesisErrors,
    features: NDArray[np.float64],
    starts: Sequence[NDArray[np.float64]],
    bounds: Sequence[Bounds | None],
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
    bounds
        The lowest and the highest value of each weight; None: it is not changed.
    progress
        Called with the fraction done and a few words.

    """
    best, fewest = starts[0], _count(found, features @ starts[0])
    for number, start in enumerate(starts):
        weights, errors = _descend(found, features, start, bounds)
        if errors < fewest:
            best, fewest = weights, errors
        if progress:
            progress((number + 1) / len(starts), f"{fewest:,} errors")
    return best


def _descend(
    found: HypothesisErrors,
    features: NDArray[np.float64],
    start: NDArray[np.float64],
    bounds: Sequence[Bounds | None],
) -> tuple[NDArray[np.float64], int]:
    """Search along one weight after the other, until none gains; return the weights and the errors."""
    weights, errors = start, _count(found, features @ start)
    for _ in range(_MAX_ROUNDS):
        before = errors
        for axis, range_ in enumerate(bounds):
            if range_ is None:
                continue
            moved = weights.copy()
            moved[axis] = 0.0
            moved[axis] = search_line(found, features @ moved, features[:, axis], range_)
            reached = _count(found, features @ moved)
            # Where nothing is gained, the middle of the range that is as good is still the safer choice.
            if reached <= errors:
                weights, errors = moved, reached
        if errors == before:
            break
    return weights, errors


def search_line(
    found: HypothesisErrors,
    offsets: NDArray[np.float64],
    slopes: NDArray[np.float64],
    bounds: Bounds,
) -> float:
    """Return the weight with the fewest errors: the middle of the widest range of weights that have them."""
    low, high = bounds
    at_low, places, changes = _core.error_envelope(
        found.nbest.starts,
        offsets,
        np.ascontiguousarray(slopes),
        found.errors,
        low,
        high,
        Resources.current().threads,
    )
    if len(places) == 0:
        return min(max(0.0, low), high)
    edges, inverse = np.unique(places, return_inverse=True)
    errors = at_low + np.concatenate(([0], np.cumsum(np.bincount(inverse.reshape(-1), changes)))).round()
    # What lies outside of all changes has no width of its own.
    margin = (float(edges[-1] - edges[0]) or abs(float(edges[0])) or 1.0) / 10
    edges = np.concatenate(([max(low, edges[0] - margin)], edges, [min(high, edges[-1] + margin)]))
    # Neighbouring pieces with the same errors are one.
    first = np.flatnonzero(np.diff(errors, prepend=np.nan) != 0)
    begins, ends = edges[first], edges[np.append(first[1:], len(errors))]
    width = np.where(errors[first] == errors.min(), ends - begins, -1.0)
    widest = int(np.argmax(width))
    return float((begins[widest] + ends[widest]) / 2)


def _count(found: HypothesisErrors, totals: NDArray[np.float64]) -> int:
    return int(found.errors[found.nbest.best(totals)].sum())
