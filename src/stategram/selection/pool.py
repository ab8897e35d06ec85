"""A pool of texts that may be larger than memory: rows of files, read in blocks and copied as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from stategram.errors import BadDataError, UsageError
from stategram.progress import Progress, subprogress
from stategram.tables.writing import FileWriter, ParquetRows
from stategram.text import TEXT_COLUMN, RowBlock, RowFile, display_name, file_size, load_library, row_format

PoolFormat = Literal["text", "jsonl", "parquet"]
POOL_FORMATS: tuple[PoolFormat, ...] = get_args(PoolFormat)
SCORE = "score"
"""The column that scores are written to."""


@dataclass(frozen=True)
class PoolFile(RowFile):
    """A file of a pool."""

    @classmethod
    def of(
        cls, path: str, format: str | None = None, *, column: str = TEXT_COLUMN, scored: bool = False
    ) -> PoolFile:
        """Return a file; its format is the given one, or as its name ends, or else text."""
        chosen = format or row_format(path)
        if chosen not in POOL_FORMATS:
            raise UsageError(
                f"{display_name(path)}: {chosen} is not a format of rows to select from; convert the file to "
                f"one of {', '.join(POOL_FORMATS)}"
            )
        return cls(path, display_name(path), chosen, column, SCORE if scored else None)

    @property
    def size(self) -> int:
        """The bytes of the file on disk."""
        return file_size(self.path) or 0


def each_file(
    files: Sequence[PoolFile], progress: Progress | None
) -> Iterator[tuple[PoolFile, Progress | None]]:
    """Yield each file and the progress of reading it."""
    total, done = sum(file.size for file in files) or 1, 0
    for file in files:
        yield file, subprogress(progress, done / total, (done + file.size) / total)
        done += file.size


def pool_name(files: Sequence[PoolFile]) -> str:
    """Return what messages call a pool."""
    return ", ".join(file.name for file in files[:3]) + (", ..." if len(files) > 3 else "")


def no_words(files: Sequence[PoolFile]) -> BadDataError:
    """Return the error for a pool without words."""
    return BadDataError(f"no words in {pool_name(files)}; expected one text per row")


class PoolWriter(FileWriter):
    """Write rows of one file or several of the same format, in a ``with`` block, to one file."""

    _schema: Any = None

    def write(
        self, block: RowBlock, chosen: NDArray[np.bool_], scores: NDArray[np.float32] | None = None
    ) -> None:
        """Write the chosen rows, with their scores if they are given; nan is missing."""
        assert self._file is not None
        if not isinstance(block.rows, list):
            self._write_table(block, chosen, scores)
            return
        rows: Iterable[bytes] = compress(block.rows, chosen.tolist())
        if scores is not None:
            scored = zip(rows, scores[chosen], strict=True)
            if block.texts is block.rows:
                rows = ((b"" if np.isnan(one) else _digits(one)) + b"\t" + row for row, one in scored)
            else:
                rows = (_with_field(row, score) for row, score in scored if row.strip())
        self._file.write(b"".join(row + b"\n" for row in rows))

    def _write_table(
        self, block: RowBlock, chosen: NDArray[np.bool_], scores: NDArray[np.float32] | None
    ) -> None:
        assert self._file is not None
        pyarrow = load_library("pyarrow", "writing parquet")
        table = block.rows
        if scores is not None:
            table = table.append_column(
                SCORE, pyarrow.array(scores.astype(np.float64), mask=np.isnan(scores))
            )
        if self._parquet is None:
            self._parquet, self._schema = ParquetRows(self._file), table.schema
        if not table.schema.equals(self._schema):
            raise BadDataError(
                f"{block.name}: its columns differ from those of the files before it; select from files with "
                "the same columns, or run the command for each"
            )
        self._parquet.write(table.filter(pyarrow.array(chosen)))


def _with_field(row: bytes, score: np.float32) -> bytes:
    """Return a line of jsonl with one more field; JSON has no infinite numbers."""
    shown = _digits(score) if np.isfinite(score) else b"null"
    return b'%b, "%b": %b}' % (row.rstrip()[:-1].rstrip(), SCORE.encode(), shown)


def _digits(score: np.float32) -> bytes:
    """Return the fewest digits from which the same number is read."""
    return str(score).encode()
