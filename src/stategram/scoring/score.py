"""A text that is scored block by block."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stategram.models import Model, Scores, State, UnknownWords
from stategram.progress import Progress
from stategram.text import END, UNKNOWN, LineBlock, UnknownCount


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

    def score(
        self, block: LineBlock, features: Collection[str] = (), progress: Progress | None = None
    ) -> ScoredBlock:
        """Score the next lines; `progress` is that of entropies, which are computed when they are used."""
        before = self._state
        scores = self.model.score(block.corpus, features=features, state=before)
        self._state = scores.state
        self.count.add(block.corpus, scores.corpus)
        return ScoredBlock(
            self, block, scores, self.unknown.log_probs(scores, block.corpus), before, progress
        )

    @property
    def notes(self) -> list[str]:
        """What a user should know of the unknown words so far."""
        of_choice = self.unknown.notes if self.count.unknown else []
        return [note for note in (*of_choice, self.count.note) if note is not None]

    @cached_property
    def log10_frequencies(self) -> NDArray[np.float64]:
        """For each word, log10 of its relative frequency in the training text; nan if it is not known.

        A model that knows no counts, as one of an ARPA file, has unigram probabilities in their place.
        """
        frequencies = self.model.vocabulary.counts.astype(np.float64)
        if frequencies[END] == 0:  # not those of a text, not of all of it at least
            frequencies = self.model.distribution_after(self.model.start(sentence_start=False))
        with np.errstate(divide="ignore"):
            logs: NDArray[np.float64] = np.log10(frequencies / frequencies.sum())
        logs[np.isinf(logs)] = np.nan
        logs[UNKNOWN] = np.nan  # the frequency of all unknown words together is not that of one
        return logs


@dataclass(frozen=True, eq=False)
class ScoredBlock:
    """Lines of a text that were scored."""

    scorer: TextScorer
    block: LineBlock
    scores: Scores
    log_probs: NDArray[np.float64]
    """Natural-log probabilities; nan for unknown words that have none."""
    before: State
    """The state before the lines."""
    progress: Progress | None = None

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each sentence begins, and the number of events."""
        return self.scores.corpus.sentence_starts

    @cached_property
    def entropies(self) -> NDArray[np.float64]:
        """The entropy of the next word before each event, in nats."""
        return self.scorer.model.entropies(self.block.corpus, state=self.before, progress=self.progress)

    def part_log_probs(self) -> list[NDArray[np.float64]]:
        """Return the log-probabilities by each part of a mixture; spelling counts as in the mixture."""
        spelled = np.where(self.scores.unknown, self.log_probs - self.scores.log_probs, 0.0)
        found = self.scorer.model.part_log_probs(self.block.corpus, state=self.before)
        return [of_part + spelled for of_part in found]
