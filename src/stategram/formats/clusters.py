"""The word classes and the context states of a model as files."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.formats.class_files import CLASS_FORMATS, write_classes
from stategram.models import ClusteredModel, Model, word_categories
from stategram.storage import Place
from stategram.tables import Table, TextColumn
from stategram.text import BEGIN, END, UNKNOWN, Vocabulary

# Bit paths need the bigrams of classes, which models do not keep.
MODEL_CLASS_FORMATS = tuple(format for format in CLASS_FORMATS if format != "brown")


def write_model_classes(model: Model, place: Place, *, format: str = "tsv") -> tuple[int, int]:
    """Write the categories of the words of a model as a class file; return the numbers of classes and words.

    Classes are numbered by their counts, the most frequent first. ``<unk>`` is among them if it has a count.
    """
    labels, vocabulary = word_categories(model), model.vocabulary
    if labels is None:
        raise UsageError(f"{model!r} has no word classes")
    counts = vocabulary.counts.astype(np.int64)
    shown = np.ones(len(vocabulary), bool)
    shown[[BEGIN, END]] = False
    shown[UNKNOWN] = counts[UNKNOWN] > 0
    ids = np.flatnonzero(shown)
    words = vocabulary.words
    numbers = _by_count(labels[ids].astype(np.int64), counts[ids])
    write_classes([words[id] for id in ids.tolist()], numbers, counts[ids], place, format=format)
    return int(numbers.max(initial=-1)) + 1, len(ids)


def _by_count(labels: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return numbers of classes by falling count, as `WordClasses` has them."""
    classes, inverse = np.unique(labels, return_inverse=True)
    totals = np.bincount(inverse, counts, len(classes))
    rank = np.empty(len(classes), np.int64)
    rank[np.argsort(-totals, kind="stable")] = np.arange(len(classes))
    return rank[inverse]


def write_states(model: ClusteredModel, place: Place) -> tuple[int, int]:
    """Write the contexts of each state as a table; return the numbers of states and contexts.

    The most frequent states and contexts come first. Contexts that were too rare to move on their own are not
    kept in a model. The format is that of the name: tsv, csv, jsonl or parquet.
    """
    tree = model.tree
    last = tree.levels[-1]
    nodes = np.arange(len(last.values), dtype=np.uint32)
    columns: list[NDArray[np.object_]] = []
    for number in range(tree.depth - 1, -1, -1):
        kind = tree.definition.values[number].kind
        values = tree.levels[number].values[nodes]
        if kind == "t" and model.tag_names:
            columns.append(np.array(model.tag_names, object)[values])
        else:
            columns.append(_names_of(values, tree.maps[number], model.vocabulary, kind))
        if number > 0:
            nodes = tree.levels[number - 1].parents[nodes]
    titles = [str(value) for value in reversed(tree.definition.values)]
    totals = np.bincount(last.states, last.counts, model.n_states)
    order = np.lexsort((-last.counts.astype(np.int64), last.states, -totals[last.states]))
    texts = (TextColumn.from_strings(column[order].tolist()) for column in columns)
    numbers = {"state": last.states[order], "events": last.counts[order]}
    Table({**numbers, **dict(zip(titles, texts, strict=True))}).write(place)
    return int(np.count_nonzero(totals)), len(order)


def _names_of(
    values: NDArray[np.uint32], of_words: NDArray[np.uint32], vocabulary: Vocabulary, kind: str
) -> NDArray[np.object_]:
    """Return a name for each value: the word, or ~ and the most frequent word with that tag or class."""
    frequent = np.argsort(-vocabulary.counts.astype(np.int64), kind="stable")
    found, first = np.unique(of_words[frequent], return_index=True)
    words = vocabulary.words
    prefix = "" if kind == "w" else "~"
    names = np.array([prefix + words[id] for id in frequent[first].tolist()], object)
    return names[np.searchsorted(found, values)]
