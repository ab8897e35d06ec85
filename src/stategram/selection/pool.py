"""A pool of texts that may be larger than memory: rows of files, read in blocks and copied as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Literal, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from stategram.errors import BadDataError, UsageError
from stategram.progress import Progress, report_bytes, subprogress
from stategram.tables import load_library
from stategram.tables.reading import check_column, json_object
from stategram.tables.writing import FileWriter, ParquetRows, format_of_name
from stategram.text import Lines, display_name, read_lines, total_size

PoolFormat = Literal["text", "jsonl", "parquet"]
POOL_FORMATS: tuple[PoolFormat, ...] = get_args(PoolFormat)
SCORE = "score"
"""The column that scores are written to."""

_BLOCK_SIZE = 1 << 22
_ROWS_PER_BATCH = 1 << 14
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Consecutive rows of a file."""

    name: str
    rows: Any
    """As they are: lines without their ``\\n``, or an Arrow table."""
    texts: list[bytes]
    """The text of each row, of one line or several; empty where there is none."""
    line: int = 1
    offset: int = 0

    def lines(self) -> tuple[Lines, NDArray[np.int64]]:
        """Return the lines of all texts, and the row of each line."""
        rows = np.repeat(np.arange(len(self.texts)), [text.count(b"\n") + 1 for text in self.texts])
        return Lines(self.name, b"\n".join(self.texts), self.line, self.offset, 0), rows


@dataclass(frozen=True)
class PoolFile:
    """A file of texts, one per row.

    Parameters
    ----------
    path, name
        The file, ``-`` for stdin, and its name in messages.
    format
        ``text``, of which each line is a row, or the format of a table.
    column
        The column of a table that has the texts.
    scored
        Whether scores will be added, so that a table must not have them yet.

    """

    path: str
    name: str
    format: PoolFormat
    column: str = "text"
    scored: bool = False

    @classmethod
    def of(
        cls, path: str, format: str | None = None, *, column: str = "text", scored: bool = False
    ) -> PoolFile:
        """Return a file; its format is the given one, or as its name ends, or else text."""
        chosen = format or format_of_name(path) or "text"
        if chosen not in POOL_FORMATS:
            raise UsageError(
                f"{display_name(path)}: {chosen} is not a format of rows to select from; convert the file to "
                f"one of {', '.join(POOL_FORMATS)}"
            )
        return cls(path, display_name(path), chosen, column, scored)

    @property
    def size(self) -> int:
        """The bytes of the file on disk."""
        return total_size([self.path]) or 0

    def read(self, progress: Progress | None = None, *, texts_only: bool = False) -> Iterator[RowBlock]:
        """Yield the rows in blocks of some megabytes; of parquet, the texts alone if `texts_only`."""
        if self.format == "parquet":
            yield from self._read_parquet(progress, [self.column] if texts_only else None)
            return
        total = total_size([self.path])
        for lines in read_lines(self.path, _BLOCK_SIZE):
            rows = lines.data.removesuffix(b"\n").split(b"\n")
            texts = rows if self.format == "text" else self._json_texts(rows, lines.line)
            yield RowBlock(self.name, rows, texts, lines.line, lines.offset if texts is rows else 0)
            report_bytes(progress, lines.taken, total)

    def _json_texts(self, rows: list[bytes], first: int) -> list[bytes]:
        fields: list[Any] = [("text", str | None), ("score", msgspec.Raw, msgspec.Raw())]
        names = {"text": self.column, "score": SCORE}
        kind = msgspec.defstruct("_Row", fields[: 1 + self.scored], rename=names)
        decode = msgspec.json.Decoder(kind).decode
        texts = []
        for number, row in enumerate(rows, first):
            line, where = row.removeprefix(_BOM) if number == 1 else row, f"{self.name}:{number}"
            try:
                read: Any = decode(line) if line.strip() else None
            except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
                columns = json_object(line, where)
                check_column(self.column, list(columns), where)
                raise BadDataError(
                    f"{where}: the column {self.column!r} has {columns[self.column]!r:.60}, which is not a "
                    "text; expected a string"
                ) from error
            if self.scored and read is not None and read.score:
                raise _scored_before(where)
            texts.append(b"" if read is None else _plain(read.text))
        return texts

    def _read_parquet(self, progress: Progress | None, columns: list[str] | None) -> Iterator[RowBlock]:
        pyarrow = load_library("pyarrow", "reading parquet")
        parquet = load_library("pyarrow.parquet", "reading parquet")
        try:
            with parquet.ParquetFile(self.path) as opened:
                schema = opened.schema_arrow
                check_column(self.column, schema.names, self.name)
                if self.scored and SCORE in schema.names:
                    raise _scored_before(self.name)
                kind = schema.field(self.column).type
                kind = kind.value_type if pyarrow.types.is_dictionary(kind) else kind
                if not (pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)):
                    raise BadDataError(
                        f"{self.name}: the column {self.column!r} is of type {kind}; name one of strings"
                    )
                yield RowBlock(self.name, schema.empty_table(), [])
                n_rows, done = opened.metadata.num_rows, 0
                for batch in opened.iter_batches(_ROWS_PER_BATCH, columns=columns):
                    table = pyarrow.Table.from_batches([batch], None if columns else schema)
                    yield RowBlock(self.name, table, list(map(_plain, table.column(self.column).to_pylist())))
                    done += batch.num_rows
                    if progress is not None:
                        progress(done / n_rows, f"{done:,} rows")
        except FileNotFoundError as error:
            raise BadDataError(f"{self.name}: no such file; check the name") from error
        except (pyarrow.ArrowException, OSError) as error:
            raise BadDataError(
                f"{self.name}: not a parquet file, or damaged ({error}); write it again"
            ) from error


def _plain(text: str | None) -> bytes:
    """Return a text of a table; a NUL is valid there, but not in a text."""
    return (text or "").replace("\0", "\ufffd").encode()


def _scored_before(where: str) -> UsageError:
    return UsageError(f"{where}: there is a column {SCORE!r} already; rename it, or select without scores")


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
                rows = (_with_prefix(row, score) for row, score in scored)
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


def _with_prefix(row: bytes, score: np.float32) -> bytes:
    return (b"" if np.isnan(score) else _digits(score)) + b"\t" + row


def _with_field(row: bytes, score: np.float32) -> bytes:
    """Return a line of jsonl with one more field; JSON has no infinite numbers."""
    shown = _digits(score) if np.isfinite(score) else b"null"
    return b'%b, "%b": %b}' % (row.rstrip()[:-1].rstrip(), SCORE.encode(), shown)


def _digits(score: np.float32) -> bytes:
    """Return the fewest digits from which the same number is read."""
    return str(score).encode()
