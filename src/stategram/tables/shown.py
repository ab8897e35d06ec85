"""A table as people see it: in a terminal, in a notebook."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from stategram.display import Cell, Column, DisplayTable, table_html, table_text
from stategram.tables.text_column import TextColumn
from stategram.wording import escaped

if TYPE_CHECKING:
    from stategram.tables.table import Table

_MAX_ROWS = 20
_LONGEST = 60


def as_text(shown: Table) -> str:
    """Return the first rows with aligned columns."""
    rows = _first_rows(shown)
    columns = tuple(replace(column, title=escaped(column.title)) for column in rows.columns)
    cells = tuple(tuple(Cell(escaped(cell.text)) for cell in row) for row in rows.rows)
    return table_text(replace(rows, columns=columns, rows=cells))


def as_html(shown: Table) -> str:
    """Return the first rows as an HTML table."""
    return table_html(_first_rows(shown))


def _first_rows(shown: Table) -> DisplayTable:
    rows = zip(*(map(_cell, shown[name][:_MAX_ROWS].tolist()) for name in shown), strict=True)
    columns = (
        Column(_shorten(name), "" if isinstance(shown[name], TextColumn) else "number") for name in shown
    )
    notes = (f"… {len(shown):,} rows",) if len(shown) > _MAX_ROWS else ()
    return DisplayTable("", tuple(columns), tuple(rows), notes)


def _cell(value: object) -> Cell:
    if isinstance(value, float):
        return Cell(f"{value:.6g}")
    return Cell("" if value is None else _shorten(str(value)))


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
