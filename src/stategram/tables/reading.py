"""Tables from files: csv and tsv, jsonl, parquet; plain or compressed."""

from __future__ import annotations

import io
import os
import re
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from stategram.errors import BadDataError
from stategram.storage import Place
from stategram.text import TableFormat, check_utf8, display_name, load_library, read_all, row_format
from stategram.text.rows import EXPECTED, RowFormat, arrow_tables, delimited_rows, json_object

_BOM = b"\xef\xbb\xbf"
# What a whole table may unpack to: so much, or so many times its bytes.
_UNPACKED, _RATIO = 1 << 26, 64


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


def read_rows(source: Place, format: RowFormat | None = None) -> Rows:
    """Read a table from a path, ``-`` for standard input, or a binary stream; plain or compressed.

    The format is by default as the name ends; of other names, as the file begins: JSON, or else tsv if there
    is a tab in the first line, or else csv.
    """
    place = os.fspath(source) if isinstance(source, str | os.PathLike) else source
    return parse_rows(display_name(place), read_all(place), format)


def parse_rows(name: str, data: bytes, format: RowFormat | None = None) -> Rows:
    """Return the rows of a file that was read; see `read_rows`."""
    if format is None:
        format = _format_of(name, data)
    if format in ("parquet", "arrow"):
        return _read_arrow(name, data, format)
    check_utf8(name, data)
    text = data.removeprefix(_BOM).decode()
    rows = _read_jsonl(name, text) if format == "jsonl" else _read_delimited(name, text, format)
    if not rows.columns:
        raise BadDataError(f"{name}:1: no columns in the file; expected {EXPECTED[format]}")
    return rows


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


def _format_of(name: str, data: bytes) -> RowFormat:
    if data.startswith(b"PAR1"):
        return "parquet"
    if (found := row_format(name)) != "text":
        return found
    text = data.removeprefix(_BOM).lstrip()
    if text.startswith(b"{"):
        return "jsonl"
    return "tsv" if b"\t" in text.partition(b"\n")[0] else "csv"


def _read_delimited(name: str, text: str, format: str) -> Rows:
    rows = delimited_rows(name, io.StringIO(text, newline=""), format)
    _, names = next(rows)
    columns: dict[str, list[Any]] = {column: [] for column in names}
    if len(columns) < len(names):
        twice = next(one for one in names if names.count(one) > 1)
        raise BadDataError(f"{name}:1: two columns are named {twice!r}; rename one of them")
    lines = []
    for line, row in rows:
        lines.append(line)
        for cells, cell in zip(columns.values(), row, strict=True):
            cells.append(cell)
    return Rows(name, columns, lines)


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


def _read_arrow(name: str, data: bytes, format: str) -> Rows:
    pyarrow = load_library("pyarrow", f"reading {format}")
    columns: dict[str, list[Any]] = {}
    size = 0
    for table, _ in arrow_tables(name, data, format):
        is_coded = pyarrow.types.is_dictionary
        fields = [one.with_type(one.type.value_type) if is_coded(one.type) else one for one in table.schema]
        plain = table.cast(pyarrow.schema(fields))
        size += plain.nbytes
        if size > max(_UNPACKED, _RATIO * len(data)):
            raise BadDataError(
                f"{name}: its rows unpack from {len(data):,} to more than {size:,} bytes, and are read all "
                "at once; divide the table"
            )
        try:
            for column, cells in zip(plain.column_names, plain.columns, strict=True):
                columns.setdefault(column, []).extend(cells.to_pylist())
        except UnicodeDecodeError as error:
            raise BadDataError(f"{name}: a text in it is not UTF-8 ({error}); write it again") from error
    return Rows(name, columns, None)
