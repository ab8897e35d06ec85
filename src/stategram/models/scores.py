"""The log-probabilities of a text, and the states from which scoring goes on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stategram.errors import BadDataError
from stategram.text import UNKNOWN, Corpus


@dataclass(frozen=True, slots=True)
class State:
    """What a model has to know of the words so far: small, immutable and hashable.

    `value` belongs to the model that made the state. Equal states have the same future.
    """

    value: Any


class Step(NamedTuple):
    """A word after a state."""

    log_prob: float
    """Its natural-log probability."""
    state: State
    """The state after the word."""
    order: int | None
    """The length of the n-gram that gave the probability; None if the model has no n-grams of words."""


class WordScore(NamedTuple):
    """A word, or a sentence end, of a text that was scored."""

    word: str
    log_prob: float
    order: int | None
    unknown: bool


@dataclass(frozen=True, eq=False)
class PartScores:
    """A part of a mixture on a text."""

    name: str
    perplexity: float
    """The perplexity of the part alone."""
    weight: float
    """Its weight, on average over all events."""
    sentence_log_probs: NDArray[np.float64]
    """The natural-log probability of each sentence by the part alone."""
    predicts_unknown: bool = True
    """Whether the part has a probability for unknown words; if not, they are left out of its figures."""


@dataclass(frozen=True, eq=False)
class Scores:
    """The result of `Model.score`.

    Parameters
    ----------
    corpus
        The text, in the vocabulary of the model.
    log_probs
        The natural-log probability of each event.
    state
        The state after the last event.
    orders
        The length of the n-gram that gave each probability; None if the model has no n-grams of words.
    features
        The requested features of the history before each event, by name.
    parts
        The parts of a mixture; empty for other models.
    predicts_unknown
        Whether unknown words have a probability. Without one their log10 is -100, as in KenLM, and they are
        left out of the perplexity.

    Examples
    --------
    >>> from stategram import NgramModel
    >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran"], order=2)
    >>> scores = model.score(["the cat slept"])
    >>> round(scores.perplexity, 2), round(scores.log10_prob, 3)
    (6.25, -3.184)
    >>> [(event.word, event.order, event.unknown) for event in next(scores.sentences())]
    [('the', 2, False), ('cat', 2, False), ('<unk>', 1, True), ('</s>', 1, False)]

    """

    corpus: Corpus
    log_probs: NDArray[np.float64]
    state: State
    orders: NDArray[np.uint8] | None = None
    features: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    parts: tuple[PartScores, ...] = ()
    predicts_unknown: bool = True

    @property
    def log_prob(self) -> float:
        """The natural-log probability of the text."""
        return float(self.log_probs.sum())

    @property
    def log10_prob(self) -> float:
        """The log10 probability of the text, as KenLM and ARPA files have it."""
        return self.log_prob / math.log(10.0)

    @property
    def perplexity(self) -> float:
        """The perplexity of the text: words and sentence ends, ``<unk>`` counted as a word."""
        log_probs = self.log_probs if self.predicts_unknown else self.log_probs[~self.unknown]
        if len(log_probs) == 0:
            raise BadDataError("the text has no words, so it has no perplexity")
        with np.errstate(over="ignore"):
            return float(np.exp(-log_probs.mean()))

    @cached_property
    def unknown(self) -> NDArray[np.bool_]:
        """Whether each event is a word that the model does not know."""
        unknown: NDArray[np.bool_] = self.corpus.ids == UNKNOWN
        return unknown

    @cached_property
    def sentence_log_probs(self) -> NDArray[np.float64]:
        """The natural-log probability of each sentence."""
        return self.corpus.sentence_sums(self.log_probs)

    @classmethod
    def join(cls, corpus: Corpus, pieces: Sequence[Scores]) -> Scores:
        """Return the scores of a text from those of its pieces, each some of its sentences, in order."""
        if len(pieces) == 1:
            return replace(pieces[0], corpus=corpus)
        orders = [piece.orders for piece in pieces if piece.orders is not None]
        joined = cls(
            corpus,
            np.concatenate([piece.log_probs for piece in pieces]),
            pieces[-1].state,
            np.concatenate(orders) if orders else None,
            predicts_unknown=pieces[0].predicts_unknown,
        )
        known = corpus.n_events - corpus.n_unknown
        events = np.array([len(piece.log_probs) for piece in pieces], np.float64)
        parts = []
        for of_part in zip(*(piece.parts for piece in pieces), strict=True):
            sentence_log_probs = np.concatenate([part.sentence_log_probs for part in of_part])
            n_events = corpus.n_events if of_part[0].predicts_unknown else known
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                perplexity = float(np.exp(-sentence_log_probs.sum() / n_events))
            weight = float(np.dot([part.weight for part in of_part], events) / events.sum())
            parts.append(
                replace(
                    of_part[0],
                    perplexity=perplexity,
                    weight=weight,
                    sentence_log_probs=sentence_log_probs,
                )
            )
        return replace(joined, parts=tuple(parts))

    def sentences(self) -> Iterator[list[WordScore]]:
        """Return the events of each sentence in turn."""
        orders = None if self.orders is None else self.orders.tolist()
        for begin, end in zip(
            self.corpus.sentence_starts[:-1].tolist(), self.corpus.sentence_starts[1:].tolist(), strict=True
        ):
            yield [
                WordScore(
                    self.corpus.vocabulary.word(id),
                    log_prob,
                    orders[event] if orders else None,
                    id == UNKNOWN,
                )
                for event, (id, log_prob) in enumerate(
                    zip(self.corpus.ids[begin:end].tolist(), self.log_probs[begin:end].tolist(), strict=True),
                    begin,
                )
            ]
