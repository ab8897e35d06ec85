"""Whether the probabilities after a history sum to one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stategram.models import Model, random_history
from stategram.progress import Progress


@dataclass(frozen=True)
class HistorySum:
    """The sum of the probabilities of all words after a history."""

    history: tuple[str, ...]
    total: float

    @property
    def error(self) -> float:
        """How far the sum is from one."""
        return abs(self.total - 1.0) if np.isfinite(self.total) else float("inf")


def history_sums(model: Model, samples: int = 100, *, progress: Progress | None = None) -> list[HistorySum]:
    """Sum the probabilities after random histories, always the same: half are n-grams, half are any words.

    The first two are the history without words and the sentence start.

    Examples
    --------
    >>> from stategram import NgramModel
    >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran"], order=3)
    >>> max(one.error for one in history_sums(model)) < 1e-6
    True

    """
    random = np.random.default_rng(0)
    sums = []
    for i in range(samples):
        if i < 2:
            history: tuple[str, ...] = ((), ("<s>",))[i]
        else:
            history = random_history(model, random, any_words=i % 2 == 1)
        total = float(model.distribution(history, sentence_start=False).sum())
        sums.append(HistorySum(history, total))
        if progress:
            progress((i + 1) / samples, f"{i + 1:,} of {samples:,} histories")
    return sums
