"""How an n-gram model is trained: its options, and the steps from counts to a trie."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from stategram.counts import NgramCounts
from stategram.errors import UsageError
from stategram.models.assembly import assemble
from stategram.models.pruning import prune as prune_estimates
from stategram.models.smoothing import SMOOTHINGS, check_min_counts, estimate, usual_min_counts
from stategram.models.trie import NgramTrie
from stategram.progress import Progress, subprogress


def check_options(
    order: int, smoothing: str, min_counts: Sequence[int] | None, prune: float
) -> Sequence[int]:
    """Refuse inconsistent options before hours of work; return the minimum counts."""
    if smoothing not in SMOOTHINGS:
        raise UsageError(f"no smoothing {smoothing!r}: there are {', '.join(SMOOTHINGS)}")
    if not 0 <= prune < math.inf:
        raise UsageError(f"prune is {prune}; it must be 0 or more, such as 1e-8")
    if min_counts is None:
        return usual_min_counts(smoothing, order)
    check_min_counts(min_counts, order)
    return min_counts


def train_trie(
    counts: NgramCounts,
    smoothing: str,
    min_counts: Sequence[int],
    prune: float,
    *,
    progress: Progress | None,
) -> tuple[NgramTrie, dict[str, Any]]:
    """Estimate, prune and assemble; return what was found on the way too. The counts are used up."""
    workspace = counts.workspace
    info = {**counts.report, "min_counts": list(min_counts), "prune": prune}
    estimates = estimate(
        counts, smoothing, min_counts, workspace=workspace, progress=subprogress(progress, 0.0, 0.7)
    )
    if prune > 0:
        prune_estimates(estimates, prune, workspace=workspace)
    info |= {"discounts": estimates.discounts, "notes": estimates.notes}
    if progress:
        progress(0.8, "assembling the model")
    return assemble(estimates, workspace=workspace), info
