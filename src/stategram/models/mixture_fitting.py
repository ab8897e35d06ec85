"""The weights of a mixture, learned on held-out text.

1. The probabilities that all parts give to each held-out event.
2. Global weights, by expectation maximisation.
3. With buckets: weights for each bucket, pulled toward the global ones by a Dirichlet prior. The kind of
   buckets and the strength of the prior are those that predict one half of the text best when the weights are
   learned on the other, both ways.
4. Once more, on all of the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.models.buckets import Buckets, available_kinds

__all__ = ["MAX_ITERATIONS", "TOLERANCE", "Fitted", "HeldOut", "Settings", "choose", "fit"]

_STRENGTHS = (1.0, 4.0, 16.0, 64.0, 256.0, 1024.0)
_Features = Mapping[str, NDArray[np.float32]]
MAX_ITERATIONS = 1000
TOLERANCE = 1e-7
# To choose, a hundred-thousandth of a nat is close enough.
_CHOOSING_TOLERANCE = 1e-5


@dataclass(frozen=True)
class Settings:
    """When expectation maximisation ends, and on how many threads it runs."""

    max_iterations: int
    tolerance: float
    threads: int

    @classmethod
    def usual(cls, threads: int) -> Settings:
        """Give what nobody needs to change."""
        return cls(MAX_ITERATIONS, TOLERANCE, threads)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What the parts of a mixture say of held-out events.

    ``ratios``: for each part and event its probability, divided by the greatest of the event, whose
    logarithms are ``log_best``. ``features``: what each part knows of the histories.
    """

    ratios: NDArray[np.float32]
    log_best: NDArray[np.float64]
    features: tuple[_Features, ...]

    @classmethod
    def of(cls, log_probs: NDArray[np.float64], features: Sequence[_Features]) -> HeldOut:
        """Take the natural logarithms of probabilities, a row for each part, without impossible events."""
        best = log_probs.max(axis=0)
        ratios = np.exp(log_probs - best).astype(np.float32, order="C")
        return cls(ratios, best, tuple(features))

    @property
    def events(self) -> int:
        """The number of events."""
        return len(self.log_best)

    def between(self, begin: int, end: int) -> HeldOut:
        """Give some of the events."""
        features = tuple({name: one[begin:end] for name, one in of.items()} for of in self.features)
        return HeldOut(np.ascontiguousarray(self.ratios[:, begin:end]), self.log_best[begin:end], features)

    def without(self, part: int) -> HeldOut:
        """Leave a part out; what it knows of the histories stays."""
        return HeldOut(np.delete(self.ratios, part, axis=0), self.log_best, self.features)

    def grouped(self, buckets: Buckets) -> _Grouped:
        """Sort the events by their buckets."""
        found = buckets.of(self.features[buckets.part], self.events)
        starts = np.concatenate(([0], np.cumsum(np.bincount(found, minlength=buckets.number))))
        order = np.argsort(found, kind="stable")
        ratios = self.ratios if buckets.number == 1 else np.ascontiguousarray(self.ratios[:, order])
        return _Grouped(ratios, starts.astype(np.int64), float(self.log_best.sum()))


@dataclass(frozen=True)
class Fitted:
    """Weights, a row for each bucket, and how well they predict the text they are from."""

    buckets: Buckets
    strength: float
    weights: NDArray[np.float64]
    global_weights: NDArray[np.float64]
    log_likelihood: float
    iterations: int


@dataclass(frozen=True, eq=False)
class _Grouped:
    """Events sorted by buckets."""

    ratios: NDArray[np.float32]
    starts: NDArray[np.int64]
    log_best: float

    def fit(
        self, centre: NDArray[np.float64], strength: float, settings: Settings
    ) -> tuple[NDArray[np.float64], float, int]:
        """Give weights for each bucket, which begin at the centre, their log-likelihood, the iterations."""
        n_buckets = len(self.starts) - 1
        weights, logs, iterations = _core.em_weights(
            self.ratios,
            self.starts,
            np.tile(centre, n_buckets),
            centre,
            strength,
            settings.max_iterations,
            settings.tolerance,
            settings.threads,
        )
        return weights.reshape(n_buckets, -1), self.log_best + float(logs.sum()), int(iterations.max())

    def log_likelihood(self, weights: NDArray[np.float64], threads: int) -> float:
        """Give the log-likelihood of given weights, a row for each bucket."""
        flat = np.ascontiguousarray(weights).reshape(-1)
        _, logs, _ = _core.em_weights(self.ratios, self.starts, flat, weights[0].copy(), 0.0, 0, 1.0, threads)
        return self.log_best + float(logs.sum())


def fit(heldout: HeldOut, buckets: Buckets, strength: float, settings: Settings) -> Fitted:
    """Learn the weights of given buckets."""
    n_parts = len(heldout.ratios)
    uniform = np.full(n_parts, 1.0 / n_parts)
    found, log_likelihood, iterations = heldout.grouped(Buckets()).fit(uniform, 0.0, settings)
    weights = found
    if buckets.kind != "none":
        weights, log_likelihood, more = heldout.grouped(buckets).fit(found[0], strength, settings)
        iterations = max(iterations, more)
    return Fitted(buckets, strength, weights, found[0], log_likelihood, iterations)


def choose(
    heldout: HeldOut, middle: int, kinds: Sequence[str], settings: Settings
) -> tuple[str, float, list[dict[str, Any]]]:
    """Choose a kind of buckets and the strength of their prior; give what each of them was worth.

    Half of the events, up to `middle`, is predicted with what the other half taught, and the other way round.
    """
    settings = replace(settings, tolerance=max(settings.tolerance, _CHOOSING_TOLERANCE))
    totals: dict[tuple[str, float], float] = {}
    halves = heldout.between(0, middle), heldout.between(middle, heldout.events)
    for taught, measured in (halves, halves[::-1]):
        for kind, strength, value in _cross(taught, measured, kinds, settings):
            totals[kind, strength] = totals.get((kind, strength), 0.0) + value
    kind, strength = max(totals, key=totals.__getitem__)  # the first of equals is the simplest
    candidates = [
        {"kind": kind, "strength": strength, "perplexity": float(np.exp(-total / heldout.events))}
        for (kind, strength), total in totals.items()
    ]
    return kind, strength, candidates


def _cross(
    taught: HeldOut, measured: HeldOut, kinds: Sequence[str], settings: Settings
) -> Iterator[tuple[str, float, float]]:
    centre = fit(taught, Buckets(), 0.0, settings).global_weights
    parts = available_kinds(taught.features)
    for kind in kinds:
        buckets = Buckets.learn(kind, parts[kind], taught.features[parts[kind]])
        teacher, judge = taught.grouped(buckets), measured.grouped(buckets)
        if kind == "none":
            yield kind, 0.0, judge.log_likelihood(centre[np.newaxis], settings.threads)
            continue
        for strength in _STRENGTHS:
            weights, _, _ = teacher.fit(centre, strength, settings)
            yield kind, strength, judge.log_likelihood(weights, settings.threads)
