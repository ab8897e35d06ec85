"""What is learned of a mixture on held-out text: its weights, and what each part is worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from stategram.errors import UsageError
from stategram.models.buckets import Buckets
from stategram.models.gate import GATE_KINDS, Gate, available_kinds, learn_buckets
from stategram.models.held_out import HeldOut, Settings
from stategram.models.mixture_fitting import CHOOSING_TOLERANCE, Fitted, choose, fit
from stategram.progress import subprogress

_USUAL_STRENGTH = 30.0


def fit_and_report(
    heldout: HeldOut,
    middle: int,
    kind: str,
    names: Sequence[str],
    alone: Sequence[float],
    settings: Settings,
) -> tuple[Fitted, dict[str, Any]]:
    """Learn the weights of parts with these names.

    `kind` is that of the gate, or ``auto``; `alone` the log-likelihood of the text by each part alone.
    """
    available = available_kinds(heldout.features)
    _check_kind(kind, available)
    # Without two halves nothing can be chosen, and one part needs no weights.
    halves = 0 < middle < heldout.events and len(names) > 1
    kinds = [kind] if kind != "auto" else _worth_trying(available) if halves else ["none"]
    chosen, strength = kinds[0], _USUAL_STRENGTH
    candidates: list[dict[str, Any]] = []
    if halves:
        choosing = replace(settings, progress=subprogress(settings.progress, 0.0, 0.5))
        chosen, strength, candidates = choose(heldout, middle, kinds, choosing)
    buckets = learn_buckets(chosen, heldout.features)
    settings.say(0.5, "learning weights")
    fitted = fit(heldout, chosen, buckets, strength, settings)
    best = int(np.argmax(alone))
    if alone[best] > fitted.log_likelihood + settings.tolerance * heldout.events:
        fitted = _best_alone(fitted, best, alone[best])
    report = {
        "events": heldout.events,
        "perplexity": _perplexity(fitted.log_likelihood, heldout.events),
        "buckets": {
            "kind": fitted.gate.kind,
            "number": sum(one.number for one in fitted.gate.buckets if one.names) or 1,
            "strength": strength if fitted.gate.kind != "none" else 0.0,
        },
        "candidates": candidates,
        "iterations": fitted.iterations,
        "parts": [
            {
                "name": name,
                "perplexity": _perplexity(log_likelihood, heldout.events),
                "weight": float(weight),
                "without": _without(heldout, i, chosen, buckets, strength, settings)
                if len(names) > 1
                else None,
            }
            for i, (name, log_likelihood, weight) in enumerate(
                zip(names, alone, fitted.global_weights, strict=True)
            )
        ],
    }
    return fitted, report


def _worth_trying(available: Sequence[str]) -> Sequence[str]:
    """Leave out what is but a part of something else: where it is worth nothing, its factors stay at one."""
    return ["none", "all"] if "all" in available else available


def _check_kind(kind: str, available: Sequence[str]) -> None:
    if kind != "auto" and kind not in GATE_KINDS:
        raise UsageError(f"no buckets {kind!r}: there are auto, {', '.join(GATE_KINDS)}")
    if kind != "auto" and kind not in available:
        raise UsageError(
            f"no part of the mixture has what buckets by {kind} need; there are: auto, {', '.join(available)}"
        )


def _best_alone(fitted: Fitted, part: int, log_likelihood: float) -> Fitted:
    """Give all weight to one part: the iterations ended before the mixture was as good."""
    corner = np.zeros_like(fitted.global_weights)
    corner[part] = 1.0
    return replace(fitted, gate=Gate.constant(corner), global_weights=corner, log_likelihood=log_likelihood)


def _without(
    heldout: HeldOut,
    part: int,
    kind: str,
    buckets: tuple[Buckets, ...],
    strength: float,
    settings: Settings,
) -> float | None:
    settings.say(0.6 + 0.4 * part / len(heldout.ratios), f"without part {part + 1}")
    about = replace(settings, tolerance=max(settings.tolerance, CHOOSING_TOLERANCE))
    fitted = fit(heldout.without(part), kind, buckets, strength, about)
    return _perplexity(fitted.log_likelihood, heldout.events)


def _perplexity(log_likelihood: float, events: int) -> float | None:
    """Give a perplexity, None if it is infinite."""
    bits = -log_likelihood / events
    return math.exp(bits) if bits < 700 else None
