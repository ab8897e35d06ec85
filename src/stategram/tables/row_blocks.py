"""Files of texts in blocks of rows that stay as they are: lines, jsonl, parquet.

A pool of text may be larger than memory, and what is chosen of it is copied byte for byte: rows are not
parsed into columns, only their texts are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, TypeAlias, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from stategram.errors import BadDataError, UsageError
from stategram.progress import Progress, report_bytes
from stategram.tables import frames
from stategram.tables.reading import check_column, json_object
from stategram.tables.writing import format_of_name
from stategram.text import Lines, display_name, read_lines, total_size

PoolFormat = Literal["text", "jsonl", "parquet"]
POOL_FORMATS: tuple[PoolFormat, ...] = get_args(PoolFormat)

_BLOCK_SIZE = 1 << 22
_ROWS_PER_BATCH = 1 << 14
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class PoolFile:
    """A file of texts, one per row; `read` yields its rows.

    Parameters
    ----------
    path
        The file; ``-`` is stdin.
    name
        Its name in messages.
    format
        ``text``, of which each line is a row, or the format of a table.
    column
        The column of a table that has the texts.
    new_column
        A column that will be added, so that the table must not have it yet.

    """

    path: str
    name: str
    format: PoolFormat = "text"
    column: str = "text"
    new_column: str | None = None

    @classmethod
    def of(cls, path: str, format: str | None = None, **options: Any) -> PoolFile:
        """Return a file; its format is the given one, or as its name ends, or else text."""
        found = format or format_of_name(path) or "text"
        if found not in POOL_FORMATS:
            raise UsageError(
                f"{display_name(path)}: {found} is not a format of rows to select from; convert the file to "
                f"one of {', '.join(POOL_FORMATS)}"
            )
        return cls(path, display_name(path), found, **options)

    @property
    def size(self) -> int:
        """The bytes of the file on disk."""
        return total_size([self.path]) or 0

    def read(self, progress: Progress | None = None, *, texts_only: bool = False) -> Iterator[RowBlock]:
        """Yield the rows in blocks of some megabytes; of parquet, the texts alone if `texts_only`."""
        if self.column == self.new_column:
            raise UsageError(f"the column {self.column!r} has the texts; give the scores another name")
        if self.format == "parquet":
            yield from _read_parquet(self, progress, [self.column] if texts_only else None)
            return
        total = total_size([self.path])
        for block, taken in _read_lines(self):
            yield block
            report_bytes(progress, taken, total)


@dataclass(frozen=True, eq=False)
class LineRows:
    """Rows that are lines of a file: of text, or of jsonl."""

    file: PoolFile
    data: bytes
    """The rows as they are in the file; the last one may lack its line end."""
    ends: NDArray[np.int64]
    """Where in the data each row ends."""
    numbers: NDArray[np.int64]
    """Which line of the file each row is."""
    offset: int = 0
    """Where in the file the data begins, if it is all there."""

    def __len__(self) -> int:
        return len(self.ends)

    def rows(self) -> list[bytes]:
        """Return the rows one by one."""
        return [self.data[begin:end] for begin, end in pairwise([0, *self.ends.tolist()])]

    def take(self, chosen: NDArray[np.bool_]) -> LineRows:
        """Return some of the rows."""
        lengths = np.diff(self.ends, prepend=0)
        letters = np.frombuffer(self.data, np.uint8)[np.repeat(chosen, lengths)]
        return replace(
            self,
            data=letters.tobytes(),
            ends=np.cumsum(lengths[chosen]),
            numbers=self.numbers[chosen],
        )

    def texts(self) -> list[bytes]:
        """Return the texts of the rows, empty where there is none."""
        if self.file.format == "text":
            return [row.rstrip(b"\r\n") for row in self.rows()]
        return _json_texts(self)

    def lines(self) -> tuple[Lines, NDArray[np.int64] | None]:
        """Return the lines of all texts, and the row of each line; None: each is a row."""
        if self.file.format == "text":
            first = int(self.numbers[0]) if len(self) else 1
            return Lines(self.file.name, self.data, first, self.offset, 0), None
        texts = self.texts()
        rows = np.repeat(np.arange(len(texts)), [text.count(b"\n") + 1 for text in texts])
        return _table_lines(self.file, b"\n".join(texts)), rows


def _table_lines(file: PoolFile, data: bytes) -> Lines:
    # What is valid in a table, but not in a text.
    return Lines(file.name, data.replace(b"\0", "\ufffd".encode()), 1, 0, 0)


def _read_lines(file: PoolFile) -> Iterator[tuple[RowBlock, int]]:
    for lines in read_lines(file.path, _BLOCK_SIZE):
        ends = np.flatnonzero(np.frombuffer(lines.data, np.uint8) == ord("\n")) + 1
        if not lines.data.endswith(b"\n"):
            ends = np.append(ends, len(lines.data))
        numbers = np.arange(lines.line, lines.line + len(ends))
        yield LineRows(file, lines.data, ends, numbers, lines.offset), lines.taken


def _json_texts(block: LineRows) -> list[bytes]:
    file = block.file
    fields: list[Any] = [("text", str | None)]
    names = {"text": file.column}
    if file.new_column is not None:
        fields.append(("new", msgspec.Raw, msgspec.Raw()))
        names["new"] = file.new_column
    decode = msgspec.json.Decoder(msgspec.defstruct("_Row", fields, rename=names)).decode
    texts = []
    for number, row in zip(block.numbers.tolist(), block.rows(), strict=True):
        line = row.removeprefix(_BOM) if number == 1 else row
        if not line.strip():
            texts.append(b"")
            continue
        try:
            found: Any = decode(line)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise _json_error(file, f"{file.name}:{number}", line) from error
        if file.new_column is not None and found.new:
            raise _taken(file, f"{file.name}:{number}")
        texts.append((found.text or "").encode())
    return texts


def _json_error(file: PoolFile, where: str, line: bytes) -> BadDataError:
    """Return what is wrong with a line: no JSON, no object, no text."""
    found = json_object(line, where)
    check_column(file.column, list(found), where)
    return BadDataError(
        f"{where}: the column {file.column!r} has {found[file.column]!r:.60}, which is not a text; give a "
        "string"
    )


def _taken(file: PoolFile, where: str) -> UsageError:
    return UsageError(f"{where}: there is a column {file.new_column!r} already; give the scores another name")


@dataclass(frozen=True, eq=False)
class ArrowRows:
    """Rows of a parquet file: an Arrow table."""

    file: PoolFile
    table: Any

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def take(self, chosen: NDArray[np.bool_]) -> ArrowRows:
        """Return some of the rows."""
        pyarrow = frames.load("pyarrow", "reading parquet")
        return replace(self, table=self.table.filter(pyarrow.array(chosen)))

    def texts(self) -> list[bytes]:
        """Return the texts of the rows, empty where there is none."""
        return [text.encode() for text in self._column().to_pylist()]

    def lines(self) -> tuple[Lines, NDArray[np.int64] | None]:
        """Return the lines of all texts, and the row of each line."""
        pyarrow = frames.load("pyarrow", "reading parquet")
        compute = frames.load("pyarrow.compute", "reading parquet")
        column = self._column()
        n_lines = compute.count_substring(column, "\n").to_numpy() + 1
        nothing, end = (pyarrow.scalar(text, pyarrow.large_string()) for text in ("", "\n"))
        ended = compute.binary_join_element_wise(column, nothing, end)
        data = b"".join(map(_letters, ended.chunks))
        return _table_lines(self.file, data), np.repeat(np.arange(len(self)), n_lines)

    def _column(self) -> Any:
        """Return the texts as an Arrow column of strings."""
        pyarrow = frames.load("pyarrow", "reading parquet")
        return self.table.column(self.file.column).cast(pyarrow.large_string()).fill_null("")


RowBlock: TypeAlias = LineRows | ArrowRows
"""Consecutive rows of a file, or some of them."""


def _letters(strings: Any) -> bytes:
    """Return the bytes of an Arrow array of large strings, one after the other."""
    _, offsets, data = strings.buffers()
    if data is None:
        return b""
    begins = np.frombuffer(offsets, np.int64)
    begin, end = (int(begins[strings.offset + at]) for at in (0, len(strings)))
    return bytes(memoryview(data)[begin:end])


def _read_parquet(file: PoolFile, progress: Progress | None, columns: list[str] | None) -> Iterator[RowBlock]:
    pyarrow = frames.load("pyarrow", "reading parquet")
    parquet = frames.load("pyarrow.parquet", "reading parquet")
    try:
        with parquet.ParquetFile(file.path) as opened:
            schema = opened.schema_arrow
            check_column(file.column, schema.names, file.name)
            if file.new_column in schema.names:
                raise _taken(file, file.name)
            kind = schema.field(file.column).type
            kind = kind.value_type if pyarrow.types.is_dictionary(kind) else kind
            if not (pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)):
                raise BadDataError(
                    f"{file.name}: the column {file.column!r} is of type {kind}; name one of strings"
                )
            yield ArrowRows(file, schema.empty_table())
            n_rows, done = opened.metadata.num_rows, 0
            for batch in opened.iter_batches(_ROWS_PER_BATCH, columns=columns):
                yield ArrowRows(file, pyarrow.Table.from_batches([batch], None if columns else schema))
                done += batch.num_rows
                if progress is not None:
                    progress(done / n_rows, f"{done:,} rows")
    except FileNotFoundError as error:
        raise BadDataError(f"{file.name}: no such file; check the name") from error
    except (pyarrow.ArrowException, OSError) as error:
        raise BadDataError(
            f"{file.name}: not a parquet file, or damaged ({error}); write it again"
        ) from error
