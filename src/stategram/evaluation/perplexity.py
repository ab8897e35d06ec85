"""How well a model predicts a text."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from stategram.models import Model, PartFigures
from stategram.text import Corpus, Sentences, as_corpus

_ROUNDING = 1e-4  # of log10 probabilities: ARPA files have five to seven digits


@dataclass(frozen=True)
class OrderFigures:
    """The events whose probability came from n-grams of `order` words."""

    order: int
    events: int
    share: float
    perplexity: float


@dataclass(frozen=True)
class HistoryFigures:
    """The perplexities of a model with a history: ``sentence``, ``document`` or ``adaptive``."""

    history: str
    perplexity: float
    perplexity_known: float


@dataclass(frozen=True)
class PerplexityFigures:
    """The result of `evaluate`.

    An event is a word or a sentence end. ``perplexity`` counts ``<unk>`` as a word, ``perplexity_known``
    leaves out the events of unknown words (they are still in histories). ``bits`` is the cross entropy, the
    base-2 logarithm of ``perplexity``. Both are inf if one of their events has no probability;
    ``zero_probability`` is how many have none, ``above_one`` how many have one above 1, by more than
    rounding: such a model is not normalized. ``orders`` is empty for models that are not made of n-grams,
    ``parts`` for all but mixtures. ``histories`` is empty unless all were measured, and for models that have
    only one.
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
    histories: tuple[HistoryFigures, ...] = ()


def evaluate(model: Model, corpus: Corpus | Sentences, *, all_histories: bool = False) -> PerplexityFigures:
    """Measure the perplexity of a model on a text.

    Parameters
    ----------
    model
        Any model.
    corpus
        The text, or its sentences. Words that the model does not know are unknown, whatever the corpus knows.
    all_histories
        Whether to measure each of ``model.histories``; all other figures are then those of the first,
        ``sentence``.

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
    corpus = as_corpus(model.vocabulary, corpus)
    if not all_histories:
        return _figures(model, corpus)
    found = {name: _figures(model.with_history(name), corpus) for name in model.histories}
    first, *others = found.values()
    if not others:
        return first
    histories = (HistoryFigures(name, of.perplexity, of.perplexity_known) for name, of in found.items())
    return replace(first, histories=tuple(histories))


def _figures(model: Model, corpus: Corpus) -> PerplexityFigures:
    scores = model.score(corpus)
    surprisals = scores.log_probs / -np.log(2.0)
    bits = float(surprisals.mean())
    return PerplexityFigures(
        events=scores.corpus.n_events,
        sentences=scores.corpus.n_sentences,
        unknown=scores.corpus.n_unknown,
        zero_probability=int(np.count_nonzero(np.isposinf(surprisals))),
        above_one=int(np.count_nonzero(surprisals < -_ROUNDING * np.log2(10.0))),
        perplexity=_perplexity(bits),
        perplexity_known=_perplexity(float(surprisals[~scores.unknown].mean())),
        bits=bits,
        orders=()
        if scores.orders is None
        else tuple(
            _order_figures(surprisals, scores.orders == order, order) for order in range(1, model.order + 1)
        ),
        parts=scores.parts,
    )


def _order_figures(surprisals: NDArray[np.float64], chosen: NDArray[np.bool_], order: int) -> OrderFigures:
    events = int(np.count_nonzero(chosen))
    perplexity = _perplexity(float(surprisals[chosen].mean())) if events else float("nan")
    return OrderFigures(order, events, events / len(surprisals), perplexity)


def _perplexity(bits: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.exp2(bits))
