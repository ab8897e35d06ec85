"""Rows of files, written as they were read, with a new column of numbers if need be."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from stategram.errors import BadDataError
from stategram.storage import Place
from stategram.storage.files import Writer
from stategram.tables import frames
from stategram.tables.row_blocks import ArrowRows, LineRows, RowBlock
from stategram.tables.writing import FileWriter, ParquetRows


class RowWriter(FileWriter):
    """Write blocks of rows, of one or several files of the same kind, to one file.

    Used in a ``with`` block: the file appears at its end, and does not if the block is left by an exception.

    Parameters
    ----------
    place
        A path, ``-`` for stdout, or a binary stream.

    """

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._schema: Any = None

    def write(self, block: RowBlock, numbers: NDArray[np.float32] | None = None) -> None:
        """Write rows, with a number each in the new column of their file; nan where it is missing."""
        assert self._file is not None
        if isinstance(block, ArrowRows):
            self._write_arrow(self._file, block, numbers)
        else:
            self._file.write(_ended(block.data) if numbers is None else _numbered(block, numbers))

    def _write_arrow(self, file: Writer, block: ArrowRows, numbers: NDArray[np.float32] | None) -> None:
        table = block.table
        if numbers is not None:
            pyarrow = frames.load("pyarrow", "writing parquet")
            column = pyarrow.array(numbers.astype(np.float64), mask=np.isnan(numbers))
            table = table.append_column(block.file.new_column, column)
        if self._parquet is None:
            self._parquet = ParquetRows(file)
            self._schema = table.schema
        elif not table.schema.equals(self._schema):
            raise BadDataError(
                f"{block.file.name}: its columns are not those of the files before it; give files with the "
                "same columns, or run the command for each"
            )
        elif not len(block):
            return
        self._parquet.write(table)


def _ended(lines: bytes) -> bytes:
    return lines + b"\n" if lines and not lines.endswith(b"\n") else lines


def _numbered(block: LineRows, numbers: NDArray[np.float32]) -> bytes:
    """Return rows with a number each: before a line of text, after the other fields of jsonl."""
    rows = map(_split_end, block.rows())
    if block.file.format == "jsonl":
        # JSON has no infinite numbers either.
        begin = b", " + msgspec.json.encode(block.file.new_column) + b": "
        shown = [begin + (_digits(number) if np.isfinite(number) else b"null") + b"}" for number in numbers]
        return b"".join(
            line.rstrip()[:-1].rstrip() + number + end
            for (line, end), number in zip(rows, shown, strict=True)
            if line.strip()
        )
    shown = [b"" if np.isnan(number) else _digits(number) for number in numbers]
    return b"".join(b"%b\t%b%b" % (number, *row) for row, number in zip(rows, shown, strict=True))


def _digits(number: np.float32) -> bytes:
    """Return the fewest digits from which the same number is read."""
    return str(number).encode()


def _split_end(row: bytes) -> tuple[bytes, bytes]:
    r"""Return a row without its line end, and that; a last row without one gets one.

    >>> _split_end(b"a\r\n"), _split_end(b"a")
    ((b'a', b'\r\n'), (b'a', b'\n'))
    """
    end = b"\r\n" if row.endswith(b"\r\n") else b"\n"
    return row.removesuffix(end), end
