"""Sums over the words of regions: the columns of a table of regions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.progress import Progress
from stategram.scoring.item_block import ItemBlock
from stategram.scoring.text_scorer import ScoredBlock, masked
from stategram.scoring.word_columns import WordColumns
from stategram.text import END

REGION_COLUMNS = ("sentence", "position", "log10_prob", "surprisal", "unknown")
"""The columns of regions unless others are chosen; the number of words is always there."""

# Of which a sum is a figure of the region.
_SUMMED = ("log10_prob", "surprisal", "unknown", "length", "entropy", "entropy_reduction", "parts")
_FIRST = ("sentence", "position")
OF_REGIONS = (*_FIRST, *_SUMMED)


def check_summable(columns: WordColumns) -> None:
    """Raise an error if a column has no sum."""
    for name in columns.names:
        if name not in OF_REGIONS:
            raise UsageError(
                f"the column {name!r} has no sum over the words of a region; choose from "
                f"{', '.join(OF_REGIONS)}"
            )


def region_columns(
    columns: WordColumns, items: ItemBlock, scored: ScoredBlock, progress: Progress | None = None
) -> dict[str, Any]:
    """Return a row for each row of the items: sums over its words, to which sentence ends do not belong.

    A sum is missing if a value of a word is, or if there are no words. Position is that of the first word.
    """
    is_word = scored.block.corpus.ids != END
    rows = items.rows[is_word]
    n_rows = len(items.sentences)
    counts = np.bincount(rows, minlength=n_rows)
    firsts = np.cumsum(counts) - counts

    def first(values: NDArray[Any]) -> NDArray[Any]:
        found: NDArray[Any] = np.ma.zeros(n_rows, np.int64)
        found[counts > 0] = values[is_word][firsts[counts > 0]]
        found[counts == 0] = np.ma.masked
        return found

    def summed(values: NDArray[Any]) -> NDArray[Any]:
        plain = np.ma.filled(values.astype(np.float64), np.nan)[is_word]
        sums: NDArray[Any] = np.bincount(rows, plain, n_rows).astype(np.float64)  # integers of no rows
        sums[counts == 0] = np.nan
        if values.dtype.kind == "f":
            return masked(sums)
        return np.ma.array(np.nan_to_num(sums).astype(np.int64), mask=np.isnan(sums))

    found: dict[str, Any] = {}
    for name, values in columns.of(scored, progress).items():
        if name == "sentence":
            found[name] = items.sentences
        else:
            found[name] = first(values) if name == "position" else summed(values)
    return found | {"words": counts}
