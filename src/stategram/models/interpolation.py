"""Mixtures of models of which only the log probabilities of the events of two texts are left.

What `Mixture` would find, without buckets, for models that are not in memory any more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stategram.models.held_out import HeldOut, Settings
from stategram.models.mixture_fitting import fit

_LogProbs = NDArray[np.float64]


def fit_weights(log_probs: Sequence[_LogProbs]) -> NDArray[np.float64]:
    """Give the weights that `Mixture.fit` learns without buckets, from what each part says of held-out text.

    Examples
    --------
    >>> good, bad = np.log([0.5, 0.5, 0.4]), np.log([0.1, 0.1, 0.1])
    >>> fit_weights([good, bad]).round(3)
    array([1., 0.])

    """
    rows = np.stack(log_probs)
    possible = rows.max(axis=0) > -np.inf
    rows = rows[:, possible]
    heldout, settings = HeldOut.of(rows, [{}]), Settings.usual()
    fitted = fit(heldout, "none", (), 0.0, settings)
    weights, alone = fitted.global_weights, rows.sum(axis=1)
    # The iterations may end before the mixture is as good as its best part.
    if alone.max() > fitted.log_likelihood + settings.tolerance * heldout.events:
        weights = (np.arange(len(rows)) == alone.argmax()).astype(np.float64)
    return weights


def interpolate(log_probs: Sequence[_LogProbs], weights: NDArray[np.float64]) -> _LogProbs:
    """Give the log probability of each event in the mixture: log of the weighted sum of probabilities."""
    total = np.zeros(len(log_probs[0]))
    for weight, part in zip(weights.tolist(), log_probs, strict=True):
        total += np.exp(part) * weight
    with np.errstate(divide="ignore"):
        mixed: _LogProbs = np.log(total, out=total)
    return mixed
