"""A table, before it is written as HTML or Markdown."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from stategram.report.markup import Html, element, join
from stategram.report.numbers import DASH

_OF_MARKDOWN = re.compile(r"([\\`*_\[\]<>|#~])")

_FEW_COLUMNS = 3


@dataclass(frozen=True)
class Column:
    """A column; one of `figures` is aligned to the right, one that `may_go` goes if it says nothing."""

    title: str
    figures: bool = False
    may_go: bool = False
    style: str = ""


@dataclass(frozen=True)
class Cell:
    """What a table says in one place, and in small letters below."""

    text: str = DASH
    note: str = ""
    style: str = ""


@dataclass(frozen=True)
class Table:
    """Columns and rows; `notes` are the sentences below it."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def without_empty_columns(self) -> Table:
        """Leave out the columns that may go and in which no row says anything."""
        kept = [
            i
            for i, column in enumerate(self.columns)
            if not column.may_go or any(row[i].text != DASH or row[i].note for row in self.rows)
        ]
        return replace(
            self,
            columns=tuple(self.columns[i] for i in kept),
            rows=tuple(tuple(row[i] for i in kept) for row in self.rows),
        )


def table_html(table: Table, *, caption: bool = True) -> Html:
    """Write a table; on a narrow screen its rows are stacked, and each figure has the name of its column."""
    head = element(
        "tr", *(element("th", column.title, scope="col", class_=_style(column)) for column in table.columns)
    )
    rows = [
        element(
            "tr",
            *(
                _cell(cell, column, first=i == 0)
                for i, (cell, column) in enumerate(zip(row, table.columns, strict=True))
            ),
        )
        for row in table.rows
    ]
    said = (element("caption", table.title),) if caption else ()
    notes = [element("p", note, class_="note") for note in table.notes]
    return join(
        element(
            "div",
            element("table", *said, element("thead", head), element("tbody", *rows)),
            class_="table few" if len(table.columns) <= _FEW_COLUMNS else "table",
        ),
        *notes,
    )


def _cell(cell: Cell, column: Column, *, first: bool) -> Html:
    note = (element("small", cell.note),) if cell.note else ()
    style = (
        " ".join(
            filter(None, (_style(column), cell.style, "none" if cell.text == DASH and not cell.note else ""))
        )
        or None
    )
    if first:
        return element("th", cell.text, *note, scope="row", class_=style)
    return element("td", element("span", cell.text, *note), class_=style, data_label=column.title)


def _style(column: Column) -> str | None:
    return " ".join(filter(None, ("figure" if column.figures else "", column.style))) or None


def table_markdown(table: Table) -> str:
    """Write a table, its title as a heading, its notes below."""
    lines = [f"## {markdown_text(table.title)}", ""]
    lines += _line([column.title for column in table.columns])
    lines.append("|" + "|".join(" ---: " if column.figures else " --- " for column in table.columns) + "|")
    for row in table.rows:
        lines += _line([f"{cell.text} ({cell.note})" if cell.note else cell.text for cell in row])
    for note in table.notes:
        lines += ["", markdown_text(note)]
    return "\n".join(lines) + "\n"


def _line(cells: list[str]) -> list[str]:
    return ["| " + " | ".join(map(markdown_text, cells)) + " |"]


def markdown_text(text: str) -> str:
    r"""Take from characters what they mean in Markdown.

    >>> print(markdown_text("<unk> is *one* word"))
    \<unk\> is \*one\* word
    """
    return _OF_MARKDOWN.sub(r"\\\1", " ".join(text.split()))
