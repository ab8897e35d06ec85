"""Objects as notebooks show them: small HTML, in which any text is harmless.

Nothing has a colour of its own, so that it can be read in light and dark notebooks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple, TypeAlias

from stategram.wording import printable, visible

Value: TypeAlias = str | int | float | None
"""What a cell may hold; integers are counts, None is an empty cell."""

MAX_ROWS = 20
_LONGEST = 60


class Column(NamedTuple):
    """A column of a table, its cells as they are shown; texts are aligned left, numbers right."""

    name: str
    cells: Sequence[str]
    is_text: bool


def card(
    title: str, facts: Iterable[tuple[str, Value]], tables: Iterable[tuple[str, Sequence[Column]]] = ()
) -> str:
    """Return a title, what is said of it by label, and tables with their titles; those without rows not.

    >>> print(card("Corpus", [("Words", 1200), ("First word", "<b>")]))
    <div>
    <strong>Corpus</strong>
    <table>
    <tbody>
    <tr><th style="text-align: left">Words</th><td style="text-align: left">1,200</td></tr>
    <tr><th style="text-align: left">First word</th><td style="text-align: left">&lt;b&gt;</td></tr>
    </tbody>
    </table>
    </div>
    """
    left = _style(is_text=True)
    rows = [
        f"<tr><th{left}>{_escaped(label)}</th><td{left}>{_escaped(shorten(cell_text(value)))}</td></tr>\n"
        for label, value in facts
    ]
    filled = [(heading, columns) for heading, columns in tables if columns and columns[0].cells]
    return "".join(
        [
            f"<div>\n<strong>{_escaped(shorten(title))}</strong>\n",
            *([f"<table>\n<tbody>\n{''.join(rows)}</tbody>\n</table>\n"] if rows else []),
            *(
                (f"<p>{_escaped(heading)}</p>\n" if heading else "") + table(columns)
                for heading, columns in filled
            ),
            "</div>",
        ]
    )


def columns_of(names: Sequence[str], rows: Sequence[Sequence[Value]]) -> list[Column]:
    """Return the columns of a table that is given by rows; a column with a text in it is one of texts."""
    return [
        Column(
            name,
            [cell_text(row[number]) for row in rows],
            any(isinstance(row[number], str) for row in rows),
        )
        for number, name in enumerate(names)
    ]


def table(columns: Sequence[Column], n_rows: int | None = None) -> str:
    """Return the first rows of a table, and how many there are if not all are shown.

    `n_rows` is their number if the columns have only the first.
    """
    styles = [_style(is_text=column.is_text) for column in columns]
    head = "".join(
        f"<th{style}>{_escaped(shorten(column.name))}</th>"
        for style, column in zip(styles, columns, strict=True)
    )
    shown = zip(*(column.cells[:MAX_ROWS] for column in columns), strict=True)
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td{style}>{_escaped(shorten(cell))}</td>" for style, cell in zip(styles, row, strict=True)
        )
        + "</tr>\n"
        for row in shown
    )
    total = max((len(column.cells) for column in columns), default=0) if n_rows is None else n_rows
    rest = f"<p>{rest_text(total)}</p>\n" if total > MAX_ROWS else ""
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n{rest}"


def rest_text(n_rows: int) -> str:
    """Return how many rows a table has of which the first are shown."""
    return f"… {n_rows:,} rows"


def cell_text(value: Value) -> str:
    """Return a value as a cell of a card shows it.

    >>> cell_text(12345), cell_text(1234.5678), cell_text(0.25), cell_text(None)
    ('12,345', '1,234.57', '0.25', '')
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def shorten(text: str) -> str:
    """Return a text that is not too long for a cell."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _escaped(text: str) -> str:
    """Return a text that is neither markup, nor turns the direction of writing, nor cannot be encoded."""
    return escape(visible(printable(text)))


def _style(*, is_text: bool) -> str:
    return f' style="text-align: {"left" if is_text else "right"}"'
