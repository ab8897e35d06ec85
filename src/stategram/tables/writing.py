"""Tables as files: tsv, csv, jsonl, parquet; whole, or block by block."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, get_args

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.errors import UsageError
from stategram.resources import Resources
from stategram.storage import Place, atomic_open, uncompressed_name
from stategram.storage.compression import Writer
from stategram.tables.table import TextColumn, missing_of
from stategram.text import TableFormat, format_of_name, load_library

if TYPE_CHECKING:
    from stategram.tables.table import Table

TABLE_FORMATS: tuple[TableFormat, ...] = get_args(TableFormat)

_ROWS_A_GROUP = 1 << 18
# How the kernel is told that a column of texts is at the start of a file, or is written as it is.
_AT_START, _VERBATIM, _NUMBERS = -1, -2, -3


def choose_format(place: Place, format: str | None, default: str) -> str:
    """Return the format of an output that is a table or something else; raises errors as `table_format`.

    >>> choose_format("counts.csv", None, "srilm"), choose_format("counts.gz", None, "srilm")
    ('csv', 'srilm')
    """
    name = os.fspath(place) if isinstance(place, str | os.PathLike) else ""
    found = format or format_of_name(name) or default
    return table_format(place, found) if found in TABLE_FORMATS else found


def table_format(place: Place, format: str | None = None) -> TableFormat:
    """Return the format of an output: the given one, else that of its name, else ``tsv``.

    Raises an error for what could not be written, before any work is done.

    >>> table_format("words.csv.gz"), table_format("words.txt"), table_format("words.txt", "jsonl")
    ('csv', 'tsv', 'jsonl')
    """
    name = os.fspath(place) if isinstance(place, str | os.PathLike) else ""
    found = format or format_of_name(name) or "tsv"
    if found not in TABLE_FORMATS:
        raise UsageError(f"there is no table format {found!r}; choose one of {', '.join(TABLE_FORMATS)}")
    if found == "parquet":
        load_library("pyarrow", "the format parquet")
        if uncompressed_name(name) != name:
            raise UsageError(f"{name}: parquet is compressed by itself; name the file .parquet")
        if name == "-" and sys.stdout and sys.stdout.isatty():
            raise UsageError("parquet is not for a terminal; name an output file")
    return found


class FileWriter:
    """What writes rows to a file that appears at the end of a ``with`` block; not after an exception."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._stack = ExitStack()
        self._file: Writer | None = None
        self._parquet: ParquetRows | None = None

    def __enter__(self) -> Self:
        self._file = self._stack.enter_context(atomic_open(self._place))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._stack:
            if self._parquet is not None:
                self._parquet.close(complete=kind is None)
            if error is not None:
                raise error


class TableWriter(FileWriter):
    r"""Write tables with the same columns one after the other, as one table.

    Used in a ``with`` block: a file appears at its end, and does not if the block is left by an exception.
    Standard output and streams get each table at once.

    Parameters
    ----------
    place, format
        As in `Table.write`.

    Examples
    --------
    >>> import io
    >>> from stategram.tables import Table
    >>> file = io.BytesIO()
    >>> with TableWriter(file, "tsv") as writer:
    ...     writer.write(Table({"word": ["the", "NA"], "count": np.array([9, 1])}))
    ...     writer.write(Table({"word": ["cat"], "count": np.array([2])}))
    >>> file.getvalue()
    b'word\tcount\nthe\t9\n\\NA\t1\ncat\t2\n'

    """

    def __init__(self, place: Place, format: str | None = None) -> None:
        super().__init__(place)
        self._format = table_format(place, format)
        self._names: tuple[str, ...] | None = None
        self._rows_since_text: NDArray[np.int64] | None = None

    def write(self, table: Table) -> None:
        """Write the rows of a table; it must have the columns of those before it."""
        if self._file is None:
            raise UsageError("a TableWriter is used in a with block: with TableWriter(...) as writer")
        if self._names is None:
            self._names = table.columns
            if self._format == "parquet":
                self._parquet = ParquetRows(self._file)
            elif self._format != "jsonl":
                self._file.write(_header_line(self._format, self._names))
        elif table.columns != self._names:
            raise UsageError(
                f"the table has the columns {', '.join(table.columns)}; those before it had "
                f"{', '.join(self._names)}"
            )
        if self._parquet is not None:
            self._parquet.write(table.to_arrow())
        else:
            self._file.write(self._lines(table))
        place = self._place
        if not isinstance(place, str | os.PathLike) or os.fspath(place) == "-" or Path(place).is_fifo():
            self.flush()

    def flush(self) -> None:
        """Hand what was written to the output, such as a pipe that another program reads."""
        flush = getattr(self._file, "flush", None)
        if flush:
            flush()

    def _lines(self, table: Table) -> bytes:
        columns = {name: table[name] for name in table}
        exact = {name for name in table.exact if np.ma.asarray(columns[name]).dtype.kind == "f"}
        columns |= {name: _exact_text(columns[name], self._format) for name in exact}
        if self._rows_since_text is None:
            texts = [(name, column) for name, column in columns.items() if isinstance(column, TextColumn)]
            self._rows_since_text = np.array(
                [
                    _NUMBERS if name in exact else _VERBATIM if column.verbatim else _AT_START
                    for name, column in texts
                ],
                np.int64,
            )
        return _lines(self._format, columns, self._rows_since_text)


def _header_line(format: TableFormat, names: tuple[str, ...]) -> bytes:
    columns = {name: TextColumn.from_strings([name], verbatim=True) for name in names}
    return _lines(format, columns, np.full(len(names), _VERBATIM, np.int64))


def _exact_text(values: NDArray[Any], format: TableFormat) -> TextColumn:
    """Return floats as text, in the fewest digits from which the same floats are read."""
    plain = np.ma.getdata(values).astype(np.float64)
    distinct, ids = np.unique(plain, return_inverse=True)
    texts = TextColumn.from_strings(
        "NaN" if math.isnan(value) else repr(value) for value in distinct.tolist()
    )
    missing = np.ma.getmaskarray(values)
    if format == "jsonl":  # which has neither infinite numbers nor NaN
        missing = missing | ~np.isfinite(plain)
    return TextColumn(texts.letters, texts.offsets, ids.astype(np.uint32), missing=missing, verbatim=True)


def _lines(
    format: TableFormat, columns: Mapping[str, NDArray[Any] | TextColumn], rows_since_text: NDArray[np.int64]
) -> bytes:
    kinds = ""
    arrays: dict[str, list[NDArray[Any]]] = {kind: [] for kind in "ifb"}
    texts: list[TextColumn] = []
    missing: list[NDArray[np.uint8]] = []
    for name, column in columns.items():
        mask = missing_of(column)
        missing.append(np.zeros(0, np.uint8) if mask is None else mask.astype(np.uint8))
        if isinstance(column, TextColumn):
            texts.append(column)
            kinds += "t"
        else:
            kind, values = _numbers(name, np.ma.getdata(column))
            arrays[kind].append(values)
            kinds += kind
    return _core.table_lines(
        format,
        kinds,
        list(columns),
        len(next(iter(columns.values()))),
        arrays["i"],
        arrays["f"],
        arrays["b"],
        [np.ascontiguousarray(column.ids, np.uint32) for column in texts],
        [np.ascontiguousarray(column.letters, np.uint8) for column in texts],
        [np.ascontiguousarray(column.offsets, np.int64) for column in texts],
        missing,
        rows_since_text,
        Resources.current().threads,
    )


def _numbers(name: str, values: NDArray[Any]) -> tuple[str, NDArray[Any]]:
    """Return the kind of a column for the kernel, and its values in the type of that kind."""
    if values.dtype.kind == "f":
        return "f", np.ascontiguousarray(values, np.float64)
    if values.dtype.kind == "b":
        return "b", np.ascontiguousarray(values).view(np.uint8)
    if values.dtype == np.uint64 and len(values) and int(values.max()) > np.iinfo(np.int64).max:
        raise UsageError(f"the column {name!r} has integers above 2^63 - 1; give them as floats")
    return "i", np.ascontiguousarray(values, np.int64)


class ParquetRows:
    """Arrow tables as the rows of a parquet file, in groups that are worth their overhead."""

    def __init__(self, file: Writer) -> None:
        self._sink = _Sink(file)
        self._writer: Any = None
        self._waiting: list[Any] = []

    def write(self, table: Any) -> None:
        """Write the rows of an Arrow table; it must have the schema of those before it."""
        self._waiting.append(table)
        if self._writer is None:
            parquet = load_library("pyarrow.parquet", "the format parquet")
            self._writer = parquet.ParquetWriter(self._sink, self._waiting[0].schema)
        if sum(map(len, self._waiting)) >= _ROWS_A_GROUP:
            self._write_group()

    def close(self, *, complete: bool) -> None:
        """End the file; if it is not complete, without writing to it."""
        if not complete:
            self._sink.file = None
        elif self._waiting:
            self._write_group()
        if self._writer is not None:
            self._writer.close()

    def _write_group(self) -> None:
        rows = load_library("pyarrow", "the format parquet").concat_tables(self._waiting)
        self._writer.write_table(rows, row_group_size=_ROWS_A_GROUP)
        self._waiting.clear()


class _Sink:
    """An output that knows how far it is, as pyarrow asks, even if it is a pipe."""

    closed = False

    def __init__(self, file: Writer) -> None:
        self.file: Writer | None = file
        self._position = 0

    def write(self, data: bytes) -> int:
        if self.file is not None:
            self.file.write(bytes(data))
        self._position += len(data)
        return len(data)

    def tell(self) -> int:
        return self._position

    def flush(self) -> None:
        """Do nothing: the file is flushed by who opened it."""

    def close(self) -> None:
        """Do nothing: the file is closed by who opened it."""
