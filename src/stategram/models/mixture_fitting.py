"""The weights of a mixture, learned on held-out text.

1. The probabilities that all parts give to each held-out event.
2. Weights for all histories, by expectation maximization.
3. Where they depend on the history: the tables of a gate. The logarithms of their factors maximize the
   likelihood of the text, less half the sum of their squares times a strength, so that few events do not
   count for much. The kind of the gate and the strength are those that predict one half of the text best
   when they are learned on the other, both ways.
4. Once more, on all of the text.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.errors import UsageError
from stategram.models.gate import GATE_KINDS, Buckets, Features, Gate, available_kinds, learn_buckets
from stategram.progress import Progress, subprogress
from stategram.resources import Resources

MAX_ITERATIONS = 1000
TOLERANCE = 1e-7

# From the middle down, and else up, as long as the other half of the text gains.
_WEAKER, _STRONGER = (30.0, 10.0, 3.0, 1.0), (100.0, 300.0, 1000.0)
_TRIALS_PER_KIND = 5  # most often
# Beyond, products of the factors of many tables could leave the range of numbers.
_MAX_LOG_FACTOR = 30.0
_LBFGS_MEMORY, _LBFGS_WINDOW, _LBFGS_HALVINGS, _ARMIJO = 8, 4, 20, 1e-4
# About the curvature of the log-likelihood for each event, by the logarithm of a factor.
_CURVATURE_PER_EVENT = 0.03

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FitSettings:
    """Stop if no other weights could gain `tolerance` nats per event, or after so many iterations."""

    max_iterations: int = MAX_ITERATIONS
    tolerance: float = TOLERANCE

    def __post_init__(self) -> None:
        if self.max_iterations < 1 or not self.tolerance > 0:
            raise UsageError("max_iterations must be at least 1, and tolerance above 0")


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The probabilities of held-out events by the parts of a mixture.

    ``ratios``: for each part and event its probability, divided by the greatest of the event, whose
    logarithms are ``log_best``. ``features``: those of the histories, by each part.
    """

    ratios: NDArray[np.float32]
    log_best: _Floats
    features: tuple[Features, ...]

    @classmethod
    def from_log_probs(cls, log_probs: _Floats, features: Sequence[Features]) -> HeldOut:
        """Take natural-log probabilities, a row for each part, without impossible events."""
        if log_probs.shape[1] == 0:
            raise UsageError("no part gives any event of the held-out text a probability; give other text")
        best = log_probs.max(axis=0)
        ratios = np.exp(log_probs - best).astype(np.float32, order="C")
        return cls(ratios, best, tuple(features))

    @property
    def events(self) -> int:
        """The number of events."""
        return len(self.log_best)

    def between(self, begin: int, end: int) -> HeldOut:
        """Return some of the events."""
        features = tuple(
            {name: values[begin:end] for name, values in of_part.items()} for of_part in self.features
        )
        ratios = np.ascontiguousarray(self.ratios[:, begin:end])
        return replace(self, ratios=ratios, log_best=self.log_best[begin:end], features=features)

    def without(self, part: int) -> HeldOut:
        """Leave a part out, but for the features of the histories."""
        return replace(self, ratios=np.delete(self.ratios, part, axis=0))


@dataclass(frozen=True, eq=False)
class _Fitted:
    """A gate, and how well it predicts the text it is from."""

    gate: Gate
    global_weights: NDArray[np.float64]
    log_likelihood: float
    iterations: int


def fit_gate(
    heldout: HeldOut,
    middle: int,
    kind: str,
    names: Sequence[str],
    alone: Sequence[float],
    settings: FitSettings,
    progress: Progress | None = None,
) -> tuple[Gate, dict[str, Any]]:
    """Learn the weights of parts with these names; return how it went too.

    `kind` is that of the gate, or ``auto``; `middle` is where the second half of the text begins; `alone` has
    the log-likelihood of the text by each part alone.
    """
    available = available_kinds(heldout.features)
    if kind != "auto" and kind not in GATE_KINDS:
        raise UsageError(f"no buckets {kind!r}: there are auto, {', '.join(GATE_KINDS)}")
    if kind != "auto" and kind not in available:
        raise UsageError(
            f"no part of the mixture has what buckets by {kind} need; there are: auto, {', '.join(available)}"
        )
    kinds = [kind]
    if kind == "auto":
        # `all` has the tables of the others: where one is worth nothing, its factors stay at one.
        kinds = ["none", "all"] if "all" in available else available
    chosen, strength = kinds[0], 30.0
    trials: list[dict[str, Any]] = []
    # To compare, a hundred-thousandth of a nat is close enough.
    coarse = replace(settings, tolerance=max(settings.tolerance, 1e-5))
    # Without two halves nothing can be chosen.
    if 0 < middle < heldout.events:
        chosen, strength, trials = _choose(heldout, middle, kinds, coarse, subprogress(progress, 0.0, 0.5))
    buckets = learn_buckets(chosen, heldout.features)
    if progress:
        progress(0.5, "learning weights")
    fitted = _fit(heldout, chosen, buckets, strength, settings)
    best = int(np.argmax(alone))
    if alone[best] > fitted.log_likelihood + settings.tolerance * heldout.events:
        # The iterations ended before the mixture was as good as one part.
        corner = (np.arange(len(names)) == best).astype(np.float64)
        fitted = _Fitted(Gate.constant(corner), corner, alone[best], fitted.iterations)
    parts = []
    for part, (name, log_likelihood) in enumerate(zip(names, alone, strict=True)):
        if progress:
            progress(0.6 + 0.4 * part / len(names), f"without part {part + 1}")
        others = _fit(heldout.without(part), chosen, buckets, strength, coarse)
        parts.append(
            {
                "name": name,
                "perplexity": _perplexity(log_likelihood, heldout.events),
                "weight": float(fitted.global_weights[part]),
                "without": _perplexity(others.log_likelihood, heldout.events),
            }
        )
    return fitted.gate, {
        "events": heldout.events,
        "perplexity": _perplexity(fitted.log_likelihood, heldout.events),
        "buckets": {
            "kind": fitted.gate.kind,
            "number": sum(one.number for one in fitted.gate.buckets if one.names) or 1,
            "strength": strength if fitted.gate.kind != "none" else 0.0,
        },
        "candidates": trials,
        "iterations": fitted.iterations,
        "parts": parts,
    }


def _choose(
    heldout: HeldOut,
    middle: int,
    kinds: Sequence[str],
    settings: FitSettings,
    progress: Progress | None,
) -> tuple[str, float, list[dict[str, Any]]]:
    """Choose a kind of gate and its strength; return the cross-validated perplexity of each trial.

    Half of the events, up to `middle`, is predicted with what was learned on the other half, and vice versa.
    """
    totals: dict[tuple[str, float], float] = {}
    first, second = heldout.between(0, middle), heldout.between(middle, heldout.events)
    halves = [(first, second), (second, first)]
    weights = [_global_weights(train, settings)[0] for train, _ in halves]
    for kind in kinds:
        learned = [learn_buckets(kind, train.features) for train, _ in halves]
        trains, tests = (
            [_GateProblem(half[side], buckets) for half, buckets in zip(halves, learned, strict=True)]
            for side in (0, 1)
        )
        factors = [one.initial_factors(initial) for one, initial in zip(trains, weights, strict=True)]
        if kind == "none":
            totals[kind, 0.0] = sum(map(_GateProblem.log_likelihood, tests, factors))
            continue
        for strengths in (_WEAKER, _STRONGER):
            best = totals.get((kind, _WEAKER[0]), -np.inf)
            for strength in strengths:
                if progress:
                    progress(len(totals) / (_TRIALS_PER_KIND * len(kinds)), f"trying weights by {kind}")
                # From where another strength has led to.
                factors = [
                    train.learn(one, strength, settings)[0]
                    for train, one in zip(trains, factors, strict=True)
                ]
                total = sum(map(_GateProblem.log_likelihood, tests, factors))
                totals[kind, strength] = total
                if total < best:
                    break
                best = total
            if best > totals[kind, _WEAKER[0]]:
                break
    kind, strength = max(totals, key=totals.__getitem__)  # the first of equals is the simplest
    trials = [
        {"kind": kind, "strength": strength, "perplexity": _perplexity(total, heldout.events)}
        for (kind, strength), total in totals.items()
    ]
    return kind, strength, trials


def _fit(
    heldout: HeldOut, kind: str, buckets: tuple[Buckets, ...], strength: float, settings: FitSettings
) -> _Fitted:
    """Learn the weights of a gate of given kind and buckets."""
    weights, log_likelihood, iterations = _global_weights(heldout, settings)
    if kind == "none":
        return _Fitted(Gate.constant(weights), weights, log_likelihood, iterations)
    problem = _GateProblem(heldout, buckets)
    factors, steps = problem.learn(problem.initial_factors(weights), strength, settings)
    return _Fitted(
        problem.gate(kind, factors), weights, problem.log_likelihood(factors), max(iterations, steps)
    )


class _GateProblem:
    """A gate to be learned, or to be measured: the probabilities of events, and the rows they look up."""

    def __init__(self, heldout: HeldOut, buckets: tuple[Buckets, ...]) -> None:
        self.heldout, self.buckets = heldout, buckets
        # The first row of each table, and the end.
        self.starts = np.cumsum([0, *(one.number for one in buckets)])
        rows = np.empty((len(buckets), heldout.events), np.uint32)
        for number, one in enumerate(buckets):
            rows[number] = one.of(heldout.features[one.part], heldout.events) + self.starts[number]
        n_rows, ratios = int(self.starts[-1]), np.ascontiguousarray(heldout.ratios.T)
        self.kernel = _core.GateLikelihood(ratios, rows, n_rows, Resources.current().threads)
        self.row_events = np.bincount(rows.ravel(), minlength=n_rows)

    def initial_factors(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log-factors with which all histories have the same weights."""
        factors = np.zeros((int(self.starts[-1]), len(weights)))
        factors[0] = np.log(np.maximum(weights, np.exp(-_MAX_LOG_FACTOR)))
        return factors.ravel()

    def log_likelihood(self, factors: NDArray[np.float64]) -> float:
        """Return the log-likelihood of the events."""
        value, _ = self.kernel.value_and_gradient(_bounded(factors))
        return float(self.heldout.log_best.sum()) + value

    def learn(
        self, factors: NDArray[np.float64], strength: float, settings: FitSettings
    ) -> tuple[NDArray[np.float64], int]:
        """Return better log-factors than the given ones, and the number of iterations."""
        n_parts = len(self.heldout.ratios)
        penalty = np.full(len(factors), strength)
        penalty[: self.buckets[0].number * n_parts] = 0.0  # the factors of all histories are free
        # Scaled so that the curvature is about the same for all, whatever the number of events of a row.
        curvature = _CURVATURE_PER_EVENT * np.repeat(self.row_events, n_parts) + np.maximum(penalty, 1.0)
        scale = 1 / np.sqrt(curvature)

        def value_and_gradient(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            factors = point * scale
            value, gradient = self.kernel.value_and_gradient(_bounded(factors))
            gradient -= penalty * factors
            return value - 0.5 * float((penalty * factors * factors).sum()), gradient * scale

        best, _, iterations = _maximize_lbfgs(
            value_and_gradient,
            factors / scale,
            tolerance=settings.tolerance * self.heldout.events,
            max_iterations=settings.max_iterations,
        )
        return best * scale, iterations

    def gate(self, kind: str, factors: NDArray[np.float64]) -> Gate:
        """Return the gate with these log-factors."""
        rows = _bounded(factors).reshape(-1, len(self.heldout.ratios))
        weights = np.exp(rows - rows.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        return Gate(kind, self.buckets, tuple(weights[begin:end] for begin, end in pairwise(self.starts)))


def _bounded(factors: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.clip(factors, -_MAX_LOG_FACTOR, _MAX_LOG_FACTOR)


def _global_weights(heldout: HeldOut, settings: FitSettings) -> tuple[NDArray[np.float64], float, int]:
    n_parts = len(heldout.ratios)
    weights, value, iterations = _core.em_weights(
        heldout.ratios,
        np.full(n_parts, 1.0 / n_parts),
        settings.max_iterations,
        settings.tolerance,
        Resources.current().threads,
    )
    return weights, float(heldout.log_best.sum()) + value, iterations


def _perplexity(log_likelihood: float, events: int) -> float | None:
    """Return a perplexity, None if it is infinite."""
    nats = -log_likelihood / events
    return math.exp(nats) if nats < 700 else None


def fit_weights(log_probs: Sequence[_Floats]) -> NDArray[np.float64]:
    """Return the weights that `Mixture.fit` learns without buckets, from log-probabilities of held-out text.

    >>> good, bad = np.log([0.5, 0.5, 0.4]), np.log([0.1, 0.1, 0.1])
    >>> fit_weights([good, bad]).round(3)
    array([1., 0.])
    """
    rows = np.stack(log_probs)
    rows = rows[:, rows.max(axis=0) > -np.inf]
    heldout, settings = HeldOut.from_log_probs(rows, [{}]), FitSettings()
    weights, log_likelihood, _ = _global_weights(heldout, settings)
    alone = rows.sum(axis=1)
    # The iterations may end before the mixture is as good as its best part.
    if alone.max() > log_likelihood + settings.tolerance * heldout.events:
        weights = (np.arange(len(rows)) == alone.argmax()).astype(np.float64)
    return weights


def interpolate(log_probs: Sequence[_Floats], weights: NDArray[np.float64]) -> _Floats:
    """Return the log-probability of each event in a mixture: the log of the weighted sum of probabilities."""
    total = np.zeros(len(log_probs[0]))
    for weight, part in zip(weights.tolist(), log_probs, strict=True):
        total += np.exp(part) * weight
    with np.errstate(divide="ignore"):
        mixed: _Floats = np.log(total, out=total)
    return mixed


def _maximize_lbfgs(
    value_and_gradient: Callable[[_Floats], tuple[float, _Floats]],
    start: _Floats,
    *,
    tolerance: float,
    max_iterations: int,
) -> tuple[_Floats, float, int]:
    """Maximize until four steps together gain less than `tolerance`; return point, value and iterations.

    Limited-memory BFGS: Nocedal (1980), "Updating quasi-Newton matrices with limited storage". SciPy has it
    too, but is not worth a dependency for this one function.

    >>> def parabola(x): return -float(((x - 3) ** 2).sum()), -2 * (x - 3)
    >>> point, value, _ = _maximize_lbfgs(parabola, np.zeros(2), tolerance=1e-9, max_iterations=50)
    >>> point.round(6), abs(value) < 1e-9
    (array([3., 3.]), True)
    """
    point = start
    value, gradient = value_and_gradient(point)
    memory: deque[tuple[_Floats, _Floats]] = deque(maxlen=_LBFGS_MEMORY)  # s and y of the last steps
    values = [value]
    while len(values) <= max_iterations:
        direction = _lbfgs_direction(gradient, memory)
        slope = _dot(direction, gradient)
        if not slope > 0:  # no further than rounding allows
            break
        size = 1.0
        for _ in range(_LBFGS_HALVINGS):
            next_point = point + size * direction
            next_value, next_gradient = value_and_gradient(next_point)
            if next_value >= value + _ARMIJO * size * slope:
                break
            size /= 2
        else:
            break
        s, y = next_point - point, gradient - next_gradient
        if _dot(s, y) > 1e-12 * _dot(y, y):
            memory.append((s, y))
        point, value, gradient = next_point, next_value, next_gradient
        values.append(value)
        if len(values) > _LBFGS_WINDOW and value - values[-1 - _LBFGS_WINDOW] < tolerance:
            break
    return point, value, len(values) - 1


def _lbfgs_direction(gradient: _Floats, memory: deque[tuple[_Floats, _Floats]]) -> _Floats:
    """Return the approximate inverse Hessian times the gradient, by the two-loop recursion."""
    if not memory:
        return gradient / max(1.0, float(np.sqrt(_dot(gradient, gradient))))
    direction = gradient.copy()
    alphas = []
    for s, y in reversed(memory):
        alpha = _dot(s, direction) / _dot(s, y)
        direction -= alpha * y
        alphas.append(alpha)
    s, y = memory[-1]
    direction *= _dot(s, y) / _dot(y, y)
    for (s, y), alpha in zip(memory, reversed(alphas), strict=True):
        direction += (alpha - _dot(y, direction) / _dot(s, y)) * s
    return direction


def _dot(a: _Floats, b: _Floats) -> float:
    # Not np.dot, whose sums depend on the number of threads of the linear algebra.
    return float((a * b).sum())
