"""The weights of a mixture, learned on held-out text.

1. The probabilities that all parts give to each held-out event.
2. Weights for all histories, by expectation maximisation.
3. Where they depend on the history: the tables of a gate. Its kind, and how strongly its factors are pulled
   to one, are those that predict one half of the text best when they are learned on the other, both ways.
4. Once more, on all of the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.models.buckets import Buckets
from stategram.models.gate import Gate, learn_buckets
from stategram.models.gate_fitting import GateProblem
from stategram.models.held_out import HeldOut, Settings
from stategram.resources import Resources

# From the middle down, and else up, as long as the other half of the text gains.
_WEAKER, _STRONGER = (30.0, 10.0, 3.0, 1.0), (100.0, 300.0, 1000.0)
_USUALLY_TRIED = 5
# To choose, a hundred-thousandth of a nat is close enough.
CHOOSING_TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class Fitted:
    """A gate, and how well it predicts the text it is from."""

    gate: Gate
    global_weights: NDArray[np.float64]
    log_likelihood: float
    iterations: int


def fit(
    heldout: HeldOut, kind: str, buckets: tuple[Buckets, ...], strength: float, settings: Settings
) -> Fitted:
    """Learn the weights of a gate of given kind and buckets."""
    weights, log_likelihood, iterations = _global_weights(heldout, settings)
    if kind == "none":
        return Fitted(Gate.constant(weights), weights, log_likelihood, iterations)
    problem = GateProblem.of(heldout, buckets)
    factors, steps = problem.learn(problem.first(weights), strength, settings)
    log_likelihood = problem.log_likelihood(factors)
    return Fitted(problem.gate(kind, factors), weights, log_likelihood, max(iterations, steps))


def choose(
    heldout: HeldOut, middle: int, kinds: Sequence[str], settings: Settings
) -> tuple[str, float, list[dict[str, Any]]]:
    """Choose a kind of gate and its strength; give what each of them was worth.

    Half of the events, up to `middle`, is predicted with what the other half taught, and the other way round.
    """
    settings = replace(settings, tolerance=max(settings.tolerance, CHOOSING_TOLERANCE))
    totals: dict[tuple[str, float], float] = {}
    first, second = heldout.between(0, middle), heldout.between(middle, heldout.events)
    folds = [(first, second), (second, first)]
    weights = [_global_weights(taught, settings)[0] for taught, _ in folds]
    for kind in kinds:
        judges = [_Judge.of(*fold, kind, centre) for fold, centre in zip(folds, weights, strict=True)]
        if kind == "none":
            totals[kind, 0.0] = sum(judge.measure() for judge in judges)
            continue
        for strengths in (_WEAKER, _STRONGER):
            best = totals.get((kind, _WEAKER[0]), -np.inf)
            for strength in strengths:
                settings.say(len(totals) / (_USUALLY_TRIED * len(kinds)), f"trying weights by {kind}")
                total = sum(judge.learn(strength, settings) for judge in judges)
                totals[kind, strength] = total
                if total < best:
                    break
                best = total
            if best > totals[kind, _WEAKER[0]]:
                break
    kind, strength = max(totals, key=totals.__getitem__)  # the first of equals is the simplest
    candidates = [
        {"kind": kind, "strength": strength, "perplexity": float(np.exp(-total / heldout.events))}
        for (kind, strength), total in totals.items()
    ]
    return kind, strength, candidates


@dataclass
class _Judge:
    """Learns a gate on one half of a text and measures it on the other."""

    taught: GateProblem
    measured: GateProblem
    factors: NDArray[np.float64]

    @classmethod
    def of(cls, taught: HeldOut, measured: HeldOut, kind: str, weights: NDArray[np.float64]) -> _Judge:
        buckets = learn_buckets(kind, taught.features)
        problem = GateProblem.of(taught, buckets)
        return cls(problem, GateProblem.of(measured, buckets), problem.first(weights))

    def learn(self, strength: float, settings: Settings) -> float:
        """Learn from where another pull has led to, and measure."""
        self.factors, _ = self.taught.learn(self.factors, strength, settings)
        return self.measure()

    def measure(self) -> float:
        return self.measured.log_likelihood(self.factors)


def _global_weights(heldout: HeldOut, settings: Settings) -> tuple[NDArray[np.float64], float, int]:
    n_parts = len(heldout.ratios)
    weights, value, iterations = _core.em_weights(
        heldout.ratios,
        np.full(n_parts, 1.0 / n_parts),
        settings.max_iterations,
        settings.tolerance,
        Resources.current().threads,
    )
    return weights, float(heldout.log_best.sum()) + value, iterations
