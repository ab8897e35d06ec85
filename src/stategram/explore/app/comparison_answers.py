"""Answers on two models and one text: who gains and who loses."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.explore.app.explored import ExploredModel
from stategram.explore.app.messages import (
    ClassGain,
    Compared,
    ComparedSentence,
    CompareRequest,
    FrequencyGain,
)
from stategram.explore.app.pasted_text import bits_of, perplexity_of, read_text
from stategram.text import END, UNKNOWN

# Bands of frequency: how often a word is in the training text.
_BANDS = (1, 10, 100, 1000, 10_000, 100_000)


def compare(models: list[ExploredModel], request: CompareRequest) -> Compared:
    """Return the surprisal of each word of a text by both models, by class and by frequency."""
    if len(models) < 2:
        raise UsageError("there is but one model; give two: stategram explore MODEL MODEL2")
    read = [read_text(one.model, request.text) for one in models]
    if not np.array_equal(read[0].corpus.sentence_starts, read[1].corpus.sentence_starts):
        raise UsageError("the two models were trained on words that are split differently")
    scores = [one.model.score(text.corpus) for one, text in zip(models, read, strict=True)]
    # Where one model has no probability for unknown words, both are measured without them.
    without_unknown = not all(one.predicts_unknown for one in scores)
    bits = [-one.log_probs / math.log(2.0) for one in scores]
    first = models[0]
    ids = read[0].corpus.ids
    unknown = (read[0].corpus.ids == UNKNOWN) | (read[1].corpus.ids == UNKNOWN)
    source = next(iter(first.classes), None)
    labels: list[int | None] = [None] * len(ids)
    by_class: list[ClassGain] = []
    if source is not None and len(ids):
        classes = first.class_set(source)
        own = read[0].block.corpus.in_vocabulary(classes.vocabulary).ids
        numbers = classes.labels[own]
        labels = numbers.tolist()
        by_class = [
            ClassGain(number, classes.top(number), events, a, b)
            for number, events, a, b in _means(numbers, bits, ~unknown)
        ]
    columns = [read[0].words, bits_of(scores[0]), bits_of(scores[1]), labels, unknown.tolist()]
    return Compared(
        [one.name for one in models],
        [perplexity_of(one, ~unknown if without_unknown else None) for one in scores],
        [ComparedSentence(*one) for one in zip(*map(read[0].by_sentence, columns), strict=True)],
        by_class,
        _by_frequency(first, ids, bits, ~unknown),
        source,
    )


def _means(
    keys: NDArray[np.int64], bits: list[NDArray[np.float64]], used: NDArray[np.bool_]
) -> list[tuple[int, int, float, float]]:
    """Return for each key its number of events and the mean of both; the largest difference first."""
    keys = keys[used]
    events = np.bincount(keys)
    first, second = (np.bincount(keys, of[used]) / np.maximum(events, 1) for of in bits)
    there = np.flatnonzero(events)
    order = there[np.argsort(-np.abs((first - second) * events)[there], kind="stable")]
    return [
        (int(key), int(events[key]), round(float(first[key]), 3), round(float(second[key]), 3))
        for key in order
    ]


def _by_frequency(
    explored: ExploredModel,
    ids: NDArray[np.uint32],
    bits: list[NDArray[np.float64]],
    used: NDArray[np.bool_],
) -> list[FrequencyGain]:
    counts = explored.model.vocabulary.counts
    if not counts[END] or not len(ids):
        return []
    bands = np.searchsorted(_BANDS, counts[ids], "left")
    found = {key: (events, a, b) for key, events, a, b in _means(bands.astype(np.int64), bits, used)}
    edges = (0, *_BANDS)
    names = [
        *("1" if high == 1 else f"{low + 1:,} to {high:,}" for low, high in zip(edges, _BANDS, strict=False)),
        f"more than {_BANDS[-1]:,}",
    ]
    return [FrequencyGain(names[key], *found[key]) for key in sorted(found)]
