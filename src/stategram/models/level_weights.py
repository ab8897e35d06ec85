"""Interpolation weights of the levels of a context tree, by the count bucket of a context.

The weight of a context's state against the level above; the more often the context occurs, the greater it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# By count bucket. On held-out texts of 2 million and of 40 million words these weights came out nearly alike.
_DEFAULT = (0.3, 0.3, 0.3, 0.35, 0.45, 0.57, 0.67, 0.74, 0.79, 0.83, 0.86, 0.88, 0.9, 0.92, 0.94, 0.95)
# On the first level there is only the frequency of categories to fall back on.
_FIRST_LEVEL = (0.3, 0.4, 0.5, 0.68, 0.76, 0.82, 0.87, 0.91, 0.93, 0.95, 0.96, 0.97, 0.98, 0.99, 0.995, 1.0)
# A weight learned on held-out text counts so many events for the one above.
_PRIOR = 50.0
_EM_STEPS = 30


def default_level_weights(depth: int) -> NDArray[np.float64]:
    """Return the default weight of each level and count bucket of a tree of so many levels."""
    return np.array([_FIRST_LEVEL] + [_DEFAULT] * (depth - 1))


def learn_level_weights(
    default: NDArray[np.float64],
    frequencies: NDArray[np.float64],
    own: Sequence[NDArray[np.float64]],
    buckets: Sequence[NDArray[np.uint8]],
) -> NDArray[np.float64]:
    """Learn the weights of all levels and count buckets together by EM: no step makes the text less likely.

    `default` is where to begin, and counts for some events too; `frequencies` has for each event the
    frequency of its category; `own` and `buckets` have for each level and event the probability of its
    category by the state alone, and the count bucket of its context.
    """
    n_buckets = default.shape[1]
    learned = default.copy()
    learned[0, 0] = 0.0  # nothing is known on the first level: nothing to interpolate with
    for _ in range(_EM_STEPS):
        weights = [of_level[bucket] for of_level, bucket in zip(learned, buckets, strict=True)]
        probs = [frequencies]
        for mine, weight in zip(own, weights, strict=True):
            probs.append(weight * mine + (1 - weight) * probs[-1])
        # The fraction of each event that comes from this level or those above it.
        left = np.ones(len(frequencies))
        for number in range(len(own) - 1, -1, -1):
            taken = left * weights[number] * own[number] / probs[number + 1]
            sums = np.bincount(buckets[number], taken, n_buckets) + _PRIOR * default[number]
            learned[number] = sums / (np.bincount(buckets[number], left, n_buckets) + _PRIOR)
            left = left - taken
        learned[0, 0] = 0.0
    learned[0, 0] = default[0, 0]
    return np.clip(learned, 0.0, 1.0)  # rounding may go beyond
