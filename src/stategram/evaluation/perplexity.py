"""How well a model predicts a text."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from stategram.evaluation.uncertainty import (
    Difference,
    Interval,
    ResampledPerplexity,
    Resampling,
    Units,
)
from stategram.models import Model, Scores
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
class PartFigures:
    """A part of a mixture on a text: its perplexity alone, and its weight, on average over all events.

    ``difference`` is that from the best part; None for the best part itself.
    """

    name: str
    perplexity: float
    weight: float
    interval: Interval | None = None
    difference: Difference | None = None


@dataclass(frozen=True)
class HistoryFigures:
    """The perplexities of a model with a history: ``sentence``, ``document`` or ``adaptive``.

    ``difference`` is that from the first history; None for the first one itself.
    """

    history: str
    perplexity: float
    perplexity_known: float
    interval: Interval | None = None
    difference: Difference | None = None


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

    ``interval`` and ``interval_known`` are confidence intervals of the two perplexities, None where they are
    infinite; ``difference`` is how a mixture differs from the best of its parts. ``resampling`` says how they
    were found.
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
    interval: Interval | None = None
    interval_known: Interval | None = None
    difference: Difference | None = None
    resampling: Resampling | None = None


def evaluate(model: Model, corpus: Corpus | Sentences, *, all_histories: bool = False) -> PerplexityFigures:
    """Measure the perplexity of a model on a text, with 95% confidence intervals.

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

    Notes
    -----
    The intervals are those of a paired bootstrap over sentences, or over documents if the text has at least
    50 of them: how far the figures may be from those of all text of the same kind. With fewer units they are
    unreliable. They say nothing of how the model would differ if it were trained with another seed.

    Examples
    --------
    >>> from stategram import NgramModel
    >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran"], order=2)
    >>> figures = evaluate(model, ["the cat slept"])
    >>> figures.events, figures.unknown, round(figures.perplexity_known, 2)
    (4, 1, 3.63)
    >>> figures = evaluate(model, ["the cat sat"] * 30 + ["a dog ran"] * 30)
    >>> round(figures.perplexity, 2), round(figures.interval.low, 2), round(figures.interval.high, 2)
    (1.95, 1.85, 2.05)

    """
    corpus = as_corpus(model.vocabulary, corpus)
    if not all_histories:
        return evaluate_resampled(model, corpus)[0]
    found = {name: evaluate_resampled(model.with_history(name), corpus) for name in model.histories}
    (first, reference), *others = found.values()
    if not others:
        return first
    histories = (
        HistoryFigures(
            name,
            figures.perplexity,
            figures.perplexity_known,
            figures.interval,
            None if resampled is reference else resampled.difference(reference),
        )
        for name, (figures, resampled) in found.items()
    )
    return replace(first, histories=tuple(histories))


def evaluate_resampled(model: Model, corpus: Corpus) -> tuple[PerplexityFigures, ResampledPerplexity]:
    """Return what `evaluate` returns of a text in the vocabulary of a model, and the resamples as well."""
    scores = model.score(corpus)
    surprisals = scores.log_probs / -np.log(2.0)
    bits = float(surprisals.mean())
    units = Units.of(scores.corpus)
    whole, known, *parts = units.resample(_texts(scores))
    best = min(parts, key=lambda part: part.value, default=None)
    figures = PerplexityFigures(
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
        parts=tuple(
            PartFigures(
                part.name,
                part.perplexity,
                part.weight,
                resampled.interval,
                None if best is None or resampled is best else resampled.difference(best),
            )
            for part, resampled in zip(scores.parts, parts, strict=True)
        ),
        interval=whole.interval,
        interval_known=known.interval,
        difference=None if best is None or len(parts) == 1 else whole.difference(best),
        resampling=units.resampling,
    )
    return figures, whole


def _texts(scores: Scores) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return log-probabilities and events of each sentence: of all events, of known words, by each part."""
    corpus, known = scores.corpus, ~scores.unknown
    events = np.diff(corpus.sentence_starts).astype(np.float64)
    return [
        (scores.sentence_log_probs, events),
        (corpus.sentence_sums(np.where(known, scores.log_probs, 0.0)), corpus.sentence_sums(known)),
        *((part.sentence_log_probs, events) for part in scores.parts),
    ]


def _order_figures(surprisals: NDArray[np.float64], chosen: NDArray[np.bool_], order: int) -> OrderFigures:
    events = int(np.count_nonzero(chosen))
    perplexity = _perplexity(float(surprisals[chosen].mean())) if events else float("nan")
    return OrderFigures(order, events, events / len(surprisals), perplexity)


def _perplexity(bits: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.exp2(bits))
