"""Models side by side on one text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from stategram.errors import BadDataError, UsageError
from stategram.evaluation.uncertainty import Difference, Interval, Resampling, Units
from stategram.models import Model, Scores, UnknownWords, require_model
from stategram.text import Corpus, Sentences, as_corpus, spelled_corpus


@dataclass(frozen=True)
class ComparedModel:
    """A model of a comparison: its perplexity on all compared events, and on those of known words.

    Differences are those from the first model, None for the first one itself.
    """

    name: str
    perplexity: float
    interval: Interval | None
    difference: Difference | None
    perplexity_known: float
    interval_known: Interval | None
    difference_known: Difference | None


@dataclass(frozen=True)
class Comparison:
    """The result of `compare`.

    ``events`` are those that were compared, in ``sentences``; ``known`` of them are words that all models
    know, and sentence ends. ``left_out`` are the events of words that some models know and others do not:
    none if all have the same vocabulary, and else all that any model lacks. ``resampling`` says how the
    confidence intervals were found.
    """

    events: int
    known: int
    sentences: int
    left_out: int
    models: tuple[ComparedModel, ...]
    resampling: Resampling


def compare(
    models: Mapping[str, Model] | Iterable[Model],
    text: Corpus | Sentences,
    *,
    unknown: str = "unk",
    history: str = "sentence",
) -> Comparison:
    """Compare the perplexities of models on one text, with 95% confidence intervals.

    Parameters
    ----------
    models
        The models by name, or without names; the others are compared with the first.
    text
        Sentences; or a corpus, whose vocabulary should have the words of all models.
    unknown
        What is done with unknown words, as in `evaluate`: ``spell`` compares models on all words, whatever
        their vocabularies are, if they were trained on the same form of text.
    history
        How far back models may look, as in `Model.with_history`.

    Notes
    -----
    The intervals are those of a paired bootstrap, as in `evaluate`. Models with other vocabularies have other
    unknown words, and ``<unk>`` is as likely as many words together: their perplexities are those of the
    words that all of them know, and of sentence ends. Models with the same vocabulary are compared on all
    events, and on those of known words: the difference of the two is what they know of ``<unk>``.

    Examples
    --------
    >>> from stategram import NgramModel
    >>> text = ["the cat sat", "the dog sat", "a cat ran"] * 9
    >>> models = {f"{order}-gram": NgramModel.train(text, order) for order in (1, 2)}
    >>> found = compare(models, ["the cat ran", "a dog sat"] * 30)
    >>> unigram, bigram = found.models
    >>> bigram.perplexity < unigram.perplexity, bigram.difference.decided
    (True, True)

    """
    if isinstance(models, str | Model):
        raise TypeError(f"found {models!r:.40}; expected several models: compare([a, b], text)")
    named = models if isinstance(models, Mapping) else {f"{i}": one for i, one in enumerate(models, 1)}
    text = text if isinstance(text, Corpus) else list(text)
    scores, log_probs = {}, {}
    for name, model in named.items():
        require_model(model)
        one = model.with_history(history)
        spelled = spelled_corpus(one.vocabulary, text)
        scores[name] = one.score(as_corpus(one.vocabulary, spelled))
        if unknown != "unk":
            log_probs[name] = UnknownWords(one, unknown).log_probs(scores[name], spelled)
    found = compare_scores(scores, log_probs)
    found.resampling.warn()
    return found


def compare_scores(
    scores: Mapping[str, Scores], log_probs: Mapping[str, NDArray[np.float64]] | None = None
) -> Comparison:
    """Compare the scores of one text by several models, by their names.

    `log_probs` are those in which unknown words are spelled or, being nan, left out.
    """
    if not scores:
        raise UsageError("there is no model to compare; give at least one")
    first = next(iter(scores.values()))
    for name, one in scores.items():
        if not np.array_equal(one.corpus.sentence_starts, first.corpus.sentence_starts):
            raise UsageError(
                f"{name} does not divide the text into the same words and sentences as the first model, so "
                "there is nothing to compare; normalize the words of both in the same way"
            )
    values = [(log_probs or {}).get(name, one.log_probs) for name, one in scores.items()]
    if log_probs:
        compared = _require_some(~reduce(np.logical_or, map(np.isnan, values)))
    else:
        compared = _compared_events(list(scores.values()))
    corpus = first.corpus
    known = compared & ~reduce(np.logical_or, (one.unknown for one in scores.values()))
    units = Units.of(corpus)
    found = units.resample(
        [
            (corpus.sentence_sums(np.where(used, one, 0.0)), corpus.sentence_sums(used))
            for used in (compared, known)
            for one in values
        ]
    )
    n = len(scores)
    figures = [
        (one.value, one.interval, None if number % n == 0 else one.difference(found[number // n * n]))
        for number, one in enumerate(found)
    ]
    return Comparison(
        events=int(np.count_nonzero(compared)),
        known=int(np.count_nonzero(known)),
        sentences=corpus.n_sentences,
        left_out=corpus.n_events - int(np.count_nonzero(compared)),
        models=tuple(
            ComparedModel(name, *of_all, *of_known)
            for name, of_all, of_known in zip(scores, figures[:n], figures[n:], strict=True)
        ),
        resampling=units.resampling,
    )


def _compared_events(scores: Sequence[Scores]) -> NDArray[np.bool_]:
    """Return all events; if not all models predict the same unknown words, those of words that all know."""
    first = scores[0].corpus.vocabulary
    if all(one.corpus.vocabulary == first and one.predicts_unknown for one in scores):
        return np.ones(scores[0].corpus.n_events, np.bool_)
    return _require_some(~reduce(np.logical_or, (one.unknown for one in scores)))


def _require_some(compared: NDArray[np.bool_]) -> NDArray[np.bool_]:
    if not compared.any():
        raise BadDataError("no word of the text is known to all models, so there is nothing to compare")
    return compared
