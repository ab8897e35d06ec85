"""How well a model predicts a text."""

from __future__ import annotations

import logging
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
from stategram.models import Model, Scores, UnknownWords, require_model, warn_of_unknown
from stategram.text import END, Corpus, Sentences, as_corpus, spelled_corpus

_log = logging.getLogger(__name__)

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

    ``unknown_words`` is what was done with unknown words. If they were excluded, ``perplexity``, ``bits`` and
    ``orders`` are without them. If they were spelled, ``perplexity_spelled`` counts them with the probability
    of their spelling, and ``bits_per_character`` is the same in bits for each character of the text, a space
    or line end after each word included; both leave out words that are ``<unk>`` in the text itself, of which
    there are ``unspelled``.
    ``interval``, ``interval_known`` and ``interval_spelled`` are confidence intervals of perplexities, None
    where these are infinite or not there; ``difference`` is how a mixture differs from the best of its parts.
    ``resampling`` says how they were found.
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
    unknown_words: str = "unk"
    perplexity_spelled: float | None = None
    bits_per_character: float | None = None
    unspelled: int = 0
    interval: Interval | None = None
    interval_known: Interval | None = None
    interval_spelled: Interval | None = None
    difference: Difference | None = None
    resampling: Resampling | None = None


def evaluate(
    model: Model, corpus: Corpus | Sentences, *, unknown: str = "unk", all_histories: bool = False
) -> PerplexityFigures:
    """Measure the perplexity of a model on a text, with 95% confidence intervals.

    Parameters
    ----------
    model
        Any model.
    corpus
        The text, or its sentences. Words that the model does not know are unknown, whatever the corpus knows.
    unknown
        What is done with them. ``unk``: they are the word ``<unk>``. ``exclude``: they are left out, as
        always if the model has no probability for them. ``spell``: they are ``<unk>``, but there are figures
        with their spelling too; for these a corpus must not have the vocabulary of the model.
    all_histories
        Whether to measure each of ``model.histories``; all other figures are then those of the first,
        ``sentence``.

    Raises
    ------
    BadDataError
        If the text has no events, or none of its words is known to the model.

    Notes
    -----
    The intervals are those of a paired bootstrap over documents, or over sentences if the text is a single
    document: how far the figures may be from those of all text of the same kind. With fewer than 50 units
    they are unreliable. They say nothing of how the model would differ if it were trained with another seed.

    Examples
    --------
    >>> from stategram import NgramModel
    >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran"], order=2)
    >>> figures = evaluate(model, ["the cat slept"])
    >>> figures.events, figures.unknown, round(figures.perplexity_known, 2)
    (4, 1, 3.63)
    >>> figures = evaluate(model, ["the cat sat"] * 30 + ["a dog ran"] * 30)
    >>> round(figures.perplexity, 2), round(figures.interval.low, 2), round(figures.interval.high, 2)
    (4.21, 3.73, 4.82)

    """
    require_model(model)
    words = UnknownWords(model, unknown)
    text = spelled_corpus(model.vocabulary, corpus)
    encoded = as_corpus(model.vocabulary, text)
    warn_of_unknown(model, text, encoded)
    if encoded.n_unknown and words.choice == "spell":
        for note in words.notes:
            _log.warning(note)
    Units.of(encoded).resampling.warn()

    def of(one: Model) -> tuple[PerplexityFigures, ResampledPerplexity]:
        scores = score_in_pieces(one, encoded)
        figures, resampled = evaluate_resampled(scores, one.order, words.choice)
        if words.choice == "spell":
            figures = _with_spelling(figures, words.log_probs(scores, text), text)
        return figures, resampled

    if not all_histories:
        return of(model)[0]
    found = {name: of(model.with_history(name)) for name in model.histories}
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


def score_in_pieces(model: Model, corpus: Corpus) -> Scores:
    """Return the scores of a text; one of many events is scored piece by piece, in bounded memory."""
    if model.looks_back or corpus.n_events == 0:
        return model.score(corpus)
    return Scores.join(corpus, [model.score(piece) for _, piece in corpus.pieces()])


def evaluate_resampled(
    scores: Scores, order: int = 0, unknown: str = "unk"
) -> tuple[PerplexityFigures, ResampledPerplexity]:
    """Return the figures of a scored text, also by n-grams of up to `order` words, and its resamples."""
    choice = unknown if scores.predicts_unknown else "exclude"
    encoded = scores.corpus
    surprisals = scores.log_probs / -np.log(2.0)
    known = surprisals[~scores.unknown]
    orders = scores.orders
    if choice == "exclude":
        surprisals = known
        orders = None if orders is None else orders[~scores.unknown]
    bits = float(surprisals.mean())
    units = Units.of(scores.corpus)
    whole, of_known, *parts = units.resample(_texts(scores))
    best = min(parts, key=lambda part: part.value, default=None)
    if choice == "exclude":
        whole = of_known
    figures = PerplexityFigures(
        events=encoded.n_events,
        sentences=encoded.n_sentences,
        unknown=encoded.n_unknown,
        zero_probability=int(np.count_nonzero(np.isposinf(surprisals))),
        above_one=int(np.count_nonzero(surprisals < -_ROUNDING * np.log2(10.0))),
        perplexity=_perplexity(bits),
        perplexity_known=_perplexity(float(known.mean())),
        bits=bits,
        orders=()
        if orders is None
        else tuple(_order_figures(surprisals, orders == n, n) for n in range(1, order + 1)),
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
        interval_known=of_known.interval,
        # Parts count unknown words, so they are not compared with a mixture without them.
        difference=None if best is None or choice == "exclude" else whole.difference(best),
        resampling=units.resampling,
        unknown_words=choice,
    )
    return figures, whole


def _with_spelling(
    figures: PerplexityFigures, log_probs: NDArray[np.float64], text: Corpus
) -> PerplexityFigures:
    spelled = log_probs / -np.log(2.0)
    has_spelling = ~np.isnan(spelled)
    sums = text.sentence_sums(np.where(has_spelling, log_probs, 0.0)), text.sentence_sums(has_spelling)
    ids = text.ids[has_spelling]
    ids = ids[ids != END]
    return replace(
        figures,
        perplexity_spelled=_perplexity(float(spelled[has_spelling].mean())),
        bits_per_character=float(spelled[has_spelling].sum() / (text.vocabulary.lengths[ids] + 1).sum()),
        unspelled=int(np.count_nonzero(~has_spelling)),
        interval_spelled=Units.of(text).resample([sums])[0].interval,
    )


def _texts(scores: Scores) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return log-probabilities and events of each sentence: of all events, of known words, by each part."""
    corpus, known = scores.corpus, ~scores.unknown
    events = np.diff(corpus.sentence_starts).astype(np.float64)
    known_events = corpus.sentence_sums(known)
    return [
        (scores.sentence_log_probs, events),
        (corpus.sentence_sums(np.where(known, scores.log_probs, 0.0)), known_events),
        *(
            (part.sentence_log_probs, events if part.predicts_unknown else known_events)
            for part in scores.parts
        ),
    ]


def _order_figures(surprisals: NDArray[np.float64], chosen: NDArray[np.bool_], order: int) -> OrderFigures:
    events = int(np.count_nonzero(chosen))
    perplexity = _perplexity(float(surprisals[chosen].mean())) if events else float("nan")
    return OrderFigures(order, events, events / len(surprisals), perplexity)


def _perplexity(bits: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.exp2(bits))
