"""How good a row of a pool is: cross-entropy difference, or perplexity; the lower, the better.

H(s) = - 1/n sum log2 p(w_i | history)          over the n words and sentence ends of a row
difference(s) = H_in-domain(s) - H_general(s)   Moore and Lewis (2010)
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.models import Model
from stategram.scoring import ModelSource, keep_models
from stategram.tables import RowBlock
from stategram.text import (
    UNKNOWN,
    Corpus,
    LineEncoder,
    Sentences,
    TextFormat,
    Vocabulary,
    WordChoice,
    block_of_sentences,
)

By = Literal["difference", "perplexity"]
CRITERIA: tuple[By, ...] = get_args(By)


@dataclass(frozen=True)
class Criterion:
    """By which models rows are scored, and how their texts are read; small, for workers elsewhere.

    Parameters
    ----------
    models
        In-domain and general, or in-domain alone for perplexity.
    text_format
        How texts are read.
    min_words, max_words
        Rows with fewer or more words have no score.

    """

    models: tuple[ModelSource, ...]
    text_format: TextFormat
    min_words: int = 1
    max_words: int | None = None


@dataclass(frozen=True, eq=False)
class RowScores:
    """The scores of some rows; nan for those without words."""

    scores: NDArray[np.float32]
    words: NDArray[np.int32]
    unknown: int
    """How many of the words no model knows, or only one of two."""


class RowScorer:
    """Scores blocks of rows.

    Parameters
    ----------
    models
        In-domain and general, or in-domain alone.
    text_format, min_words, max_words
        As in `Criterion`.

    """

    def __init__(
        self,
        models: Sequence[Model],
        text_format: TextFormat,
        *,
        min_words: int = 1,
        max_words: int | None = None,
    ) -> None:
        self._models = tuple(models)
        self._n_words = min_words, np.inf if max_words is None else max_words
        vocabulary = Vocabulary.union(model.vocabulary for model in models)
        self._ids = [_ids_in(model.vocabulary, vocabulary) for model in models]
        # The same words: <unk> is a word as any other. Otherwise a word that one model does not know says
        # more about the vocabularies than about the text: it counts in neither.
        self._counts_unknown = all(
            len(model.vocabulary) == len(vocabulary) and model.predicts_unknown for model in models
        )
        self._text_format, self._words = text_format.of_lines, WordChoice(vocabulary)
        # Tasks may run in threads of one process, and an encoder takes one text at a time.
        self._own = threading.local()

    def score(self, block: RowBlock) -> RowScores:
        """Return the scores of rows, in bits per word, or perplexities."""
        lines, rows = block.lines()
        if not hasattr(self._own, "encoder"):
            self._own.encoder = LineEncoder(self._text_format, self._words)
        corpus, numbers = self._own.encoder.encode(lines)
        found = numbers - lines.line
        return self.score_corpus(corpus, found if rows is None else rows[found], len(block))

    def score_corpus(self, corpus: Corpus, rows: NDArray[np.int64], n_rows: int) -> RowScores:
        """Return the scores of a text of which each sentence belongs to a row; rows do not decrease."""
        losses = np.zeros(corpus.n_events)
        is_unknown = np.zeros(corpus.n_events, np.bool_)
        for sign, model, ids in zip((1.0, -1.0), self._models, self._ids, strict=False):
            encoded = replace(corpus, ids=ids[corpus.ids], vocabulary=model.vocabulary)
            losses -= sign * model.score(encoded).log_probs
            is_unknown |= encoded.ids == UNKNOWN
        first = corpus.sentence_starts[:-1]
        words = _sums(np.diff(corpus.sentence_starts) - 1, np.arange(corpus.n_sentences), rows, n_rows)
        counts = _sums(np.ones(corpus.n_events, np.bool_), first, rows, n_rows)
        fewest, most = self._n_words
        has_score = (words >= fewest) & (words <= most)
        if not self._counts_unknown:
            losses[is_unknown] = 0.0
            unknown = _sums(is_unknown, first, rows, n_rows)
            counts -= unknown
            has_score &= unknown < words
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            means = _sums(losses, first, rows, n_rows) / counts
            values = np.exp(means) if len(self._models) == 1 else means / math.log(2.0)
            scores = np.where(has_score, values, np.nan).astype(np.float32)
        return RowScores(scores, words.astype(np.int32), int(np.count_nonzero(is_unknown)))


def _ids_in(vocabulary: Vocabulary, union: Vocabulary) -> NDArray[np.uint32]:
    """Return the id in a vocabulary of each word of a larger one."""
    if vocabulary == union:
        return np.arange(len(union), dtype=np.uint32)
    return np.fromiter(map(vocabulary.id, union.words), np.uint32, len(union))


def _sums(
    values: NDArray[np.float64] | NDArray[np.int64] | NDArray[np.bool_],
    first: NDArray[np.int64],
    rows: NDArray[np.int64],
    n_rows: int,
) -> NDArray[np.float64]:
    """Return the sum over each row of values; `first` has that of each sentence, `rows` its row."""
    sums = np.zeros(n_rows)
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    if len(starts):
        sums[rows[starts]] = np.add.reduceat(values, first[starts], dtype=np.float64)
    return sums


_opening = Lock()


def scorer_of(criterion: Criterion) -> RowScorer:
    """Return what scores rows, made once in a process."""
    with _opening:  # threads of an executor would all open the models
        return _scorer_of(criterion)


@lru_cache(maxsize=1)
def _scorer_of(criterion: Criterion) -> RowScorer:
    return RowScorer(
        [source.open() for source in criterion.models],
        criterion.text_format,
        min_words=criterion.min_words,
        max_words=criterion.max_words,
    )


def close_models() -> None:
    """Forget the models of a run."""
    _scorer_of.cache_clear()
    keep_models({})


def check_history(model: Model, name: str) -> None:
    """Refuse a model whose probabilities depend on earlier rows."""
    if model.looks_back:
        raise UsageError(
            f"{name}: {model!r} looks back beyond the sentence, so that a score would depend on the rows "
            "before; use a model without a cache"
        )


def cross_entropy_difference(in_domain: Model, general: Model, sentences: Sentences) -> NDArray[np.float32]:
    """Return how much better an in-domain model predicts each sentence than a general one does.

    The difference of their cross-entropies, in bits per word: the lower, the more a sentence is like the
    text of the in-domain model (Moore and Lewis 2010).

    Parameters
    ----------
    in_domain, general
        Two models of any kind, best with the same vocabulary. Otherwise words that one of them does not
        know count in neither.
    sentences
        Strings, or lists of words; normalized as in the training of `in_domain`.

    Returns
    -------
    array of float32
        One per sentence; nan for sentences without words, or without words that both models know.

    Examples
    --------
    >>> from stategram import NgramModel, corpus_from_sentences
    >>> from stategram.selection import cross_entropy_difference
    >>> sea = corpus_from_sentences(["the ship sails", "a ship and the sea", "the sea is deep"])
    >>> land = corpus_from_sentences(["the road is long", "a horse and the road"], vocabulary=sea.vocabulary)
    >>> models = [NgramModel.train(text, order=2) for text in (sea, land)]
    >>> cross_entropy_difference(*models, ["the ship is deep", "a horse is long", ""]).round(1)
    array([-1.8,  2.3,  nan], dtype=float32)

    """
    for name, model in (("in_domain", in_domain), ("general", general)):
        check_history(model, name)
    scorer = RowScorer([in_domain, general], in_domain.text_format)
    sentences = list(sentences)
    block = block_of_sentences(sentences, in_domain.text_format)
    corpus = block.corpus.in_vocabulary(Vocabulary.union((in_domain.vocabulary, general.vocabulary)))
    return scorer.score_corpus(corpus, block.lines - 1, len(sentences)).scores
