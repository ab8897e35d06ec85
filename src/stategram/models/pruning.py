"""A smaller model that is nearly as good: entropy-based pruning (Stolcke 1998)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.models.smoothing import Estimates
from stategram.resources import Resources
from stategram.text import BEGIN


def prune(estimates: Estimates, threshold: float) -> None:
    """Drop the n-grams without which the perplexity rises by less than the fraction `threshold`.

    The longest go first. The start of a longer n-gram that is kept is kept too. The probabilities of the
    others stay, back-off weights are computed again.
    """
    levels, workspace = estimates.levels, estimates.workspace
    histories = _history_probs(estimates)
    needed = np.empty(0, np.uint8)
    for k in range(len(levels) - 1, 1, -1):
        level, parents, history_probs = levels[k], levels[k - 1], histories.pop()
        if len(level.keep) == 0:
            level.keep = workspace.empty(len(level), np.uint8)
            level.keep[:] = 1
        _core.prune_ngrams(
            parents.first_child,
            history_probs,
            parents.backoffs,
            level.suffixes,
            level.log_probs,
            parents.log_probs,
            needed,
            threshold,
            level.keep,
            Resources.current().threads,
        )
        needed = workspace.empty(len(parents), np.uint8)
        _core.have_kept_children(parents.first_child, level.keep, needed, Resources.current().threads)
    estimates.pruned = True
    _normalize(estimates)


def _history_probs(estimates: Estimates) -> list[NDArray[np.float64]]:
    """Return the probability of each n-gram that can be a history, by its length from 1 on."""
    found: list[NDArray[Any]] = []
    parents: NDArray[Any] = np.ones(1)
    for k, level in enumerate(estimates.levels[1:-1], 1):
        probs = estimates.workspace.empty(len(level), np.float64)
        _core.history_probs(
            estimates.levels[k - 1].first_child, parents, level.log_probs, probs, Resources.current().threads
        )
        if k == 1:
            probs[estimates.numbers[BEGIN]] = 1.0  # every sentence has it
        found.append(probs)
        parents = probs
    return found


def _normalize(estimates: Estimates) -> None:
    """Compute back-off weights again."""
    levels, workspace = estimates.levels, estimates.workspace
    lower = 10.0 ** levels[1].log_probs.astype(np.float64)
    for k in range(2, len(levels)):
        level, parents = levels[k], levels[k - 1]
        probs = workspace.empty(len(level), np.float64)
        backoffs = workspace.empty(len(parents), np.float64)
        for begin, end in workspace.chunks(len(level)):
            probs[begin:end] = 10.0 ** level.log_probs[begin:end].astype(np.float64)
        for begin, end in workspace.chunks(len(parents)):
            _core.normalise_ngrams(
                parents.first_child,
                level.suffixes,
                lower,
                level.keep,
                len(estimates.numbers) - 1,
                begin,
                end,
                probs,
                backoffs,
                Resources.current().threads,
            )
        for begin, end in workspace.chunks(len(parents)):
            _core.log10_floats(backoffs[begin:end], parents.backoffs[begin:end], Resources.current().threads)
        lower = probs
