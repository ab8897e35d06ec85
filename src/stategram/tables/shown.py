"""A table as people see it: in a terminal, in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stategram.notebook import MAX_ROWS, Column, rest_text, shorten, table
from stategram.tables.text_column import TextColumn
from stategram.wording import escaped

if TYPE_CHECKING:
    from stategram.tables.table import Table


def as_text(shown: Table) -> str:
    """Return the first rows with aligned columns."""
    columns = []
    for name, cells, is_text in _columns(shown):
        texts = [escaped(shorten(cell)) for cell in (name, *cells)]
        width = max(map(len, texts))
        columns.append([text.ljust(width) if is_text else text.rjust(width) for text in texts])
    lines = ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]
    return "\n".join([*lines, *([rest_text(len(shown))] if len(shown) > MAX_ROWS else [])])


def as_html(shown: Table) -> str:
    """Return the first rows as an HTML table."""
    return table(_columns(shown), len(shown))


def _columns(shown: Table) -> list[Column]:
    """Return the first rows of each column."""
    return [
        Column(name, [_cell(value) for value in shown[name][:MAX_ROWS].tolist()], is_text)
        for name in shown
        for is_text in [isinstance(shown[name], TextColumn)]
    ]


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
