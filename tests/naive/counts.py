"""Bigram counts, said plainly.

    N(v, w) = the number of positions i with (ids[i - 1], ids[i]) = (v, w),    ids[-1] standing for `first`

as compressed rows: row v holds the columns w with N(v, w) > 0 in rising order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

Rows = tuple[list[int], list[int], list[int]]  # offsets, columns, counts


def _compress(table: Counter[tuple[int, int]], types: int) -> Rows:
    offsets, columns, counts = [0], [], []
    for row in range(types):
        for (_, column), count in sorted((pair, n) for pair, n in table.items() if pair[0] == row):
            columns.append(column)
            counts.append(count)
        offsets.append(len(columns))
    return offsets, columns, counts


def count_bigrams(ids: Sequence[int], first: int, types: int) -> Rows:
    return _compress(Counter(zip([first, *ids], ids, strict=False)), types)


def transpose_counts(rows: Rows) -> Rows:
    offsets, columns, counts = rows
    types = len(offsets) - 1
    table: Counter[tuple[int, int]] = Counter()
    for row in range(types):
        for i in range(offsets[row], offsets[row + 1]):
            table[columns[i], row] = counts[i]
    return _compress(table, types)


def bigram_rows(ngrams: dict[tuple[int, int], int], types: int, begin: int, end: int) -> Rows:
    """The rows of bigrams by ids, those of `begin` being the row of `end`, the boundary of sentences."""
    return _compress(Counter({(end if v == begin else v, w): n for (v, w), n in ngrams.items()}), types)
