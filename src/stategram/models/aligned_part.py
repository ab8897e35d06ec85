"""A model as a part of a mixture: its probabilities over the vocabulary of the mixture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.models.protocol import Model
from stategram.text import UNKNOWN, Corpus, Vocabulary


@dataclass(frozen=True, eq=False)
class AlignedPart:
    """A model, and how the words of a vocabulary are known to it.

    Words that it lacks share the probability of its ``<unk>`` evenly, and words that only it has are never
    predicted: the probabilities then sum to no more than one.
    """

    model: Model
    ids: NDArray[np.int64] | None = None
    """The model's id of each word; None if all are the same."""
    shared_by: int = 1
    """How many words share the ``<unk>`` of the model."""

    @classmethod
    def of(cls, model: Model, vocabulary: Vocabulary, *, allow_unknown: bool) -> AlignedPart:
        """Look the words of a vocabulary up; UsageError if the model has others, unless that is allowed."""
        if model.vocabulary is vocabulary or model.vocabulary == vocabulary:
            return cls(model)
        ids = np.fromiter(map(model.vocabulary.id, vocabulary.words), np.int64, len(vocabulary))
        lacking = int(np.count_nonzero(ids == UNKNOWN)) - 1
        further = len(model.vocabulary) - (len(vocabulary) - lacking)
        if (lacking or further) and not allow_unknown:
            raise UsageError(
                f"{model!r} has another vocabulary than the first part of the mixture: {lacking:,} words are "
                f"missing and {further:,} are new; train both with one vocabulary, or set allow_unknown"
            )
        return cls(model, ids, lacking + 1)

    def log_probs(self, corpus: Corpus) -> NDArray[np.float64]:
        """Give the natural logarithm of the probability of each event of a corpus of that vocabulary."""
        log_probs = self.model.log_probs(corpus)
        if self.ids is not None and self.shared_by > 1:
            log_probs[self.ids[corpus.ids] == UNKNOWN] -= math.log(self.shared_by)
        return log_probs

    def distribution(self, history: Sequence[str], sentence_start: bool) -> NDArray[np.float64]:
        """Give the probability of each word of that vocabulary."""
        probabilities = self.model.distribution(history, sentence_start=sentence_start)
        if self.ids is None:
            return probabilities
        aligned: NDArray[np.float64] = probabilities[self.ids]
        aligned[self.ids == UNKNOWN] /= self.shared_by
        return aligned
