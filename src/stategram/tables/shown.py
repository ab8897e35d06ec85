"""A table as people see it: in a terminal, in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from stategram.tables.text_column import TextColumn
from stategram.wording import escaped

if TYPE_CHECKING:
    from stategram.tables.table import Table

_ROWS = 20
_LONGEST = 60


def as_text(table: Table) -> str:
    """Return the first rows with aligned columns."""
    columns = []
    for name, cells, is_text in _shown(table):
        texts = [escaped(cell) for cell in (name, *cells)]
        width = max(map(len, texts))
        columns.append([text.ljust(width) if is_text else text.rjust(width) for text in texts])
    lines = ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]
    return "\n".join([*lines, *_rest(table)])


def as_html(table: Table) -> str:
    """Return the first rows as an HTML table."""
    shown = _shown(table)
    align = [f' style="text-align: {"left" if is_text else "right"}"' for _, _, is_text in shown]
    head = "".join(
        f"<th{style}>{escape(name)}</th>" for style, (name, _, _) in zip(align, shown, strict=True)
    )
    rows = "".join(
        "<tr>"
        + "".join(f"<td{style}>{escape(cell)}</td>" for style, cell in zip(align, row, strict=True))
        + "</tr>\n"
        for row in zip(*(cells for _, cells, _ in shown), strict=True)
    )
    rest = "".join(f"<p>{line}</p>\n" for line in _rest(table))
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n{rest}"


def _shown(table: Table) -> list[tuple[str, list[str], bool]]:
    """Return for each column its name, the cells of the first rows, and whether it has texts."""
    return [
        (_short(name), [_short(_cell(value)) for value in table[name][:_ROWS].tolist()], is_text)
        for name in table
        for is_text in [isinstance(table[name], TextColumn)]
    ]


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _rest(table: Table) -> list[str]:
    return [f"… {len(table):,} rows"] if len(table) > _ROWS else []
