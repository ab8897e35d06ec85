"""What is learned of a mixture on held-out text: its weights, and what each part is worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from stategram.errors import UsageError
from stategram.models.buckets import KINDS, Buckets, available_kinds
from stategram.models.mixture_fitting import Fitted, HeldOut, Settings, choose, fit

__all__ = ["fit_and_report"]

_USUAL_STRENGTH = 64.0


def fit_and_report(
    heldout: HeldOut, middle: int, kind: str, names: Sequence[str], settings: Settings
) -> tuple[Fitted, dict[str, Any]]:
    """Learn the weights of parts with these names; `kind` is that of buckets, or ``auto``."""
    parts = available_kinds(heldout.features)
    _check_kind(kind, list(parts))
    # Without two halves nothing can be chosen, and one part needs no weights.
    halves = 0 < middle < heldout.events and len(names) > 1
    kinds = [kind] if kind != "auto" else list(parts) if halves else ["none"]
    chosen, strength = kinds[0], _USUAL_STRENGTH
    candidates: list[dict[str, Any]] = []
    if halves:
        chosen, strength, candidates = choose(heldout, middle, kinds, settings)
    buckets = Buckets.learn(chosen, parts[chosen], heldout.features[parts[chosen]])
    log_best = heldout.log_best.sum()
    with np.errstate(divide="ignore"):
        alone = [float(log_best + np.log(row, dtype=np.float64).sum()) for row in heldout.ratios]
    fitted = fit(heldout, buckets, strength, settings)
    best = int(np.argmax(alone))
    if alone[best] > fitted.log_likelihood + settings.tolerance * heldout.events:
        fitted = _best_alone(fitted, best, alone[best])
    report = {
        "events": heldout.events,
        "perplexity": _perplexity(fitted.log_likelihood, heldout.events),
        "buckets": {"kind": chosen, "number": buckets.number, "strength": strength},
        "candidates": candidates,
        "iterations": fitted.iterations,
        "parts": [
            {
                "name": name,
                "perplexity": _perplexity(log_likelihood, heldout.events),
                "weight": float(weight),
                "without": _without(heldout, i, buckets, strength, settings) if len(names) > 1 else None,
            }
            for i, (name, log_likelihood, weight) in enumerate(
                zip(names, alone, fitted.global_weights, strict=True)
            )
        ],
    }
    return fitted, report


def _check_kind(kind: str, available: Sequence[str]) -> None:
    if kind != "auto" and kind not in KINDS:
        raise UsageError(f"no buckets {kind!r}: there are auto, {', '.join(KINDS)}")
    if kind != "auto" and kind not in available:
        raise UsageError(
            f"no part of the mixture has what buckets by {kind} need; there are: auto, {', '.join(available)}"
        )


def _best_alone(fitted: Fitted, part: int, log_likelihood: float) -> Fitted:
    """Give all weight to one part: the iterations ended before the mixture was as good."""
    corner = np.zeros_like(fitted.global_weights)
    corner[part] = 1.0
    weights = np.tile(corner, (len(fitted.weights), 1))
    return replace(fitted, weights=weights, global_weights=corner, log_likelihood=log_likelihood)


def _without(
    heldout: HeldOut, part: int, buckets: Buckets, strength: float, settings: Settings
) -> float | None:
    return _perplexity(fit(heldout.without(part), buckets, strength, settings).log_likelihood, heldout.events)


def _perplexity(log_likelihood: float, events: int) -> float | None:
    """Give a perplexity, None if it is infinite."""
    bits = -log_likelihood / events
    return math.exp(bits) if bits < 700 else None
