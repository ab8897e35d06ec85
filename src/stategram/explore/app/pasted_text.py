"""Pasted text, read as the training text of a model was, and scored."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.explore.app.messages import MAX_WORDS
from stategram.explore.views import WordExample
from stategram.models import MAX_CELLS, Model, Scores, State
from stategram.text import BEGIN, UNKNOWN, Corpus, LineBlock, block_of_sentences
from stategram.wording import plural


def state_after(model: Model, words: list[str], *, sentence_start: bool = True) -> State:
    """Return the state after some words, without a warning of unknown ones: the page shows them."""
    start = model.start(sentence_start=sentence_start)
    return model.score_words(words, start).state if words else start


@dataclass(frozen=True, eq=False)
class ReadText:
    """A text as it is spelled, and in the vocabulary of a model."""

    block: LineBlock
    corpus: Corpus

    @property
    def words(self) -> list[str]:
        """The words of all sentences as they are spelled, and the ends of sentences."""
        spelled = self.block.corpus
        return [spelled.vocabulary.word(id) for id in spelled.ids.tolist()]

    def by_sentence(self, values: list[Any]) -> list[list[Any]]:
        """Return the values of each sentence."""
        starts = self.corpus.sentence_starts.tolist()
        return [values[begin:end] for begin, end in pairwise(starts)]


def read_text(model: Model, text: str) -> ReadText:
    """Read a text of one sentence per line; refuse one that is too long."""
    block = block_of_sentences(text.split("\n"), model.text_format)
    if block.corpus.n_events - block.corpus.n_sentences > MAX_WORDS:
        raise UsageError(f"the text has more than {plural(MAX_WORDS, 'word')}; give a part of it")
    return ReadText(block, block.corpus.in_vocabulary(model.vocabulary))


def bits_of(scores: Scores) -> list[float | None]:
    """Return surprisal in bits; None where a word has no probability."""
    log_probs = np.where(scores.unknown & (not scores.predicts_unknown), np.nan, scores.log_probs)
    return [finite(value) for value in (-log_probs / math.log(2.0)).tolist()]


def finite(value: float, digits: int = 4) -> float | None:
    """Return a number that JSON can hold, or None."""
    return round(value, digits) if math.isfinite(value) else None


def perplexity_of(scores: Scores, used: NDArray[np.bool_] | None = None) -> float | None:
    """Return the perplexity of a text; None if it has no words that have a probability.

    `used` are the events that count; by default all that have a probability.
    """
    if used is None:
        used = ~scores.unknown | scores.predicts_unknown
    known = scores.log_probs[used]
    return finite(float(np.exp(np.minimum(-known.mean(), 700.0))), 2) if len(known) else None


def said_by_parts(model: Model, corpus: Corpus) -> NDArray[np.float64] | None:
    """Return which fraction of the probability of each event each part of a mixture gave."""
    if not model.parts or not corpus.n_events:
        return None
    weights = model.event_weights(corpus)
    probs = np.exp(np.nan_to_num(np.array(model.part_log_probs(corpus)).T, nan=-np.inf))
    products = weights * probs
    sums = products.sum(axis=1, keepdims=True)
    fractions: NDArray[np.float64] = np.divide(products, sums, out=weights.copy(), where=sums > 0)
    return fractions


def ranks_of(model: Model, corpus: Corpus, seconds: float) -> list[int | None]:
    """Return the rank of each event among all words of the vocabulary; None after so many seconds."""
    n_words = len(model.vocabulary)
    found: list[int | None] = []
    end = monotonic() + seconds
    at_a_time = max(1, min(MAX_CELLS // n_words, 64))
    distributions = model.distributions(corpus, model.start())
    for begin in range(0, corpus.n_events, at_a_time):
        if begin and monotonic() > end:
            break
        events = np.arange(begin, min(begin + at_a_time, corpus.n_events))
        rows = np.zeros((len(events), n_words))
        distributions.add(events, np.ones(len(events)), rows)
        rows[:, BEGIN] = 0.0
        own = rows[np.arange(len(events)), corpus.ids[events]]
        ranks = (1 + np.count_nonzero(rows > own[:, None], axis=1)).tolist()
        possible = model.predicts_unknown | (corpus.ids[events] != UNKNOWN)
        found += [rank if is_possible else None for rank, is_possible in zip(ranks, possible, strict=True)]
    return found + [None] * (corpus.n_events - len(found))


def rank_in(probabilities: NDArray[np.float64], id: int) -> int:
    """Return the rank of a word in a distribution, ``<s>`` left out."""
    return (
        1
        + int(np.count_nonzero(probabilities > probabilities[id]))
        - int(probabilities[BEGIN] > probabilities[id])
    )


def likeliest(model: Model, probabilities: NDArray[np.float64], top: int) -> list[WordExample]:
    """Return the likeliest words of a distribution, ``<s>`` left out."""
    probabilities = probabilities.copy()
    probabilities[BEGIN] = -1.0
    if not model.predicts_unknown:
        probabilities[UNKNOWN] = -1.0
    top = min(top, len(probabilities) - 1)
    best = np.argpartition(-probabilities, top - 1)[:top]
    best = best[np.lexsort((best, -probabilities[best]))]
    return [WordExample(model.vocabulary.word(id), float(probabilities[id])) for id in best.tolist()]
