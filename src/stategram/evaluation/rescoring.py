"""Rescoring of n-best lists by a language model, with weights that are given or tuned on references."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.evaluation.nbest import NBestLists, WordErrors, hypothesis_errors, sentences_with_empty
from stategram.evaluation.weight_tuning import tune_weights
from stategram.models import Model, require_model, warn_of_unknown
from stategram.progress import Progress, subprogress
from stategram.text import Corpus, FormatOverride

# The natural-log probability of a hypothesis that the model rules out: finite, so that weights can be 0.
_RULED_OUT = -1e6
# Log-probabilities of acoustic models are often scaled differently; the search starts from several weights.
_STARTS = (1.0, 0.0, 0.1, 0.3, 3.0, 10.0)


@dataclass(frozen=True, eq=False)
class Rescored:
    """The result of `rescore`.

    A hypothesis has the total ``score_weights @ scores + lm_weight * log_prob + word_bonus * words``.
    ``before``, ``after`` and ``oracle`` are the word errors of the hypotheses with the best scores, with the
    best totals, and with the fewest errors; None without references.
    """

    nbest: NBestLists
    log_probs: NDArray[np.float64]
    """The natural-log probability of each hypothesis."""
    words: NDArray[np.int64]
    totals: NDArray[np.float64]
    score_weights: tuple[float, ...]
    lm_weight: float
    word_bonus: float
    before: WordErrors | None = None
    after: WordErrors | None = None
    oracle: WordErrors | None = None

    @property
    def best(self) -> dict[str, str]:
        """The best hypothesis of each utterance."""
        chosen = self.nbest.best(self.totals).tolist()
        return {name: self.nbest.texts[i] for name, i in zip(self.nbest.utterances, chosen, strict=True)}


def rescore(
    model: Model,
    nbest: NBestLists | Mapping[str, Iterable[tuple[float | Sequence[float], str]]],
    *,
    lm_weight: float | None = None,
    word_bonus: float | None = None,
    score_weights: Sequence[float] | None = None,
    references: Mapping[str, str] | None = None,
    tune: bool = False,
    text_format: FormatOverride = None,
    progress: Progress | None = None,
) -> Rescored:
    """Rescore n-best lists by a language model.

    Parameters
    ----------
    model
        Any model. One that looks back beyond the sentence, as caches do, sees the utterances in their order,
        each after the hypotheses of earlier ones that have the best scores.
    nbest
        The lists; or a mapping with, for each utterance, a score (or several) and a text for each hypothesis.
    lm_weight, word_bonus
        The weights of the natural-log probability of a hypothesis, and of its number of words; with `tune`,
        those that are given stay as they are. By default the bonus is 0.
    score_weights
        The weights of the scores; 1 by default. With `tune` the first stays as it is, and so do all if they
        are given.
    references
        What was said in each utterance, to count word errors.
    tune
        Whether to find the weights with the fewest errors on the references.
    text_format
        What words are, and what is done with them before the model sees them: by default as in its training;
        a `TextFormat`, or a mapping with the settings that differ.
    progress
        Called with the fraction done and a few words.

    Examples
    --------
    >>> from stategram import NgramModel
    >>> from stategram.evaluation import rescore
    >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran"], order=2)
    >>> lists = {"u1": [(-2.0, "the cat sat"), (-1.5, "the cats at")]}
    >>> found = rescore(model, lists, lm_weight=0.5, references={"u1": "the cat sat"})
    >>> found.best, found.before.errors, found.after.errors
    ({'u1': 'the cat sat'}, 2, 0)

    """
    require_model(model)
    if not isinstance(nbest, NBestLists):
        nbest = NBestLists.from_mapping(nbest)
    if tune and references is None:
        raise UsageError("weights are tuned on references; give some")
    if lm_weight is None and not tune:
        raise UsageError("the weight of the model is missing; give lm_weight, or references and tune")
    columns = nbest.scores.shape[1]
    weights = np.ones(columns + 2)
    if score_weights is not None:
        if len(score_weights) != columns:
            raise UsageError(f"{len(score_weights)} weights of scores, but {columns} scores a hypothesis")
        weights[:columns] = score_weights
    weights[columns:] = 1.0 if lm_weight is None else lm_weight, word_bonus or 0.0
    if not np.isfinite(weights).all():
        raise UsageError("a weight is not a finite number")
    found_format = model.text_format.override(text_format)
    text = sentences_with_empty(nbest.texts, found_format)
    corpus = text.in_vocabulary(model.vocabulary)
    warn_of_unknown(model, text, corpus)
    first_pass = nbest.scores @ weights[:columns]
    log_probs = _log_probs(model, corpus, nbest, first_pass, subprogress(progress, 0.0, 0.5))
    words = np.diff(corpus.sentence_starts) - 1
    features = np.column_stack((nbest.scores, np.maximum(log_probs, _RULED_OUT), words))
    before = after = oracle = None
    if references is not None:
        found = hypothesis_errors(nbest, references, found_format)
        if tune:
            axis = np.arange(columns + 2) == columns
            starts = [weights] if lm_weight is not None else [np.where(axis, w, weights) for w in _STARTS]
            lowest = [
                None,
                *[0.0 if score_weights is None else None] * (columns - 1),
                0.0 if lm_weight is None else None,
                -np.inf if word_bonus is None else None,
            ]
            weights = tune_weights(found, features, starts, lowest, subprogress(progress, 0.5, 1.0))
        oracle = found.oracle()
        before, after = (found.of(nbest.best(totals)) for totals in (first_pass, features @ weights))
    return Rescored(
        nbest,
        log_probs,
        words,
        features @ weights,
        tuple(weights[:columns].tolist()),
        float(weights[columns]),
        float(weights[columns + 1]),
        before,
        after,
        oracle,
    )


def _log_probs(
    model: Model,
    corpus: Corpus,
    nbest: NBestLists,
    first_pass: NDArray[np.float64],
    progress: Progress | None,
) -> NDArray[np.float64]:
    """Return the natural-log probability of each hypothesis."""
    if not model.looks_back:
        return model.score(corpus).sentence_log_probs
    log_probs = np.empty(corpus.n_sentences)
    state = model.start()
    for number, best in enumerate(nbest.best(first_pass).tolist()):
        after = state
        for i in range(int(nbest.starts[number]), int(nbest.starts[number + 1])):
            scores = model.score(corpus.sentences(i, i + 1), state=state)
            log_probs[i] = scores.log_prob
            if i == best:
                after = scores.state
        state = after
        if progress:
            progress((number + 1) / len(nbest), f"{number + 1:,} of {len(nbest):,} utterances")
    return log_probs
