"""Columns of tables: those of data frames, data sets and Arrow, whose texts are sentences in memory."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from stategram.errors import StategramError, UsageError

TEXT_COLUMN = "text"
"""The column of a table that has the texts, by default."""

_INSTALL = {"pyarrow": '"stategram[arrow]"', "pandas": "pandas", "polars": "polars"}
_TEXT_ADVICE = "; choose the column of the texts with --text-column (TextFormat(text_column=...) in Python)"


def load_library(library: str, use: str) -> Any:
    """Import a library, or raise an error that says how to install it."""
    try:
        return import_module(library)
    except ImportError as error:
        root = library.partition(".")[0]
        raise StategramError(f"{use} needs {root}, not installed: pip install {_INSTALL[root]}") from error


def check_column(name: str, columns: Collection[str], where: str, *, of_texts: bool = False) -> None:
    """Raise an error if a table does not have a column, or has it twice; guess which one was meant."""
    columns = list(map(str, columns))
    if columns.count(name) > 1:
        raise UsageError(f"{where}: several columns {name!r}; rename all but one")
    if name in columns:
        return
    near = get_close_matches(name, columns, 1, 0.6)
    near = near or [one for one in columns if one.strip().casefold() == name.casefold()]
    guess = f"; did you mean {near[0]!r}?" if near else ""
    advice = _TEXT_ADVICE if of_texts else ""
    raise UsageError(f"{where}: no column {name!r}; there are {', '.join(map(repr, columns))}{advice}{guess}")


def cells_of(values: Any) -> Any:
    """Return the values of a column of any library; what is no column is returned as it is."""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            return getattr(values, method)()
    return values


def is_missing(value: Any) -> bool:
    """Return whether a cell is empty: None, NaN, or what pandas has for them."""
    # Those of pandas cannot be compared with anything.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and math.isnan(value)


def table_of(source: Any) -> tuple[Any, Any]:
    """Return a table and the names of its columns, which are None if it is none."""
    # Of Arrow and data sets; of pandas and polars.
    names = getattr(source, "column_names", None)
    names = getattr(source, "columns", None) if names is None else names
    is_array = hasattr(source, "to_pylist") or hasattr(source, "to_list")
    if names is None and hasattr(source, "__arrow_c_stream__") and not is_array:
        source = load_library("pyarrow", "reading an Arrow stream").table(source)
        names = source.column_names
    return source, names


def sentences_of(source: Any, column: str | None) -> Any:
    """Return the sentences of a table, each line of a text being one; lists of sentences as they are.

    >>> sentences_of(["the cat sat"], None)
    ['the cat sat']
    """
    if isinstance(source, Mapping):
        raise TypeError(
            f"expected a list of sentences, got {type(source).__name__}, a mapping; give the texts in it"
        )
    source, names = table_of(source)
    if names is None:
        return source.to_pylist() if hasattr(source, "to_pylist") else source
    column = column or TEXT_COLUMN
    check_column(column, names, type(source).__name__, of_texts=True)
    return _lines_of(cells_of(source[column]))


def _lines_of(cells: Iterable[Any]) -> Iterator[Any]:
    for cell in cells:
        if isinstance(cell, str):
            yield from cell.replace("\0", "\ufffd").split("\n")
        else:
            yield "" if is_missing(cell) else cell
