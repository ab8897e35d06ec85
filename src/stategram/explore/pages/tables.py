"""A table, before it is written as HTML or Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stategram.explore.pages.numbers import DASH
from stategram.storage import InputFile
from stategram.wording import size

_MARKDOWN = re.compile(r"([\\`*_\[\]<>|#~])")


@dataclass(frozen=True)
class Column:
    """A column; `style` are classes of the style sheet: ``number`` aligns to the right."""

    title: str
    style: str = ""

    @property
    def is_number(self) -> bool:
        """Whether it is aligned to the right."""
        return "number" in self.style.split()


@dataclass(frozen=True)
class Cell:
    """The text of a cell, and a note of one or more lines in small letters below it."""

    text: str = DASH
    note: str = ""
    style: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to read."""
        return self.text == DASH and not self.note


@dataclass(frozen=True)
class Table:
    """Columns and rows; `notes` are the sentences below it."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()


def table(
    title: str,
    columns: Sequence[Column],
    rows: Iterable[Sequence[str | Cell]],
    notes: Iterable[str] = (),
) -> Table:
    """Return a table without the columns that are empty in every row.

    Examples
    --------
    >>> table("t", [Column("a"), Column("b")], [["1", "–"], ["2", Cell()]]).columns
    (Column(title='a', style=''),)

    """
    cells = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    kept = [i for i in range(len(columns)) if not cells or not all(row[i].is_empty for row in cells)]
    return Table(
        title,
        tuple(columns[i] for i in kept),
        tuple(tuple(row[i] for i in kept) for row in cells),
        tuple(notes),
    )


def input_files_table(files: Iterable[InputFile]) -> Table:
    """Return name, use, size and SHA-256 of files."""
    return table(
        "Input files",
        (Column("File", "file"), Column("Use"), Column("Size", "number"), Column("SHA-256", "code")),
        [
            (
                file.name,
                file.use or DASH,
                DASH if file.bytes is None else size(file.bytes),
                file.sha256 or DASH,
            )
            for file in files
        ],
    )


def table_markdown(table: Table) -> str:
    """Return a table as Markdown, its title as a heading, its notes below."""
    lines = [f"## {markdown_text(table.title)}", ""]
    lines.append(_line(column.title for column in table.columns))
    lines.append("|" + "|".join(" ---: " if column.is_number else " --- " for column in table.columns) + "|")
    for row in table.rows:
        lines.append(_line(map(_cell_markdown, row)))
    for note in table.notes:
        lines += ["", markdown_text(note)]
    return "\n".join(lines) + "\n"


def _cell_markdown(cell: Cell) -> str:
    return f"{cell.text} ({'; '.join(cell.note.splitlines())})" if cell.note else cell.text


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(map(markdown_text, cells)) + " |"


def markdown_text(text: str) -> str:
    r"""Escape the characters that have a meaning in Markdown.

    >>> print(markdown_text("<unk> is *one* word"))
    \<unk\> is \*one\* word
    """
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))
