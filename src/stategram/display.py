"""How things are shown: numbers, times, sizes and names in messages; facts and tables anywhere.

Pages have templates for facts and tables.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import zip_longest
from typing import TypeAlias

import msgspec

Value: TypeAlias = str | int | float | None
"""What a cell may hold; integers are counts, None is an empty cell."""
Fact: TypeAlias = tuple[str, str | int | float]
"""A label and a value."""

_NUMBER = "number"
_SURROGATES = re.compile("[\ud800-\udfff]")
# Control characters of ASCII and ISO 8859 but tab and newline; what turns the direction of writing around.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Column:
    """A column; `style` are classes of the style sheet of pages: ``number`` aligns to the right."""

    title: str
    style: str = ""

    @property
    def is_number(self) -> bool:
        """Whether it is aligned to the right."""
        return _NUMBER in self.style.split()


@dataclass(frozen=True)
class Cell:
    """A value, and a note of one or more lines in small letters below it."""

    value: Value = None
    note: str = ""
    style: str = ""

    @property
    def text(self) -> str:
        """The value as it is shown."""
        return value_text(self.value)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to read."""
        return not self.text and not self.note


@dataclass(frozen=True)
class DisplayTable:
    """Columns and rows; `notes` are the sentences below it."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Description:
    """What there is to know of something: facts with their labels, and tables."""

    facts: tuple[Fact, ...]
    tables: tuple[DisplayTable, ...] = ()


def display_table(
    title: str,
    columns: Sequence[str | Column],
    rows: Iterable[Sequence[Value | Cell]],
    notes: Iterable[str] = (),
) -> DisplayTable:
    """Return a table without the columns that are empty in every row.

    A column that is given by its title alone is one of numbers if no row has a text in it.

    Examples
    --------
    >>> found = display_table("t", ["a", "b"], [[1, None], [2000, None]])
    >>> [(column.title, column.is_number) for column in found.columns]
    [('a', True)]
    >>> [cell.text for (cell,) in found.rows]
    ['1', '2,000']

    """
    cells = [[value if isinstance(value, Cell) else Cell(value) for value in row] for row in rows]
    kept = [i for i in range(len(columns)) if not cells or not all(row[i].is_empty for row in cells)]
    return DisplayTable(
        title,
        tuple(_column(columns[i], [row[i] for row in cells]) for i in kept),
        tuple(tuple(row[i] for i in kept) for row in cells),
        tuple(notes),
    )


def _column(given: str | Column, cells: Sequence[Cell]) -> Column:
    if isinstance(given, Column):
        return given
    return Column(given, "" if any(isinstance(cell.value, str) for cell in cells) else _NUMBER)


def value_text(value: Value) -> str:
    """Return a value as facts and cells show it.

    >>> value_text(12345), value_text(1234.5678), value_text(0.25), value_text(None)
    ('12,345', '1,234.57', '0.25', '')
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def description_text(shown: Description, indent: str = "") -> str:
    """Return facts, one per line, and tables for a terminal.

    >>> print(description_text(Description((("Words", 1200), ("Order", 5)))))
    Words  1,200
    Order  5
    """
    facts = [(label, value_text(value)) for label, value in shown.facts]
    width = max((len(label) for label, _ in facts), default=0)
    lines = (f"{indent}{label:<{width}}  {value}".rstrip() for label, value in facts)
    tables = (table_text(one, indent) for one in shown.tables if one.rows)
    return "\n\n".join(filter(None, ("\n".join(lines), *tables)))


def table_text(shown: DisplayTable, indent: str = "") -> str:
    """Return a table for a terminal: its title, aligned columns, and notes.

    >>> print(table_text(display_table("Words", ["Word", "Count"], [["the", 1200], ["cat", None]])))
    Words
    Word  Count
    the   1,200
    cat
    """
    rows = [[column.title for column in shown.columns]]
    for row in shown.rows:
        cells = [[cell.text, *cell.note.splitlines()] for cell in row]
        rows += map(list, zip_longest(*cells, fillvalue=""))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    aligned = [
        "  ".join(
            text.rjust(width) if column.is_number else text.ljust(width)
            for text, width, column in zip(row, widths, shown.columns, strict=True)
        )
        for row in rows
    ]
    lines = [*([shown.title] if shown.title else []), *aligned, *shown.notes]
    return "\n".join(f"{indent}{line}".rstrip() for line in lines)


def json_text(figures: object) -> str:
    """Return records of any kind as JSON on one line; what is infinite is null.

    >>> json_text(Column("Perplexity"))
    '{"title":"Perplexity","style":""}'
    """
    return msgspec.json.encode(figures).decode()


def table_html(shown: DisplayTable) -> str:
    """Return a table and its notes as HTML for a notebook, in which any text is harmless.

    Nothing has a colour of its own, so that it can be read in light and dark notebooks.

    >>> print(table_html(display_table("", ["Word", "Count"], [["<b>", 1200]])))
    <table>
    <thead><tr><th style="text-align: left">Word</th><th style="text-align: right">Count</th></tr></thead>
    <tbody>
    <tr><td style="text-align: left">&lt;b&gt;</td><td style="text-align: right">1,200</td></tr>
    </tbody>
    </table>
    <BLANKLINE>
    """
    head = "".join(_html("th", column.title, column) for column in shown.columns)
    rows = [
        [_html("td", cell.text, column) for cell, column in zip(row, shown.columns, strict=True)]
        for row in shown.rows
    ]
    return (
        f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{''.join(map(_row, rows))}</tbody>\n</table>\n"
        + "".join(f"<p>{_harmless(note)}</p>\n" for note in shown.notes)
    )


def _row(cells: Iterable[str]) -> str:
    return f"<tr>{''.join(cells)}</tr>\n"


def _html(tag: str, text: str, column: Column) -> str:
    side = "right" if column.is_number else "left"
    return f'<{tag} style="text-align: {side}">{_harmless(text)}</{tag}>'


def _harmless(text: str) -> str:
    """Return a text that is neither markup, nor turns the direction of writing, nor cannot be encoded."""
    return escape(visible(printable(text)))


def plural(n: int, one: str, more: str | None = None) -> str:
    """Return a number with its noun.

    >>> plural(1, "word"), plural(2000, "class", "classes")
    ('1 word', '2,000 classes')
    """
    return f"{n:,} {one if n == 1 else more or one + 's'}"


def printable(name: str) -> str:
    r"""Return a name that can be encoded as UTF-8; undecodable bytes of file names become U+FFFD.

    >>> printable("caf\udce9") == "caf\N{REPLACEMENT CHARACTER}"
    True
    """
    return _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", name)


def command_line(*words: object) -> str:
    """Return a command of stategram that can be pasted into a shell.

    >>> command_line("eval", "my model", "test.txt")
    "stategram eval 'my model' test.txt"
    """
    return shlex.join(["stategram", *map(str, words)])


def escaped(text: str) -> str:
    r"""Return a text that a terminal shows as it is: control characters become escapes.

    >>> escaped("a\x1b[2Jb\n"), escaped("Größe 日本")
    ('a\\x1b[2Jb\\n', 'Größe 日本')
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def visible(text: str) -> str:
    r"""Return a text without what a terminal would obey: control characters but tab and newline are shown.

    >>> visible("a\x1b[2Jb\tc\n"), visible("a\u202eb\x9b1m")
    ('a\\x1b[2Jb\tc\n', 'a\\u202eb\\x9b1m')
    """
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def duration(seconds: float) -> str:
    """Return a time in a suitable unit.

    >>> duration(0.034), duration(3.42), duration(34.2), duration(200), duration(7500), duration(260_000)
    ('34 ms', '3.4 s', '34 s', '3 min 20 s', '2 h 05 min', '3.0 days')
    """
    if seconds < 0.95:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    rounded = round(seconds)
    if rounded < 60:
        return f"{rounded} s"
    if rounded < 3600:
        return f"{rounded // 60} min {rounded % 60:02} s"
    minutes = round(seconds / 60)
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60:02} min"
    return f"{seconds / 86400:.1f} days"


def size(n_bytes: int) -> str:
    """Return a number of bytes in a suitable unit.

    >>> size(999), size(1_500_000), size(12_000_000_000)
    ('999 bytes', '1.5 MB', '12.0 GB')
    """
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.1f} {name}"
    return plural(n_bytes, "byte")


def count(value: int | None) -> str:
    """Return an integer; nothing for None.

    >>> count(12345), count(None)
    ('12,345', '')
    """
    return "" if value is None else f"{value:,}"


def perplexity(value: float | None) -> str:
    """Return a perplexity, or an end of its interval; nothing if there is none.

    >>> perplexity(97.563), perplexity(1234.56), perplexity(float("inf")), perplexity(None)
    ('97.56', '1,234.6', 'infinite', '')
    """
    if value is None or math.isnan(value):
        return ""
    if math.isinf(value):
        return "infinite"
    return f"{value:,.2f}" if value < 1000 else f"{value:,.1f}" if value < 1e7 else f"{value:.3g}"


def percent(fraction: float) -> str:
    """Return a fraction in percent.

    >>> percent(0.256), percent(0.0342)
    ('25.6%', '3.42%')
    """
    return f"{fraction:,.1%}" if abs(fraction) >= 0.1 else f"{fraction:.2%}"


def change(value: float | None) -> str:
    """Return a relative difference with its sign; nothing if there is none.

    >>> change(-0.118), change(0.02), change(-0.00001), change(None)
    ('-11.8%', '+2.00%', '0.00%', '')
    """
    if value is None or not math.isfinite(value):
        return ""
    size = percent(abs(value))
    return size if size == "0.00%" else f"{'-' if value < 0 else '+'}{size}"
