"""The word classes of a model, as a class file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stategram.formats import write_classes
from stategram.models import CategoryNgramModel, ClusteredModel
from stategram.text import BEGIN, END, UNKNOWN
from stategram.wording import plural

# Bit paths need the bigrams of classes, which models do not keep.
EXPORTED_FORMATS = ("tsv", "srilm", "json")


def export_classes(chosen: CategoryNgramModel | ClusteredModel, place: str, *, format: str) -> str:
    """Write the categories of a model; say what was written."""
    labels = chosen.categories
    vocabulary = chosen.vocabulary
    counts = vocabulary.counts.astype(np.int64)
    shown = np.ones(len(vocabulary), bool)
    shown[[BEGIN, END]] = False
    shown[UNKNOWN] = counts[UNKNOWN] > 0  # unknown words have a class if there were any
    ids = np.flatnonzero(shown)
    words = vocabulary.words
    numbers = _by_size(labels[ids].astype(np.int64), counts[ids])
    write_classes(place, [words[id] for id in ids.tolist()], numbers, counts[ids], format=format)
    found = plural(int(numbers.max(initial=-1)) + 1, "class", "classes")
    return f"{found} of {plural(len(ids), 'word')}: {chosen!r}"


def _by_size(labels: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give classes numbers by falling count, as `WordClasses` does."""
    found, inverse = np.unique(labels, return_inverse=True)
    totals = np.bincount(inverse, counts, len(found))
    rank = np.empty(len(found), np.int64)
    rank[np.argsort(-totals, kind="stable")] = np.arange(len(found))
    return rank[inverse]
