"""Items of an experiment: texts to score, with columns of their own that are carried through."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from stategram.errors import BadDataError, UsageError
from stategram.tables.reading import Rows, read_rows
from stategram.tables.table import TextColumn
from stategram.text import TEXT_COLUMN
from stategram.text.columns import cells_of, check_column, is_missing, table_of

_UNNAMED = "text"
_INTEGERS = range(-(2**63), 2**63)


@dataclass(frozen=True, eq=False)
class Items:
    """Texts, row by row, and what else the rows have.

    A row is an item; with regions, it is a part of a sentence whose other parts are in the rows beside it.
    """

    texts: tuple[str, ...]
    """The text of each row; empty where an item has no words."""
    sentences: NDArray[np.int64]
    """The sentence that each row belongs to, numbered from 0: without regions, that of its own."""
    columns: dict[str, TextColumn | NDArray[Any]]
    """All columns but the texts, as they were; those of numbers are masked where one is missing."""

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.texts)

    @property
    def n_sentences(self) -> int:
        """The number of sentences, those without words included."""
        return int(self.sentences[-1]) + 1 if len(self.sentences) else 0


def read_items(
    source: Any,
    *,
    text_column: str | None = None,
    id_column: str | None = None,
    region_column: str | None = None,
) -> Items:
    r"""Read texts that are to be scored, one in each row of a table.

    Parameters
    ----------
    source
        A csv, tsv, jsonl, parquet or Arrow file, plain or compressed, recognized by its name or else by
        how it begins (``-`` is stdin); strings; columns by name; or a table of pandas, polars or Arrow.
    text_column
        The column of the texts; by default ``text``, or else the only one of strings.
    id_column
        The column that names the items.
    region_column
        The column that names the regions of a sentence: rows that follow each other and have the same id
        are one sentence, each of them a region of it.

    Raises
    ------
    UsageError
        If a column is not there, or has to be named.
    BadDataError
        If a text is missing or is not a string, if rows of one sentence are apart, or if the file is
        damaged; with file and line. An empty text is an item without words, not an error.

    Examples
    --------
    >>> items = read_items({"id": [1, 1, 2], "region": ["a", "b", "a"], "text": ["the cat", "sat", "it ran"]},
    ...                    text_column="text", id_column="id", region_column="region")
    >>> items.texts, items.sentences.tolist(), list(items.columns)
    (('the cat', 'sat', 'it ran'), [0, 0, 1], ['id', 'region'])
    >>> read_items(["the cat sat", ""]).texts
    ('the cat sat', '')

    """
    if region_column is not None and id_column is None:
        raise UsageError(
            "a region column needs an id column, which says what rows are one sentence; name that too"
        )
    rows = _rows_of(source)
    text_column = text_column or _only_text_column(rows)
    named = [text_column, *filter(None, (id_column, region_column))]
    for column in named:
        check_column(column, rows.columns, rows.name)
    if len(set(named)) < len(named):
        raise UsageError(f"one column is named twice for text, id and region: {', '.join(named)}; name three")
    texts = _texts(rows, text_column)
    sentences = np.arange(len(texts), dtype=np.int64)
    if id_column is not None and region_column is not None:
        sentences = _sentences(rows, id_column)
    columns = {name: _column(cells) for name, cells in rows.columns.items() if name != text_column}
    return Items(texts, sentences, columns)


def _rows_of(source: Any) -> Rows:
    if isinstance(source, str | os.PathLike) or hasattr(source, "read"):
        return read_rows(source)
    source, names = (source, source.keys()) if isinstance(source, Mapping) else table_of(source)
    if names is None:
        return Rows("items", {_UNNAMED: _cells(source)}, None)
    columns = {name: _cells(source[name]) for name in names}
    bad = next((name for name in columns if not isinstance(name, str)), None)
    if bad is not None:
        raise UsageError(f"a column is named {bad!r}; give names that are strings")
    lengths = {name: len(cells) for name, cells in columns.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise UsageError(f"the columns must have the same length; found {found}")
    if not columns:
        raise UsageError("there are no columns; give one of texts")
    return Rows("items", columns, None)


def _cells(values: Any) -> list[Any]:
    """Return the values of a column of any library, None where one is missing."""
    values = cells_of(values)
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise UsageError(f"items are {type(values).__name__}; give strings, columns, or the name of a file")
    return [None if is_missing(value) else value for value in values]


def _only_text_column(rows: Rows) -> str:
    found = [
        name for name, cells in rows.columns.items() if any(isinstance(cell, str) for cell in cells)
    ] or list(rows.columns)
    if TEXT_COLUMN in found:
        return TEXT_COLUMN
    if len(found) > 1:
        raise UsageError(
            f"{rows.name}: which column has the texts? There are {', '.join(found)}; "
            "name one as the text column (--text-column)"
        )
    return found[0]


def _texts(rows: Rows, column: str) -> tuple[str, ...]:
    cells = rows.columns[column]
    bad = next((row for row, cell in enumerate(cells) if not isinstance(cell, str)), None)
    if bad is not None:
        found = "nothing" if cells[bad] is None else f"{cells[bad]!r}"
        raise BadDataError(
            f"{rows.where(bad)}: the column {column!r} has {found[:60]}, which is not a text; give a string, "
            "an empty one for an item without words"
        )
    return tuple(cells)


def _sentences(rows: Rows, id_column: str) -> NDArray[np.int64]:
    """Return the sentence of each row; those of one sentence follow each other."""
    ids = rows.columns[id_column]
    sentences = np.zeros(len(ids), np.int64)
    first: dict[Any, int] = {}
    for row, id in enumerate(ids):
        if id is None or id == "":
            raise BadDataError(
                f"{rows.where(row)}: no id in the column {id_column!r}; regions need one, which says what "
                "rows are one sentence"
            )
        goes_on = row > 0 and ids[row - 1] == id
        key = repr(id)
        if not goes_on and first.setdefault(key, row) != row:
            raise BadDataError(
                f"{rows.where(row)}: the id {id!r} was there already ({rows.where(first[key])}), with others "
                "in between; put the rows of a sentence together, or give each sentence an id of its own"
            )
        sentences[row] = sentences[row - 1] + (not goes_on) if row else 0
    return sentences


def _column(cells: list[Any]) -> TextColumn | NDArray[Any]:
    """Return cells as a column of the narrowest kind that they all are of."""
    kinds = {type(cell) for cell in cells if cell is not None}
    mask = [cell is None for cell in cells]
    if kinds == {bool}:
        return np.ma.array([bool(cell) for cell in cells], np.bool_, mask=mask)
    if kinds == {int} and all(cell is None or cell in _INTEGERS for cell in cells):
        return np.ma.array([cell or 0 for cell in cells], np.int64, mask=mask)
    if kinds and kinds <= {int, float} and not any(type(one) is int and abs(one) > 2**53 for one in cells):
        return np.ma.array([cell or 0.0 for cell in cells], np.float64, mask=mask)
    return TextColumn.from_strings(map(_as_text, cells), verbatim=True)


def _as_text(cell: Any) -> str | None:
    if cell is None or isinstance(cell, str):
        return cell
    return msgspec.json.encode(cell).decode() if isinstance(cell, dict | list) else str(cell)
