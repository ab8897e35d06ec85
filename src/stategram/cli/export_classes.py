"""The word classes of a model, as a class file."""

from __future__ import annotations

import click
import numpy as np
from numpy.typing import NDArray

from stategram.cli.console import many
from stategram.errors import BadDataError
from stategram.formats import write_classes
from stategram.models import CategoryNgramModel, ClusteredModel, Mixture, Model
from stategram.text import BEGIN, END, UNKNOWN

__all__ = ["EXPORTED_FORMATS", "export_classes", "part_with_classes"]

# Bit paths need the bigrams of classes, which models do not keep.
EXPORTED_FORMATS = ("tsv", "srilm", "json")


def export_classes(chosen: CategoryNgramModel | ClusteredModel, place: str, *, format: str) -> str:
    """Write the categories of a model; say what was written."""
    labels = chosen.symbols if isinstance(chosen, CategoryNgramModel) else chosen.categories
    vocabulary = chosen.vocabulary
    counts = vocabulary.counts.astype(np.int64)
    shown = np.ones(len(vocabulary), bool)
    shown[[BEGIN, END]] = False
    shown[UNKNOWN] = counts[UNKNOWN] > 0  # unknown words have a class if there were any
    ids = np.flatnonzero(shown)
    words = vocabulary.words
    numbers = _by_size(labels[ids].astype(np.int64), counts[ids])
    write_classes(place, [words[id] for id in ids.tolist()], numbers, counts[ids], format=format)
    found = many(int(numbers.max(initial=-1)) + 1, "class", "classes")
    return f"{found} of {many(len(ids), 'word')}: {chosen!r}"


def part_with_classes(
    model: Model, model_name: str, number: int | None
) -> CategoryNgramModel | ClusteredModel:
    """Give the part of a mixture that was asked for, or its only one with classes; a model may be alone."""
    parts = model.parts if isinstance(model, Mixture) else (model,)
    with_classes = [
        i for i, one in enumerate(parts, 1) if isinstance(one, CategoryNgramModel | ClusteredModel)
    ]
    if not with_classes:
        raise BadDataError(
            f"{model_name}: {model!r}; it has no word classes: train with --recipe, or use stategram classes"
        )
    listed = "; ".join(f"{i}: {parts[i - 1]!r}" for i in with_classes)
    if number is None and len(with_classes) > 1:
        raise click.UsageError(f"several parts of {model_name} have classes; choose one by --part: {listed}")
    if number is not None and number not in with_classes:
        raise click.UsageError(f"--part {number}: these parts of {model_name} have classes: {listed}")
    chosen = parts[(number or with_classes[0]) - 1]
    assert isinstance(chosen, CategoryNgramModel | ClusteredModel)
    return chosen


def _by_size(labels: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give classes numbers by falling count, as `WordClasses` does."""
    found, inverse = np.unique(labels, return_inverse=True)
    totals = np.bincount(inverse, counts, len(found))
    rank = np.empty(len(found), np.int64)
    rank[np.argsort(-totals, kind="stable")] = np.arange(len(found))
    return rank[inverse]
