"""Files of rows with a text in each: lines, or one column of a csv, tsv, jsonl, parquet or Arrow file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from stategram.display import plural
from stategram.errors import BadDataError, UsageError
from stategram.progress import Progress, report_bytes
from stategram.storage import is_url, uncompressed_name
from stategram.text.columns import TEXT_COLUMN, check_column, load_library
from stategram.text.files import BLOCK_SIZE, display_name, file_size, read_all
from stategram.text.format import TextFormat
from stategram.text.lines import Lines, read_lines, read_paragraphs

TableFormat = Literal["tsv", "csv", "jsonl", "parquet"]
RowFormat = Literal["text", "tsv", "csv", "jsonl", "parquet", "arrow"]

_SUFFIXES: dict[str, TableFormat] = {
    ".tsv": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
_ARROW = (".arrow", ".arrows", ".feather", ".ipc")
_BOM = b"\xef\xbb\xbf"
# Of Arrow data: the most rows that are handed out at once, and about the most bytes of their texts.
_ROWS, _PIECE = 1 << 14, 1 << 22
# What a column of a row group may unpack to: so much, or so many times its bytes on disk.
_UNPACKED, _RATIO = 1 << 28, 64
_DELTA, _BYTES = "DELTA_BYTE_ARRAY", ("string", "binary")


def format_of_name(name: str) -> TableFormat | None:
    """Return the format that the name of a file ends in; None if it is another one."""
    return _SUFFIXES.get(Path(uncompressed_name(name)).suffix.lower())


def row_format(name: str) -> RowFormat:
    """Return the format of a file of texts, as its name ends: that of a table, or else ``text``.

    >>> row_format("a.jsonl.zst"), row_format("https://host/a.csv?download=true"), row_format("a.txt")
    ('jsonl', 'csv', 'text')
    """
    name = name.partition("?")[0] if is_url(name) else name
    is_arrow = Path(uncompressed_name(name)).suffix.lower() in _ARROW
    return "arrow" if is_arrow else format_of_name(name) or "text"


def read_texts(
    name: str,
    text_format: TextFormat,
    block_size: int = BLOCK_SIZE,
    *,
    live: bool = False,
    begin: int = 0,
    end: int | None = None,
) -> Iterator[Lines]:
    """Yield the lines of a text, or of the texts in a table, as `read_lines` does: the door of all files.

    Lines of prose that are hard-wrapped come as whole paragraphs; a table is read as a whole.
    """
    if row_format(name) == "text":
        read = read_paragraphs if text_format.tokenize == "prose" else read_lines
        yield from read(name, block_size, live=live, begin=begin, end=end)
        return
    file = RowFile(name, display_name(name), row_format(name), text_format.text_column or TEXT_COLUMN)
    for block in file.read(texts_only=True):
        yield block.lines()


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Consecutive rows of a file."""

    name: str
    rows: Any
    """As they are: lines without their ``\\n``, or an Arrow table; None of csv and tsv."""
    texts: list[bytes]
    """The text of each row, of one line or several; empty where there is none."""
    numbers: NDArray[np.int64]
    """The line of each row in its file; of Arrow data the number of the row, from 1."""
    offset: int = -1
    """Where in the file lines of text begin."""
    taken: int = 0

    def lines(self) -> Lines:
        """Return the lines of all texts."""
        numbers = np.repeat(self.numbers, [text.count(b"\n") + 1 for text in self.texts])
        data = b"".join(text + b"\n" for text in self.texts)
        return Lines(self.name, data, offset=self.offset, taken=self.taken, numbers=numbers)


@dataclass(frozen=True)
class RowFile:
    """A file of texts, one per row: the lines of a text, or what is in a column of a table."""

    path: str
    name: str
    """As messages show it."""
    format: RowFormat
    column: str = TEXT_COLUMN
    absent: str | None = None
    """A column that a table must not have, as it will be added."""

    def read(self, progress: Progress | None = None, *, texts_only: bool = False) -> Iterator[RowBlock]:
        """Yield the rows in blocks of some megabytes; of parquet, the texts alone if `texts_only`."""
        total = file_size(self.path)
        if self.format in ("parquet", "arrow"):
            blocks = self._read_arrow(total or 0, texts_only=texts_only)
        elif self.format in ("csv", "tsv"):
            blocks = self._read_delimited()
        else:
            blocks = self._read_lines()
        for block in blocks:
            yield block
            report_bytes(progress, block.taken, total)

    def _read_lines(self) -> Iterator[RowBlock]:
        for lines in read_lines(self.path, 2 * BLOCK_SIZE):
            rows = lines.data.removesuffix(b"\n").split(b"\n")
            is_text = self.format == "text"
            texts = rows if is_text else self._json_texts(rows, lines.line)
            numbers = np.arange(lines.line, lines.line + len(rows), dtype=np.int64)
            yield RowBlock(self.name, rows, texts, numbers, lines.offset if is_text else -1, lines.taken)

    def _json_texts(self, rows: list[bytes], first: int) -> list[bytes]:
        fields: list[Any] = [("text", str | None), ("other", msgspec.Raw, msgspec.Raw())]
        names = {"text": self.column, "other": self.absent or ""}
        kind = msgspec.defstruct("_Row", fields[: 1 + (self.absent is not None)], rename=names)
        decode = msgspec.json.Decoder(kind).decode
        texts = []
        for number, row in enumerate(rows, first):
            line, where = row.removeprefix(_BOM) if number == 1 else row, f"{self.name}:{number}"
            try:
                read: Any = decode(line) if line.strip() else None
            except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
                columns = json_object(line, where)
                check_column(self.column, list(columns), where, of_texts=True)
                raise BadDataError(
                    f"{where}: the column {self.column!r} has {columns[self.column]!r:.60}, which is not a "
                    "text; expected a string"
                ) from error
            if self.absent and read is not None and read.other:
                raise self._not_absent(where)
            texts.append(b"" if read is None else _plain((read.text or "").encode()))
        return texts

    def _read_delimited(self) -> Iterator[RowBlock]:
        taken = 0

        def lines() -> Iterator[str]:
            nonlocal taken
            for block in read_lines(self.path, 2 * BLOCK_SIZE):
                taken = block.taken
                data = block.data.removeprefix(_BOM) if block.line == 1 else block.data
                # Bad bytes are refused, or replaced, with those of all texts.
                yield from io.StringIO(data.decode(errors="surrogateescape"), newline="")

        rows = delimited_rows(self.name, lines(), self.format)
        _, names = next(rows)
        check_column(self.column, names, f"{self.name}:1", of_texts=True)
        place, size = names.index(self.column), 0
        texts, numbers = list[bytes](), list[int]()
        for number, row in rows:
            texts.append(_plain(row[place].encode(errors="surrogateescape")))
            numbers.append(number)
            size += len(texts[-1])
            if size > BLOCK_SIZE:
                yield RowBlock(self.name, None, texts, np.array(numbers, np.int64), taken=taken)
                texts, numbers, size = [], [], 0
        yield RowBlock(self.name, None, texts, np.array(numbers, np.int64), taken=taken)

    def _read_arrow(self, total: int, *, texts_only: bool) -> Iterator[RowBlock]:
        pyarrow = load_library("pyarrow", f"reading {self.format}")
        source = read_all(self.path) if is_url(self.path) or self.path == "-" else self.path
        columns, done = [self.column] if texts_only else None, 0
        for table, fraction in arrow_tables(self.name, source, self.format, columns):
            if done == 0:
                check_column(self.column, table.column_names, self.name, of_texts=True)
                if self.absent in table.column_names:
                    raise self._not_absent(self.name)
                kind = table.schema.field(self.column).type
                kind = kind.value_type if pyarrow.types.is_dictionary(kind) else kind
                if not (pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)):
                    raise BadDataError(
                        f"{self.name}: the column {self.column!r} is of type {kind}; name one of strings"
                    )
            # Bad bytes are refused, or replaced, with those of all texts.
            bytes_of = table.column(self.column).cast(kind).cast(pyarrow.large_binary())
            texts = [_plain(text or b"") for text in bytes_of.to_pylist()]
            numbers = np.arange(done + 1, done + 1 + len(texts), dtype=np.int64)
            yield RowBlock(self.name, table, texts, numbers, taken=int(total * fraction))
            done += len(texts)

    def _not_absent(self, where: str) -> UsageError:
        return UsageError(
            f"{where}: there is a column {self.absent!r} already; rename it, or select without scores"
        )


def _plain(text: bytes) -> bytes:
    """Return a text of a table; a NUL is valid there, but not in a text."""
    return text.replace(b"\0", b"\xef\xbf\xbd")


def arrow_tables(
    name: str, source: str | bytes, format: str, columns: Sequence[str] | None = None
) -> Iterator[tuple[Any, float]]:
    """Yield a parquet or Arrow file as tables of some megabytes, each with the fraction that is read.

    The first one has no rows, but all columns. Texts that are kept once in a file are kept once in memory
    until they are handed out.
    """
    pyarrow = load_library("pyarrow", f"reading {format}")

    def opened() -> Any:
        return source if isinstance(source, str) else pyarrow.BufferReader(source)

    try:
        schema, n_rows, batches = (_parquet if format == "parquet" else _ipc)(name, opened, columns)
        if len(set(schema.names)) < len(schema.names):  # which are refused here if they are not UTF-8
            raise pyarrow.ArrowInvalid("two columns have the same name")
        yield schema.empty_table(), 0.0
        done = 0
        for batch in batches:
            done += batch.num_rows
            names = batch.schema.names
            of_batch = schema if columns is None else pyarrow.schema([schema.field(one) for one in names])
            for piece in _pieces(batch):
                table = pyarrow.Table.from_batches([piece]).cast(of_batch)
                yield table, done / max(n_rows, done, 1)
    except FileNotFoundError as error:
        raise BadDataError(f"{name}: no such file; check the name") from error
    except (pyarrow.ArrowException, OSError, KeyError, UnicodeDecodeError) as error:
        reason = str(error).partition("\n")[0]
        kind = "a parquet file" if format == "parquet" else "an Arrow file"
        raise BadDataError(f"{name}: not {kind}, or damaged ({reason}); write it again") from error


def _parquet(
    name: str, opened: Callable[[], Any], columns: Sequence[str] | None
) -> tuple[Any, int, Iterable[Any]]:
    """Return the schema of a parquet file, the number of its rows, and them in batches."""
    parquet = load_library("pyarrow.parquet", "reading parquet")
    with parquet.ParquetFile(opened()) as file:
        schema, metadata = file.schema_arrow, file.metadata
    rows = least = _ROWS
    once = set[str]()
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        unpacked = 0
        for leaf in map(group.column, range(group.num_columns)):
            path, size = leaf.path_in_schema, leaf.total_uncompressed_size
            if columns is not None and not any(path == one or path.startswith(f"{one}.") for one in columns):
                continue
            if size > max(_UNPACKED, _RATIO * leaf.total_compressed_size):
                raise BadDataError(
                    f"{name}: the column {path!r} unpacks from {leaf.total_compressed_size:,} to {size:,} "
                    "bytes at once; write the file with smaller row groups, or as jsonl"
                )
            unpacked += size
            if _DELTA in leaf.encodings:  # each text may have all of the one before it
                least = min(least, max(_PIECE // max(size, 1), 1))
                rows = min(rows, max(4 * _UNPACKED // max(size, 1), 1))
            elif leaf.physical_type == "BYTE_ARRAY" and path in schema.names:
                once.add(path)
        rows = min(rows, max(_PIECE * group.num_rows // max(unpacked, 1), 1))

    def batches() -> Iterator[Any]:
        with parquet.ParquetFile(opened(), read_dictionary=sorted(once)) as file:
            for batch in file.iter_batches(min(least, rows), columns=columns):
                yield batch
                # What the rows so far take says how many come next.
                fitting = _PIECE * batch.num_rows // max(batch.nbytes, 1)
                file.reader.set_batch_size(max(min(2 * batch.num_rows, fitting, rows), 1))

    return schema, metadata.num_rows, batches()


def _ipc(
    name: str, opened: Callable[[], Any], columns: Sequence[str] | None
) -> tuple[Any, int, Iterable[Any]]:
    """Return the same of an Arrow file or stream, whose number of rows is not known."""
    pyarrow = load_library("pyarrow", "reading Arrow")
    source = opened()
    file = pyarrow.OSFile(source) if isinstance(source, str) else source
    is_file = file.read(6) == b"ARROW1"
    file.seek(0)
    reader = pyarrow.ipc.open_file(file) if is_file else pyarrow.ipc.open_stream(file)

    def batches() -> Iterator[Any]:
        with file:
            of_file = map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader
            for batch in of_file:
                batch.validate(full=True)  # nothing else looks at its offsets and indices
                yield batch if columns is None else batch.select(columns)

    return reader.schema, 0, batches()


def _pieces(batch: Any) -> Iterator[Any]:
    """Yield parts of a batch with about `_PIECE` bytes once its texts are unpacked."""
    pyarrow = load_library("pyarrow", "reading Arrow")
    compute = load_library("pyarrow.compute", "reading Arrow")
    sizes = np.zeros(batch.num_rows, np.int64)
    for column in batch.columns:
        kind = column.type
        if pyarrow.types.is_dictionary(kind) and str(kind.value_type).removeprefix("large_") in _BYTES:
            lengths = compute.binary_length(column.dictionary).fill_null(0).to_numpy()
            indices = column.indices.fill_null(len(lengths)).to_numpy(zero_copy_only=False)
            sizes += np.append(lengths, 0)[indices]
    cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // _PIECE)) + 1
    bounds = sorted({*range(0, batch.num_rows, _ROWS), *cuts.tolist(), batch.num_rows})
    for first, last in pairwise(bounds):
        yield batch.slice(first, last - first)


EXPECTED: dict[str, str] = {
    "tsv": "a line with the names of the columns, separated by tabs, then one line per row",
    "csv": "a line with the names of the columns, separated by commas, then one line per row",
    "jsonl": 'a JSON object on each line, such as {"item": 1, "text": "the cat sat"}',
}


def delimited_rows(name: str, lines: Iterator[str], format: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each row of a csv or tsv file, and the line at which it begins.

    The first row has the names of the columns; those after it have as many fields.
    """
    header = next(lines, "")
    # Spreadsheets of some countries separate by semicolons.
    delimiter = "\t" if format == "tsv" else ";" if "," not in header and ";" in header else ","
    begin, n_columns = 1, 0
    csv.field_size_limit(2**31 - 1)  # of the whole process, so never restored: others may be reading
    reader = csv.reader(chain([header], lines), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            n_columns = n_columns or len(row)
            if n_columns == 0:
                raise BadDataError(f"{name}:1: no columns in the file; expected {EXPECTED[format]}")
            if row and len(row) != n_columns:
                raise BadDataError(
                    f"{name}:{begin}: found {plural(len(row), 'field')}, but line 1 names "
                    f"{plural(n_columns, 'column')}; correct the line, or quote a field that holds the "
                    "separator"
                )
            if row or n_columns == 1:
                yield begin, row or [""]
            begin = reader.line_num + 1
    except csv.Error as error:
        raise BadDataError(
            f"{name}:{begin}: bad quoting ({error}); put quotes around the whole field, and double those "
            "inside it"
        ) from error


def json_object(line: str | bytes, where: str) -> dict[str, Any]:
    """Return the JSON object of a line; BadDataError if it is none."""
    try:
        found = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadDataError(f"{where}: {_not_json(line, error)}; expected {EXPECTED['jsonl']}") from error
    if isinstance(found, dict):
        return found
    shown = (line if isinstance(line, str) else line.decode()).strip()[:40]
    raise BadDataError(f"{where}: found {shown!r}; expected {EXPECTED['jsonl']}")


def _not_json(line: str | bytes, error: Exception) -> str:
    """Return why a line is not JSON; of half a character alone, msgspec says that the line is cut off."""
    try:
        json.dumps(json.loads(line), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "half of a UTF-16 surrogate pair, such as \\ud800, which is no character"
    except (ValueError, RecursionError):
        return f"not JSON ({error})"
    return f"invalid JSON ({error})"
