"""The best hypotheses of n-best lists by a language model, and their word errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from stategram.errors import BadDataError, UsageError
from stategram.models import Model, require_model, warn_of_unknown
from stategram.progress import Progress, subprogress
from stategram.text import END, Corpus, FormatOverride, TextFormat, corpus_from_sentences

# The natural-log probability of a hypothesis that the model rules out: finite, so that its weight can be 0.
_RULED_OUT = -1e6
# Four weights per decade, as the scores of recognizers differ in scale; then a grid between the neighbours of
# the best cell, twice.
_MAGNITUDES = np.geomspace(0.01, 1000.0, 21)
_REFINEMENTS, _REFINED_VALUES = 2, 9


@dataclass(frozen=True)
class WordErrors:
    """Substituted, deleted and inserted words, against references with so many words."""

    errors: int
    words: int

    @property
    def rate(self) -> float:
        """The word error rate; inf if there are errors, but no words."""
        return self.errors / self.words if self.words else float("inf" if self.errors else 0.0)


@dataclass(frozen=True, eq=False)
class Rescored:
    """The result of `rescore`.

    ``before``, ``after`` and ``oracle`` are the word errors of the hypotheses with the best scores, with the
    best totals, and with the fewest errors; None without references.
    """

    best: dict[str, str]
    """The hypothesis of each utterance with the highest total."""
    log_probs: NDArray[np.float64]
    """The natural-log probability of each hypothesis, list after list."""
    totals: NDArray[np.float64]
    """``score + lm_weight * log_prob + word_bonus * words`` of each."""
    lm_weight: float
    word_bonus: float
    before: WordErrors | None = None
    after: WordErrors | None = None
    oracle: WordErrors | None = None


class _Lists:
    """N-best lists as arrays; utterance ``i`` has the hypotheses ``starts[i]`` to ``starts[i + 1] - 1``."""

    def __init__(self, nbest: Mapping[str, Iterable[tuple[float, str]]]) -> None:
        lists = {name: list(hypotheses) for name, hypotheses in nbest.items()}
        if not lists:
            raise BadDataError("there are no hypotheses; expected at least one")
        for name, hypotheses in lists.items():
            if not hypotheses:
                raise BadDataError(f"utterance {name!r} has no hypotheses; expected at least one")
        self.names = list(lists)
        self.starts = np.cumsum([0, *map(len, lists.values())])
        self.texts = [text for hypotheses in lists.values() for _, text in hypotheses]
        self.scores = np.array([score for hypotheses in lists.values() for score, _ in hypotheses], float)
        if not np.isfinite(self.scores).all():
            raise BadDataError("a score is not a finite number; expected one such as -12.5")

    def best(self, totals: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the best hypothesis of each utterance; of equals, the earlier."""
        highest = np.maximum.reduceat(totals, self.starts[:-1])
        is_best = np.flatnonzero(totals == np.repeat(highest, np.diff(self.starts)))
        return is_best[np.searchsorted(is_best, self.starts[:-1])]


def rescore(
    model: Model,
    nbest: Mapping[str, Iterable[tuple[float, str]]],
    *,
    lm_weight: float | None = None,
    word_bonus: float | None = None,
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
        For each utterance, the score and the text of each hypothesis; higher scores are better.
    lm_weight, word_bonus
        The weights of the natural-log probability of a hypothesis, and of its number of words. With `tune`,
        weights that are set are not tuned. The default bonus is 0.
    references
        The true words of each utterance, to count word errors.
    tune
        Search a grid for the weights with the fewest errors on the references.
    text_format
        What words are, and how they are normalized for the model: by default as in its training; a
        `TextFormat`, or a mapping with the settings that differ.
    progress
        Called with the fraction done and a message.

    Examples
    --------
    >>> from stategram import NgramModel
    >>> from stategram.evaluation import rescore
    >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran"], order=2)
    >>> lists = {"u1": [(-2.0, "the cat sat"), (-1.5, "the cats at")]}
    >>> result = rescore(model, lists, lm_weight=0.5, references={"u1": "the cat sat"})
    >>> result.best, result.before.errors, result.after.errors
    ({'u1': 'the cat sat'}, 2, 0)

    """
    require_model(model)
    if tune and references is None:
        raise UsageError("weights are tuned on references; pass references")
    if lm_weight is None and not tune:
        raise UsageError("the weight of the model is missing; pass lm_weight, or references and tune")
    if not np.isfinite([lm_weight or 0.0, word_bonus or 0.0]).all():
        raise UsageError("a weight is not a finite number")
    lists = _Lists(nbest)
    text_format = model.text_format.override(text_format)
    errors, n_words = None, 0
    if references is not None:
        errors, n_words = _counted(lists, references, text_format)
    text = _sentences_with_empty(lists.texts, text_format)
    corpus = text.in_vocabulary(model.vocabulary)
    warn_of_unknown(model, text, corpus)
    log_probs = _log_probs(model, corpus, lists, subprogress(progress, 0.0, 0.5))
    bounded, words = np.maximum(log_probs, _RULED_OUT), np.diff(corpus.sentence_starts) - 1
    if tune and errors is not None:
        lm_weight, word_bonus = _tuned(
            lists, errors, bounded, words, lm_weight, word_bonus, subprogress(progress, 0.5, 1.0)
        )
    lm_weight, word_bonus = float(lm_weight or 0.0), float(word_bonus or 0.0)
    totals = lists.scores + lm_weight * bounded + word_bonus * words
    best = lists.best(totals)
    result = Rescored(
        {name: lists.texts[i] for name, i in zip(lists.names, best.tolist(), strict=True)},
        log_probs,
        totals,
        lm_weight,
        word_bonus,
    )
    if errors is None:
        return result
    choices = lists.best(lists.scores), best, lists.best(-errors.astype(float))
    before, after, oracle = (WordErrors(int(errors[chosen].sum()), n_words) for chosen in choices)
    return replace(result, before=before, after=after, oracle=oracle)


def _log_probs(model: Model, corpus: Corpus, lists: _Lists, progress: Progress | None) -> NDArray[np.float64]:
    """Return the natural-log probability of each hypothesis."""
    if not model.looks_back:
        return model.score(corpus).sentence_log_probs
    log_probs = np.empty(corpus.n_sentences)
    state = model.start()
    for number, best in enumerate(lists.best(lists.scores).tolist()):
        after = state
        for i in range(int(lists.starts[number]), int(lists.starts[number + 1])):
            scores = model.score(corpus.sentences(i, i + 1), state=state)
            log_probs[i] = scores.log_prob
            if i == best:
                after = scores.state
        state = after
        if progress:
            progress((number + 1) / len(lists.names), f"{number + 1:,} of {len(lists.names):,} utterances")
    return log_probs


def _tuned(
    lists: _Lists,
    errors: NDArray[np.int64],
    log_probs: NDArray[np.float64],
    words: NDArray[np.int64],
    lm_weight: float | None,
    word_bonus: float | None,
    progress: Progress | None,
) -> tuple[float, float]:
    """Return the weights of a grid with the fewest errors, refined around the best cell.

    Errors are piecewise constant in the weights, so they have no gradient. Of cells with equal errors, the
    one with the smallest weights is chosen; of a finer grid, the one in the middle.
    """
    lms = np.concatenate(([0.0], _MAGNITUDES)) if lm_weight is None else np.array([lm_weight])
    bonuses = np.concatenate((-_MAGNITUDES[::-1], [0.0], _MAGNITUDES))
    bonuses = bonuses if word_bonus is None else np.array([word_bonus])
    best = 0.0, 0.0
    for step in range(1 + _REFINEMENTS):
        grid = np.empty((len(lms), len(bonuses)), np.int64)
        for i, j in product(*map(range, grid.shape)):
            grid[i, j] = errors[lists.best(lists.scores + lms[i] * log_probs + bonuses[j] * words)].sum()
        fewest = np.argwhere(grid == grid.min())
        if step and len(fewest) == grid.size:
            break
        away = abs(fewest - fewest.mean(axis=0)).sum(axis=1) if step else abs(bonuses[fewest[:, 1]])
        i, j = fewest[np.lexsort((fewest[:, 0], away))[0]].tolist()
        best = float(lms[i]), float(bonuses[j])
        lms, bonuses = _between_neighbours(lms, i), _between_neighbours(bonuses, j)
        if progress:
            progress((step + 1) / (1 + _REFINEMENTS), f"{grid.min():,} errors")
    return best


def _between_neighbours(values: NDArray[np.float64], best: int) -> NDArray[np.float64]:
    """Return a finer grid around a value, which stays in it, so that no refinement has more errors."""
    ends = values[[max(best - 1, 0), best, min(best + 1, len(values) - 1)]]
    return np.unique(np.linspace(ends[:-1], ends[1:], _REFINED_VALUES))


def _counted(
    lists: _Lists, references: Mapping[str, str], text_format: TextFormat
) -> tuple[NDArray[np.int64], int]:
    """Return the word errors of each hypothesis, and the number of words of all references.

    Case and numbers are compared as they are.
    """
    missing = [name for name in lists.names if name not in references]
    if missing:
        raise BadDataError(
            f"no reference for {len(missing):,} of {len(lists.names):,} utterances, such as {missing[0]!r}; "
            "the references need the names of the n-best lists"
        )
    texts = [*(references[name] for name in lists.names), *lists.texts]
    corpus = _sentences_with_empty(texts, text_format.override({"lowercase": False, "digits": None}))
    # The words of each text, without </s>.
    starts = corpus.sentence_starts - np.arange(len(corpus.sentence_starts))
    ids = np.split(corpus.ids[corpus.ids != END], starts[1:-1])
    said, hypotheses = ids[: len(lists.names)], ids[len(lists.names) :]
    ranges = zip(lists.starts, lists.starts[1:], strict=False)
    errors = [word_errors(one, hypotheses[i:j]) for one, (i, j) in zip(said, ranges, strict=True)]
    return np.concatenate(errors), sum(map(len, said))


def word_errors(reference: NDArray[np.uint32], texts: Sequence[NDArray[np.uint32]]) -> NDArray[np.int64]:
    """Return the errors of the best alignment of each text with a reference.

    errors(i, j) = min( errors(i-1, j-1) + 1 if words differ, errors(i-1, j) + 1, errors(i, j-1) + 1 )

    for the first i words of the reference and the first j of a text.
    """
    lengths = np.array([len(text) for text in texts])
    columns = np.arange(lengths.max() + 1)
    # The columns after the end of a text are not looked at in the end, and no other depends on them.
    words = np.zeros((len(texts), lengths.max()), np.uint32)
    for row, text in zip(words, texts, strict=True):
        row[: len(text)] = text
    errors = np.tile(columns, (len(texts), 1))
    for word in reference:
        aligned = errors[:, :-1] + (words != word)
        errors += 1
        np.minimum(errors[:, 1:], aligned, out=errors[:, 1:])
        # The fewest errors with any number of insertions.
        errors = np.minimum.accumulate(errors - columns, axis=1) + columns
    least: NDArray[np.int64] = errors[np.arange(len(texts)), lengths]
    return least


def _sentences_with_empty(texts: Sequence[str], text_format: TextFormat) -> Corpus:
    """Return a corpus of one sentence for each text, also for those without words."""
    # A word in front keeps each of them.
    corpus = corpus_from_sentences((f"x {text}" for text in texts), text_format.of_lines)
    ids = np.delete(corpus.ids, corpus.sentence_starts[:-1])
    starts = corpus.sentence_starts - np.arange(len(corpus.sentence_starts))
    return replace(corpus, ids=ids, sentence_starts=starts, document_starts=np.zeros(0, np.int64))
