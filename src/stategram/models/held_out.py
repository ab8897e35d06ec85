"""What the parts of a mixture say of held-out events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.models.gate import Features
from stategram.progress import Progress

MAX_ITERATIONS = 1000
TOLERANCE = 1e-7


@dataclass(frozen=True)
class Settings:
    """When learning weights ends and who is told how far it is."""

    max_iterations: int
    tolerance: float
    progress: Progress | None = None

    def say(self, fraction: float, message: str) -> None:
        """Report progress, if anybody wants it."""
        if self.progress is not None:
            self.progress(fraction, message)

    @classmethod
    def usual(cls) -> Settings:
        """Give what nobody needs to change."""
        return cls(MAX_ITERATIONS, TOLERANCE)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What the parts of a mixture say of held-out events.

    ``ratios``: for each part and event its probability, divided by the greatest of the event, whose
    logarithms are ``log_best``. ``features``: what each part knows of the histories.
    """

    ratios: NDArray[np.float32]
    log_best: NDArray[np.float64]
    features: tuple[Features, ...]

    @classmethod
    def of(cls, log_probs: NDArray[np.float64], features: Sequence[Features]) -> HeldOut:
        """Take the natural logarithms of probabilities, a row for each part, without impossible events."""
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
        """Give some of the events."""
        features = tuple({name: one[begin:end] for name, one in of.items()} for of in self.features)
        ratios = np.ascontiguousarray(self.ratios[:, begin:end])
        return replace(self, ratios=ratios, log_best=self.log_best[begin:end], features=features)

    def without(self, part: int) -> HeldOut:
        """Leave a part out; what it knows of the histories stays."""
        ratios = np.delete(self.ratios, part, axis=0)
        return replace(self, ratios=ratios)
