"""A text that is scored block by block."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stategram.models import Model, Scores, State, UnknownWords
from stategram.text import LineBlock, UnknownCount


@dataclass(frozen=True, eq=False)
class ScoredBlock:
    """Lines of a text that were scored."""

    block: LineBlock
    scores: Scores
    log_probs: NDArray[np.float64]
    """Natural-log probabilities; nan for unknown words that have none."""
    before: State
    """The state before the lines."""


class TextScorer:
    """Scores blocks of lines, each from the state after the one before.

    Parameters
    ----------
    model
        The model.
    unknown
        What is done with unknown words: see `UnknownWords`.

    """

    def __init__(self, model: Model, unknown: str = "unk") -> None:
        self.model = model
        self.unknown = UnknownWords(model, unknown)
        self.count = UnknownCount()
        self._state = model.start()

    def score(self, block: LineBlock, features: Collection[str] = ()) -> ScoredBlock:
        """Score the next lines."""
        before = self._state
        scores = self.model.score(block.corpus, features=features, state=before)
        self._state = scores.state
        self.count.add(block.corpus, scores.corpus)
        return ScoredBlock(block, scores, self.unknown.log_probs(scores, block.corpus), before)


def masked(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values of which those that are nan are missing."""
    missing = np.isnan(values)
    return np.ma.array(values, mask=missing) if missing.any() else values
