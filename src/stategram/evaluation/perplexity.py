"""How well a model predicts a text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from stategram.errors import BadDataError
from stategram.models import NgramModel
from stategram.text import END, UNKNOWN, Corpus, Vocabulary, corpus_from_sentences

__all__ = ["OrderFigures", "PerplexityFigures", "evaluate"]

_ROUNDING = 1e-4  # of log10 probabilities: ARPA files have five to seven digits


class _Model(Protocol):
    @property
    def vocabulary(self) -> Vocabulary: ...

    def log_probs(self, corpus: Corpus, *, threads: int | None = None) -> NDArray[np.float64]: ...


@dataclass(frozen=True)
class OrderFigures:
    """The events whose probability came from n-grams of `order` words."""

    order: int
    events: int
    share: float
    perplexity: float


@dataclass(frozen=True)
class PerplexityFigures:
    """What `evaluate` finds.

    An event is a word or a sentence end. ``perplexity`` counts ``<unk>`` as a word, ``perplexity_known``
    leaves the events of unknown words out (they are still in histories). ``bits`` is the cross entropy, the
    base-2 logarithm of ``perplexity``. Both are inf if one of their events has no probability;
    ``zero_probability`` says how many have none, ``above_one`` how many have one above 1, by more than
    rounding: such a model is not normalised. ``orders`` is empty for models that are not made of n-grams.
    """

    events: int
    sentences: int
    unknown: int
    zero_probability: int
    above_one: int
    perplexity: float
    perplexity_known: float
    bits: float
    orders: tuple[OrderFigures, ...]


def evaluate(
    model: _Model, corpus: Corpus | Iterable[str | Iterable[str]], *, threads: int | None = None
) -> PerplexityFigures:
    """Measure the perplexity of a model on a text.

    Parameters
    ----------
    model
        Any model.
    corpus
        The text, or its sentences. Words that the model does not know are unknown, whatever the corpus knows.
    threads
        All processors by default. The result is always the same.

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
    if corpus.n_events == 0:
        raise BadDataError("the text has no words; give a text with a sentence a line")
    unknown = _unknown_ids(corpus.vocabulary, model.vocabulary)[corpus.ids]
    n_unknown = int(np.count_nonzero(unknown))
    if n_unknown == np.count_nonzero(corpus.ids != END):
        raise BadDataError(
            f"the text has no word of the model's vocabulary ({len(model.vocabulary):,} words); "
            "check that both are of the same language, case and tokenisation"
        )
    orders: tuple[OrderFigures, ...] = ()
    if isinstance(model, NgramModel):
        scores = model.events(corpus, threads=threads)
        surprisals = scores.log10_probs * -np.log2(10.0)
        orders = tuple(
            _of_order(surprisals, scores.orders == order, order) for order in range(1, model.order + 1)
        )
    else:
        surprisals = model.log_probs(corpus, threads=threads) / -np.log(2.0)
    bits = float(surprisals.mean())
    return PerplexityFigures(
        events=corpus.n_events,
        sentences=corpus.n_sentences,
        unknown=n_unknown,
        zero_probability=int(np.count_nonzero(np.isposinf(surprisals))),
        above_one=int(np.count_nonzero(surprisals < -_ROUNDING * np.log2(10.0))),
        perplexity=_perplexity(bits),
        perplexity_known=_perplexity(float(surprisals[~unknown].mean())),
        bits=bits,
        orders=orders,
    )


def _unknown_ids(vocabulary: Vocabulary, known: Vocabulary) -> NDArray[np.bool_]:
    if vocabulary is known or vocabulary == known:
        unknown = np.zeros(len(vocabulary), np.bool_)
        unknown[UNKNOWN] = True
        return unknown
    return np.fromiter((known.id(word) == UNKNOWN for word in vocabulary.words), np.bool_, len(vocabulary))


def _of_order(surprisals: NDArray[np.float64], chosen: NDArray[np.bool_], order: int) -> OrderFigures:
    events = int(np.count_nonzero(chosen))
    perplexity = _perplexity(float(surprisals[chosen].mean())) if events else float("nan")
    return OrderFigures(order, events, events / len(surprisals), perplexity)


def _perplexity(bits: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.exp2(bits))
