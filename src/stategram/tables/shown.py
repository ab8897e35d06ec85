"""A table as people see it: in a terminal, in a notebook.

HTML has no colour of its own, so that it can be read in light and dark notebooks; no text in it is markup.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

from stategram.tables.text_column import TextColumn
from stategram.wording import escaped, printable, visible

if TYPE_CHECKING:
    from stategram.tables.table import Table

_MAX_ROWS = 20
_LONGEST = 60


def as_text(shown: Table) -> str:
    """Return the first rows with aligned columns."""
    columns = []
    for column in _columns(shown):
        texts = [escaped(cell) for cell in (column.name, *column.cells)]
        width = max(map(len, texts))
        columns.append([text.ljust(width) if column.is_text else text.rjust(width) for text in texts])
    lines = ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]
    return "\n".join([*lines, *_rest(shown)])


def as_html(shown: Table) -> str:
    """Return the first rows as an HTML table."""
    columns = _columns(shown)
    head = "".join(_html_cell("th", column.name, column) for column in columns)
    rows = "".join(
        f"<tr>{''.join(map(_html_cell, ['td'] * len(columns), row, columns))}</tr>\n"
        for row in zip(*(column.cells for column in columns), strict=True)
    )
    rest = "".join(f"<p>{line}</p>\n" for line in _rest(shown))
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n{rest}"


class _Column(NamedTuple):
    """The first cells of a column; texts are aligned left, numbers right."""

    name: str
    cells: list[str]
    is_text: bool


def _columns(shown: Table) -> list[_Column]:
    return [
        _Column(
            _shorten(name),
            [_shorten(_cell(value)) for value in shown[name][:_MAX_ROWS].tolist()],
            isinstance(shown[name], TextColumn),
        )
        for name in shown
    ]


def _rest(shown: Table) -> list[str]:
    """Return how many rows a table has if not all are shown."""
    return [f"… {len(shown):,} rows"] if len(shown) > _MAX_ROWS else []


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _html_cell(tag: str, text: str, column: _Column) -> str:
    """Return a cell whose text is no markup, keeps the direction of writing, and can be encoded."""
    side = "left" if column.is_text else "right"
    return f'<{tag} style="text-align: {side}">{escape(visible(printable(text)))}</{tag}>'
