"""Tables from files: csv and tsv, jsonl, parquet; plain or compressed."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import msgspec

from stategram.display import plural
from stategram.errors import BadDataError, UsageError
from stategram.storage import Place
from stategram.tables.table import load_library
from stategram.tables.writing import TableFormat, format_of_name
from stategram.text import check_utf8, display_name, read_all

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Rows:
    """The cells of a table, as its file has them: strings, or what JSON and parquet have."""

    name: str
    """The name of the file in messages."""
    columns: dict[str, list[Any]]
    lines: list[int] | None
    """The line at which each row begins; None for what has no lines."""

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def where(self, row: int) -> str:
        """Return the place of a row, from 0, for a message."""
        return f"{self.name}, row {row + 1}" if self.lines is None else f"{self.name}:{self.lines[row]}"


def read_rows(source: Place, format: TableFormat | None = None) -> Rows:
    """Read a table from a path, ``-`` for standard input, or a binary stream; plain or compressed.

    The format is by default as the name ends; of other names, as the file begins: JSON, or else tsv if there
    is a tab in the first line, or else csv.
    """
    place = os.fspath(source) if isinstance(source, str | os.PathLike) else source
    return parse_rows(display_name(place), read_all(place), format)


def parse_rows(name: str, data: bytes, format: TableFormat | None = None) -> Rows:
    """Return the rows of a file that was read; see `read_rows`."""
    if format is None:
        format = _format_of(name, data)
    if format == "parquet":
        return _read_parquet(name, data)
    check_utf8(name, data)
    text = data.removeprefix(_BOM).decode()
    rows = _read_jsonl(name, text) if format == "jsonl" else _read_delimited(name, text, format)
    if not rows.columns:
        raise BadDataError(f"{name}:1: no columns in the file; expected {_EXPECTED[format]}")
    return rows


def check_column(name: str, columns: Collection[str], where: str) -> None:
    """Raise an error if a table does not have a column; guess which one was meant."""
    if name in columns:
        return
    near = get_close_matches(name, columns, 1, 0.6)
    near = near or [one for one in columns if one.strip().casefold() == name.casefold()]
    guess = f"; did you mean {near[0]!r}?" if near else ""
    raise UsageError(f"{where}: no column {name!r}; there are {', '.join(map(repr, columns))}{guess}")


def word_table(name: str, data: bytes, column: str) -> Rows | None:
    r"""Return a file of words and `column` as a table, if that is what its first line says; otherwise None.

    A line of names is no row of such a file: that would have a number in the third place. The words are as
    they were before they were written; see docs/tables.md.

    >>> table = word_table("tags.tsv", b"word\ttag\tcount\n\\NA\tNN\t3\n", "tag")
    >>> table.columns["word"], table.columns["tag"]
    (['NA'], ['NN'])
    >>> word_table("tags.tsv", b"NA\tNN\t3\n", "tag")
    """
    format = _format_of_header(data, {"word", column})
    if format is None:
        return None
    rows = parse_rows(name, data, format)
    for needed in ("word", column):
        cells = rows.columns.get(needed, [])
        bad = next((row for row, cell in enumerate(cells) if cell in (None, "")), None)
        if bad is not None or not cells:
            place = f"{name}:1" if bad is None else rows.where(bad)
            raise BadDataError(f"{place}: no {needed} there; expected a word and its {column} in each row")
    escape = "\\" if format in ("tsv", "csv") else ""
    texts = {
        name: [str(cell).removeprefix(escape) for cell in rows.columns[name]] for name in ("word", column)
    }
    return replace(rows, columns={**rows.columns, **texts})


def _format_of_header(data: bytes, names: set[str]) -> TableFormat | None:
    if data.startswith(b"PAR1"):
        return "parquet"
    first = data.removeprefix(_BOM).partition(b"\n")[0].rstrip(b"\r").decode(errors="replace")
    if first.startswith("{"):
        try:
            found = msgspec.json.decode(first)
        except (msgspec.DecodeError, RecursionError):
            return None
        return "jsonl" if isinstance(found, dict) and names <= found.keys() else None
    formats: tuple[tuple[TableFormat, str], ...] = (("tsv", "\t"), ("csv", ","))
    for format, delimiter in formats:
        fields = [field.strip('"') for field in first.split(delimiter)]
        if names <= set(fields) and len(fields) > 2 and not _NUMBER.fullmatch(fields[2]):
            return format
    return None


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_EXPECTED: dict[TableFormat, str] = {
    "tsv": "a line with the names of the columns, separated by tabs, then one line per row",
    "csv": "a line with the names of the columns, separated by commas, then one line per row",
    "jsonl": 'a JSON object on each line, such as {"item": 1, "text": "the cat sat"}',
}


def _format_of(name: str, data: bytes) -> TableFormat:
    if data.startswith(b"PAR1"):
        return "parquet"
    if (found := format_of_name(name)) is not None:
        return found
    text = data.removeprefix(_BOM).lstrip()
    if text.startswith(b"{"):
        return "jsonl"
    return "tsv" if b"\t" in text.partition(b"\n")[0] else "csv"


def _read_delimited(name: str, text: str, format: TableFormat) -> Rows:
    delimiter = _delimiter_of(text.partition("\n")[0], format)
    rows: list[list[str]] = []
    lines: list[int] = []
    found = _delimited_rows(name, io.StringIO(text, newline=""), delimiter)
    _, names = next(found, (1, []))
    for begin, row in found:
        if row or len(names) == 1:
            rows.append(row or [""])
            lines.append(begin)
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    return Rows(name, _named(name, names, map(list, columns)), lines)


def _delimiter_of(header: str, format: str) -> str:
    """Return what separates the fields of a csv or tsv file, given its first line."""
    # Spreadsheets of some countries separate by semicolons.
    return "\t" if format == "tsv" else ";" if "," not in header and ";" in header else ","


def _delimited_rows(name: str, lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each row of a csv or tsv file, and the line at which it begins.

    The first row has the names of the columns; those after it have as many fields, or none.
    """
    begin = 1
    n_columns: int | None = None
    with _fields_of_any_length():
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            for row in reader:
                if n_columns is None:
                    n_columns = len(row)
                elif row and len(row) != n_columns:
                    raise BadDataError(
                        f"{name}:{begin}: found {plural(len(row), 'field')}, but line 1 names "
                        f"{plural(n_columns, 'column')}; correct the line, or quote a field that holds the "
                        "separator"
                    )
                yield begin, row
                begin = reader.line_num + 1
        except csv.Error as error:
            raise BadDataError(
                f"{name}:{begin}: bad quoting ({error}); put quotes around the whole field, and double those "
                "inside it"
            ) from error


@contextmanager
def _fields_of_any_length() -> Iterator[None]:
    """Let the module csv read fields of more than 131,072 characters."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _named(name: str, names: Sequence[str], columns: Iterable[list[Any]]) -> dict[str, list[Any]]:
    if len(set(names)) < len(names):
        twice = next(one for one in names if names.count(one) > 1)
        raise BadDataError(f"{name}:1: two columns are named {twice!r}; rename one of them")
    return dict(zip(names, columns, strict=True))


def _read_jsonl(name: str, text: str) -> Rows:
    objects: list[dict[str, Any]] = []
    lines: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        objects.append(json_object(line, f"{name}:{number}"))
        lines.append(number)
    names = dict.fromkeys(key for found in objects for key in found)
    return Rows(name, {key: [found.get(key) for found in objects] for key in names}, lines)


def json_object(line: str | bytes, where: str) -> dict[str, Any]:
    """Return the JSON object of a line; BadDataError if it is none."""
    try:
        found = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadDataError(f"{where}: not JSON ({error}); expected {_EXPECTED['jsonl']}") from error
    if isinstance(found, dict):
        return found
    shown = (line if isinstance(line, str) else line.decode()).strip()[:40]
    raise BadDataError(f"{where}: found {shown!r}; expected {_EXPECTED['jsonl']}")


def _read_parquet(name: str, data: bytes) -> Rows:
    pyarrow = load_library("pyarrow", "reading parquet")
    parquet = load_library("pyarrow.parquet", "reading parquet")
    try:
        table = parquet.read_table(pyarrow.BufferReader(data))
    except (pyarrow.ArrowException, OSError) as error:
        raise BadDataError(f"{name}: not a parquet file, or damaged ({error}); write it again") from error
    columns = (column.to_pylist() for column in table.columns)
    return Rows(name, _named(name, table.column_names, columns), None)
