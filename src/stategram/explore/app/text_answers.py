"""Answers on pasted texts: surprisal and ranks of words by one model, and two models side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.display import plural
from stategram.errors import UsageError
from stategram.evaluation import compare_scores, describe_comparison
from stategram.explore.app.explored import ExploredModel
from stategram.explore.app.overview import table_answer
from stategram.explore.app.requests import MAX_WORDS, Answer, Text
from stategram.models import Model, Scores, distribution_rows, score_parts
from stategram.text import (
    BEGIN,
    END,
    UNKNOWN,
    Corpus,
    LineBlock,
    UnknownCount,
    block_of_sentences,
    tokenize_prose,
    unwrapped,
)

_RANK_SECONDS = 5.0
# Bands of frequency: how often a word is in the training text.
_BANDS = (1, 10, 100, 1000, 10_000, 100_000)


@dataclass(frozen=True, eq=False)
class ReadText:
    """A text as it is spelled, and in the vocabulary of a model."""

    block: LineBlock
    corpus: Corpus

    @property
    def words(self) -> list[str]:
        """The words of all sentences as they are spelled, and the ends of sentences."""
        return [self.block.spelling.word(id) for id in self.block.corpus.ids.tolist()]

    def by_sentence(self, columns: Mapping[str, list[Any]]) -> list[Answer]:
        """Return the values of each sentence by their columns."""
        starts = self.corpus.sentence_starts.tolist()
        return [
            {name: values[begin:end] for name, values in columns.items()} for begin, end in pairwise(starts)
        ]


def read_text(model: Model, text: str) -> ReadText:
    """Read a raw text, one sentence per line or prose, as the model does; refuse one that is too long."""
    sentences: list[str | list[str]] = []
    is_prose = model.text_format.tokenize == "prose"
    for line in (unwrapped(text) if is_prose else text).split("\n"):
        sentences += tokenize_prose(line) if is_prose and line.strip() else [line]
    block = block_of_sentences(sentences, model.text_format)
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


def perplexity_of(scores: Scores) -> float | None:
    """Return the perplexity of the words of a text that have a probability; None if there are none."""
    known = scores.log_probs[~scores.unknown | scores.predicts_unknown]
    return finite(float(np.exp(np.minimum(-known.mean(), 700.0))), 2) if len(known) else None


def part_shares(model: Model, corpus: Corpus) -> NDArray[np.float64] | None:
    """Return which fraction of the probability of each event each part of a mixture gave."""
    if not model.parts or not corpus.n_events:
        return None
    weights, log_probs = score_parts(model, corpus)
    probs = np.exp(np.nan_to_num(np.array(log_probs).T, nan=-np.inf))
    products = weights * probs
    sums = products.sum(axis=1, keepdims=True)
    shares: NDArray[np.float64] = np.divide(products, sums, out=weights.copy(), where=sums > 0)
    return shares


def score(explored: ExploredModel, *, text: Text = "") -> Answer:
    """Return the surprisal of each word of a text, and of `</s>`, in bits.

    `order` is the length of the n-gram that gave the probability, 0 if that is not known; `shares`: for each
    word, which fraction of its probability comes from each part of a mixture.
    """
    model = explored.model
    read = read_text(model, text)
    scores = model.score(read.corpus)
    count = UnknownCount()
    count.add(read.block.corpus, read.corpus)
    columns = {
        "words": read.words,
        "surprisal": bits_of(scores),
        "order": [0] * read.corpus.n_events if scores.orders is None else scores.orders.tolist(),
        "unknown": scores.unknown.tolist(),
    }
    if (shares := part_shares(model, read.corpus)) is not None:
        columns["shares"] = np.round(shares, 4).tolist()
    return {
        "perplexity": perplexity_of(scores),
        "events": read.corpus.n_events,
        "unknown": int(np.count_nonzero(scores.unknown)),
        "note": count.note,
        "parts": model.part_titles,
        "sentences": read.by_sentence(columns),
    }


def ranks(explored: ExploredModel, *, text: Text = "") -> Answer:
    """Return the rank of each word of a text among all words; null from where time was up."""
    read = read_text(explored.model, text)
    found = {"ranks": ranks_of(explored.model, read.corpus, _RANK_SECONDS)}
    return {"sentences": [one["ranks"] for one in read.by_sentence(found)]}


def ranks_of(model: Model, corpus: Corpus, seconds: float) -> list[int | None]:
    """Return the rank of each event among all words of the vocabulary; None after so many seconds."""
    found: list[int | None] = []
    end = monotonic() + seconds
    for events, rows in distribution_rows(model, corpus, max_events=64):
        rows[:, BEGIN] = 0.0
        own = rows[np.arange(len(events)), corpus.ids[events]]
        ranks = (1 + np.count_nonzero(rows > own[:, None], axis=1)).tolist()
        possible = model.predicts_unknown | (corpus.ids[events] != UNKNOWN)
        found += [rank if is_possible else None for rank, is_possible in zip(ranks, possible, strict=True)]
        if monotonic() > end:
            break
    return found + [None] * (corpus.n_events - len(found))


def compare(models: Sequence[ExploredModel], *, text: Text = "") -> Answer:
    """Return the surprisal of each word of a text by both models, by class and by frequency."""
    if len(models) < 2:
        raise UsageError("there is but one model; give two: stategram explore MODEL MODEL2")
    read = [read_text(one.model, text) for one in models]
    if not np.array_equal(read[0].corpus.sentence_starts, read[1].corpus.sentence_starts):
        raise UsageError("the two models were trained on words that are split differently")
    scores = [one.model.score(text.corpus) for one, text in zip(models, read, strict=True)]
    bits = [-one.log_probs / math.log(2.0) for one in scores]
    first = models[0]
    ids = read[0].corpus.ids
    unknown = (ids == UNKNOWN) | (read[1].corpus.ids == UNKNOWN)
    source = next(iter(first.classes), None)
    by_class: list[Answer] = []
    if source is not None and len(ids):
        classes = first.class_set(source)
        own = read[0].block.corpus.in_vocabulary(classes.vocabulary).ids
        by_class = [
            {"number": number, "top": classes.top(number), **means}
            for number, means in _means(classes.labels[own], bits, ~unknown)
        ]
    columns = {
        "words": read[0].words,
        "a": bits_of(scores[0]),
        "b": bits_of(scores[1]),
        "unknown": unknown.tolist(),
    }
    names = [first.name, models[1].name + " (2)" * (models[1].name == first.name)]
    compared = compare_scores(dict(zip(names, scores, strict=True))) if len(ids) else None
    return {
        "models": names,
        "perplexity": [finite(one.perplexity, 2) for one in compared.models] if compared else [None, None],
        "tables": [table_answer(one) for one in describe_comparison(compared).tables] if compared else [],
        "left_out": compared.left_out if compared else 0,
        "sentences": read[0].by_sentence(columns),
        "by_class": by_class,
        "by_frequency": _by_frequency(first, ids, bits, ~unknown),
        "source": source,
    }


def _means(
    keys: NDArray[np.int64], bits: list[NDArray[np.float64]], used: NDArray[np.bool_]
) -> list[tuple[int, Answer]]:
    """Return for each key its number of events and the mean of both; the largest difference first."""
    keys = keys[used]
    events = np.bincount(keys)
    first, second = (np.bincount(keys, of[used]) / np.maximum(events, 1) for of in bits)
    there = np.flatnonzero(events)
    order = there[np.argsort(-np.abs((first - second) * events)[there], kind="stable")]
    return [
        (
            key,
            {"events": int(events[key]), "a": round(float(first[key]), 3), "b": round(float(second[key]), 3)},
        )
        for key in order.tolist()
    ]


def _by_frequency(
    explored: ExploredModel,
    ids: NDArray[np.uint32],
    bits: list[NDArray[np.float64]],
    used: NDArray[np.bool_],
) -> list[Answer]:
    counts = explored.model.vocabulary.counts
    if not counts[END] or not len(ids):
        return []
    bands = np.searchsorted(_BANDS, counts[ids], "left")
    edges = (0, *_BANDS)
    names = [
        *("1" if high == 1 else f"{low + 1:,} to {high:,}" for low, high in zip(edges, _BANDS, strict=False)),
        f"more than {_BANDS[-1]:,}",
    ]
    found = sorted(_means(bands.astype(np.int64), bits, used), key=lambda one: one[0])
    return [{"band": names[key], **means} for key, means in found]
