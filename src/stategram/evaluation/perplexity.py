"""How well a model predicts a text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from stategram.models import Mixture, NgramModel
from stategram.text import UNKNOWN, Corpus, Vocabulary, corpus_from_sentences, require_known_words

# What all parts of a mixture say of so many events is in memory at a time.
_EVENTS_A_PIECE = 1 << 20
_ROUNDING = 1e-4  # of log10 probabilities: ARPA files have five to seven digits


class _Model(Protocol):
    @property
    def vocabulary(self) -> Vocabulary: ...

    def log_probs(self, corpus: Corpus) -> NDArray[np.float64]: ...


@dataclass(frozen=True)
class OrderFigures:
    """The events whose probability came from n-grams of `order` words."""

    order: int
    events: int
    share: float
    perplexity: float


@dataclass(frozen=True)
class PartFigures:
    """A part of a mixture: its perplexity alone, and its weight, on average over all events."""

    name: str
    perplexity: float
    weight: float


@dataclass(frozen=True)
class PerplexityFigures:
    """What `evaluate` finds.

    An event is a word or a sentence end. ``perplexity`` counts ``<unk>`` as a word, ``perplexity_known``
    leaves the events of unknown words out (they are still in histories). ``bits`` is the cross entropy, the
    base-2 logarithm of ``perplexity``. Both are inf if one of their events has no probability;
    ``zero_probability`` says how many have none, ``above_one`` how many have one above 1, by more than
    rounding: such a model is not normalised. ``orders`` is empty for models that are not made of n-grams,
    ``parts`` for all but mixtures.
    """

    events: int
    sentences: int
    unknown: int
    zero_probability: int
    above_one: int
    perplexity: float
    perplexity_known: float
    bits: float
    orders: tuple[OrderFigures, ...] = ()
    parts: tuple[PartFigures, ...] = ()


def evaluate(model: _Model, corpus: Corpus | Iterable[str | Iterable[str]]) -> PerplexityFigures:
    """Measure the perplexity of a model on a text.

    Parameters
    ----------
    model
        Any model.
    corpus
        The text, or its sentences. Words that the model does not know are unknown, whatever the corpus knows.

    Raises
    ------
    BadDataError
        If the text has no events, or none of its words is known to the model.

    Examples
    --------
    >>> from stategram import NgramModel
    >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran"], order=2)
    >>> figures = evaluate(model, ["the cat slept"])
    >>> figures.events, figures.unknown, round(figures.perplexity_known, 2)
    (4, 1, 3.63)

    """
    if not isinstance(corpus, Corpus):
        corpus = corpus_from_sentences(corpus)
    corpus = corpus.in_vocabulary(model.vocabulary)
    require_known_words(corpus)
    unknown = corpus.ids == UNKNOWN
    orders: tuple[OrderFigures, ...] = ()
    parts: tuple[PartFigures, ...] = ()
    if isinstance(model, NgramModel):
        scores = model.events(corpus)
        surprisals = scores.log10_probs * -np.log2(10.0)
        orders = tuple(
            _of_order(surprisals, scores.orders == order, order) for order in range(1, model.order + 1)
        )
    elif isinstance(model, Mixture):
        surprisals, parts = _of_mixture(model, corpus)
    else:
        surprisals = model.log_probs(corpus) / -np.log(2.0)
    bits = float(surprisals.mean())
    return PerplexityFigures(
        events=corpus.n_events,
        sentences=corpus.n_sentences,
        unknown=corpus.n_unknown,
        zero_probability=int(np.count_nonzero(np.isposinf(surprisals))),
        above_one=int(np.count_nonzero(surprisals < -_ROUNDING * np.log2(10.0))),
        perplexity=_perplexity(bits),
        perplexity_known=_perplexity(float(surprisals[~unknown].mean())),
        bits=bits,
        orders=orders,
        parts=parts,
    )


def _of_order(surprisals: NDArray[np.float64], chosen: NDArray[np.bool_], order: int) -> OrderFigures:
    events = int(np.count_nonzero(chosen))
    perplexity = _perplexity(float(surprisals[chosen].mean())) if events else float("nan")
    return OrderFigures(order, events, events / len(surprisals), perplexity)


def _of_mixture(model: Mixture, corpus: Corpus) -> tuple[NDArray[np.float64], tuple[PartFigures, ...]]:
    """Give the surprisals of a mixture and the figures of its parts, each of which scores the text once."""
    log_probs = np.empty(corpus.n_events)
    of_parts = np.zeros(len(model.parts))
    weights = np.zeros(len(model.parts))
    for begin, piece in corpus.pieces(_EVENTS_A_PIECE):
        of_piece = model.event_weights(piece)
        weights += of_piece.sum(axis=0)
        mixed = np.zeros(piece.n_events)
        for number, of_part in enumerate(model.part_log_probs(piece)):
            of_parts[number] += of_part.sum()
            mixed += of_piece[:, number] * np.exp(of_part)
        with np.errstate(divide="ignore"):
            np.log(mixed, out=log_probs[begin : begin + piece.n_events])
    bits = (of_parts / -np.log(2.0) / corpus.n_events).tolist()
    means = (weights / corpus.n_events).tolist()
    return log_probs / -np.log(2.0), tuple(
        PartFigures(repr(part), _perplexity(of), weight)
        for part, of, weight in zip(model.parts, bits, means, strict=True)
    )


def _perplexity(bits: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.exp2(bits))
