"""Named columns of equal length: of numbers, of truth values, and of words or other texts as flat arrays."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stategram.display import Cell, Column, DisplayTable, escaped, table_html, table_text
from stategram.errors import BadDataError, UsageError
from stategram.storage import Place
from stategram.text import load_library

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


_MAX_ROWS = 20
_LONGEST = 60


class Table:
    r"""Named columns of equal length: numbers, truth values and texts.

    Parameters
    ----------
    columns
        Each an array of integers, floats or truth values, a masked array if some of them are missing, a
        `TextColumn`, or a list of strings.
    exact
        Columns of floats that are written with all their digits; others have six after the point.

    Notes
    -----
    A table goes where tables are used: `to_pandas`, `to_polars` and `to_arrow` convert it, anything that
    takes Arrow data takes it as it is, a notebook shows it, and `write` makes a file of it.

    Examples
    --------
    >>> table = Table({"word": ["the", "cat"], "surprisal": np.array([1.5, 8.25])})
    >>> len(table), table.columns, table["surprisal"].sum()
    (2, ('word', 'surprisal'), np.float64(9.75))
    >>> table
    word  surprisal
    the         1.5
    cat        8.25
    >>> import io
    >>> file = io.BytesIO()
    >>> table.write(file, format="csv")
    >>> file.getvalue()
    b'word,surprisal\nthe,1.500000\ncat,8.250000\n'

    """

    def __init__(
        self,
        columns: Mapping[str, ArrayLike | Iterable[str | None] | TextColumn],
        *,
        exact: Collection[str] = (),
    ) -> None:
        self.exact = frozenset(exact)
        self._columns = {name: _column(name, values) for name, values in columns.items()}
        lengths = {name: len(column) for name, column in self._columns.items()}
        if not lengths:
            raise UsageError("a table needs at least one column")
        if len(set(lengths.values())) > 1:
            found = ", ".join(f"{name} {length}" for name, length in lengths.items())
            raise UsageError(f"the columns of a table must have the same length; found {found}")

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._columns)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(next(iter(self._columns.values())))

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __getitem__(self, name: str) -> Any:
        """Return a column: an array, masked if something is missing, or a `TextColumn`."""
        try:
            return self._columns[name]
        except KeyError:
            raise KeyError(f"no column {name!r}; there are {', '.join(self._columns)}") from None

    def __repr__(self) -> str:
        return _as_text(self)

    def _repr_html_(self) -> str:
        return _as_html(self)

    def head(self, n: int = 5) -> Table:
        """Return the first rows."""
        return Table({name: column[:n] for name, column in self._columns.items()}, exact=self.exact)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame of pandas; missing integers are those of its nullable types."""
        pd = load_library("pandas", "to_pandas")

        def column(values: NDArray[Any] | TextColumn) -> Any:
            mask = missing_of(values)
            if isinstance(values, TextColumn) or mask is None:
                return np.asarray(values)
            plain = np.ma.getdata(values)
            if plain.dtype.kind == "f":
                return np.where(mask, np.nan, plain)
            kind = pd.arrays.BooleanArray if plain.dtype.kind == "b" else pd.arrays.IntegerArray
            return kind(plain, mask)

        return pd.DataFrame({name: column(self[name]) for name in self})

    def to_polars(self) -> polars.DataFrame:
        """Return a data frame of polars."""
        pl = load_library("polars", "to_polars")

        def column(name: str, values: NDArray[Any] | TextColumn) -> Any:
            if isinstance(values, TextColumn):
                series = pl.Series(name, values.distinct(), pl.String).gather(values.ids)
            else:
                series = pl.Series(name, np.ascontiguousarray(np.ma.getdata(values)))
            if (mask := missing_of(values)) is None:
                return series
            return pl.select(pl.when(pl.Series(~mask)).then(series).alias(name)).to_series()

        frame: polars.DataFrame = pl.DataFrame([column(name, self[name]) for name in self])
        return frame

    def to_arrow(self) -> pyarrow.Table:
        """Return a table of Arrow; needs pyarrow: ``pip install "stategram[arrow]"``."""
        pa = load_library("pyarrow", "to_arrow")

        def column(values: NDArray[Any] | TextColumn) -> Any:
            mask = missing_of(values)
            if not isinstance(values, TextColumn):
                return pa.array(np.ma.getdata(values), mask=mask)
            buffers = [None, pa.py_buffer(np.ascontiguousarray(values.offsets)), pa.py_buffer(values.letters)]
            distinct = pa.Array.from_buffers(pa.large_string(), len(values.offsets) - 1, buffers)
            return distinct.take(pa.array(values.ids, mask=mask))

        return pa.table({name: column(self[name]) for name in self})

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the Arrow stream by which libraries exchange tables; needs pyarrow as `to_arrow` does."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def write(self, place: Place, format: str | None = None) -> None:
        """Write the table to a file that appears only when it is complete.

        Parameters
        ----------
        place
            A path, ``-`` for standard output, or a binary stream; one named ``.gz``, ``.xz``, ``.bz2`` or
            ``.zst`` is packed.
        format
            ``tsv``, ``csv``, ``jsonl`` or ``parquet``; by default as the name ends, else ``tsv``. See
            docs/tables.md for how words are written.

        """
        from stategram.tables.writing import TableWriter

        with TableWriter(place, format) as writer:
            writer.write(self)


def _column(name: str, values: Any) -> NDArray[Any] | TextColumn:
    if not isinstance(name, str):
        raise UsageError(f"the name of a column is {name!r}; give a string")
    if isinstance(values, TextColumn):
        return values
    if not isinstance(values, np.ndarray):
        values = list(values)
        if any(isinstance(value, str) for value in values):
            return TextColumn.from_strings(values)
        values = np.asarray(values)
    if values.ndim != 1:
        raise UsageError(f"the column {name!r} has {values.ndim} dimensions; give one")
    if values.dtype.kind in "UO":
        return TextColumn.from_strings(values.tolist())
    if values.dtype.kind not in "biuf":
        raise UsageError(
            f"the column {name!r} has values of type {values.dtype}; give integers, floats, truth values or "
            "strings"
        )
    array: NDArray[Any] = values
    return array


def _as_text(shown: Table) -> str:
    """Return the first rows with aligned columns."""
    rows = _first_rows(shown)
    columns = tuple(replace(column, title=escaped(column.title)) for column in rows.columns)
    cells = tuple(tuple(Cell(escaped(cell.text)) for cell in row) for row in rows.rows)
    return table_text(replace(rows, columns=columns, rows=cells))


def _as_html(shown: Table) -> str:
    """Return the first rows as an HTML table."""
    return table_html(_first_rows(shown))


def _first_rows(shown: Table) -> DisplayTable:
    rows = zip(*(map(_cell, shown[name][:_MAX_ROWS].tolist()) for name in shown), strict=True)
    columns = (
        Column(_shorten(name), "" if isinstance(shown[name], TextColumn) else "number") for name in shown
    )
    notes = (f"… {len(shown):,} rows",) if len(shown) > _MAX_ROWS else ()
    return DisplayTable("", tuple(columns), tuple(rows), notes)


def _cell(value: object) -> Cell:
    if isinstance(value, float):
        return Cell(f"{value:.6g}")
    return Cell("" if value is None else _shorten(str(value)))


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


class TextColumn:
    """A column of texts: bytes one after the other, in which each row has a place.

    Parameters
    ----------
    letters
        Texts in UTF-8, one after the other, as a `Vocabulary` has them.
    offsets
        Text ``i`` is ``letters[offsets[i] : offsets[i + 1]]``.
    ids
        The text of each row; by default row ``i`` has text ``i``.
    missing
        Which rows have no text; by default none.
    verbatim
        How the column is written as tsv and csv. Words get a backslash where a reader would take them for
        missing values or numbers; columns of the user's own are carried through verbatim, so that they are
        read as in the file that they came from.

    Examples
    --------
    >>> column = TextColumn.from_strings(["the", "cat", None])
    >>> len(column), column[1], column.tolist()
    (3, 'cat', ['the', 'cat', None])

    """

    def __init__(
        self,
        letters: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        ids: NDArray[np.uint32] | None = None,
        *,
        missing: NDArray[np.bool_] | None = None,
        verbatim: bool = False,
    ) -> None:
        self.letters = letters
        self.offsets = offsets
        self.ids = np.arange(len(offsets) - 1, dtype=np.uint32) if ids is None else ids
        self.missing = missing if missing is not None and missing.any() else None
        self.verbatim = verbatim

    @classmethod
    def from_strings(cls, texts: Iterable[str | None], *, verbatim: bool = False) -> TextColumn:
        """Return a column of strings, None where there is none."""
        texts = list(texts)
        bad = next((text for text in texts if not (text is None or isinstance(text, str))), None)
        if bad is not None:
            raise UsageError(f"a column of texts has {bad!r}, which is not a string; convert it")
        try:
            encoded = [b"" if text is None else text.encode() for text in texts]
        except UnicodeEncodeError as error:
            raise BadDataError(
                f"the text {error.object!r} cannot be written as UTF-8: it has a lone surrogate; remove it"
            ) from error
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
        missing = np.fromiter((text is None for text in texts), np.bool_, len(texts))
        letters = np.frombuffer(b"".join(encoded), np.uint8)
        return cls(letters, offsets, missing=missing, verbatim=verbatim)

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, row: int) -> str | None: ...
    @overload
    def __getitem__(self, row: slice | NDArray[Any]) -> TextColumn: ...

    def __getitem__(self, row: int | slice | NDArray[Any]) -> str | TextColumn | None:
        """Return the text of a row, or the column of some rows."""
        if isinstance(row, slice | np.ndarray):
            missing = None if self.missing is None else self.missing[row]
            return TextColumn(
                self.letters, self.offsets, self.ids[row], missing=missing, verbatim=self.verbatim
            )
        if self.missing is not None and self.missing[row]:
            return None
        id = self.ids[row]
        return self.letters[self.offsets[id] : self.offsets[id + 1]].tobytes().decode()

    def __iter__(self) -> Iterator[str | None]:
        return iter(self.tolist())

    def __repr__(self) -> str:
        return f"TextColumn({len(self)} rows)"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return an array of strings."""
        texts: NDArray[Any] = np.array(self.distinct(), object)[self.ids]
        if self.missing is not None:
            texts[self.missing] = None
        return texts if dtype is None else texts.astype(dtype)

    def tolist(self) -> list[str | None]:
        """Return the texts of all rows, None where there is none."""
        texts: list[str | None] = np.asarray(self).tolist()
        return texts

    def distinct(self) -> list[str]:
        """Return the texts that `ids` are the numbers of."""
        letters = self.letters.tobytes()
        return [letters[a:b].decode() for a, b in pairwise(self.offsets.tolist())]


def missing_of(values: NDArray[Any] | TextColumn) -> NDArray[np.bool_] | None:
    """Return which rows of a column are missing; None if none is."""
    if isinstance(values, TextColumn):
        return values.missing
    if not isinstance(values, np.ma.MaskedArray) or not np.ma.is_masked(values):
        return None
    mask: NDArray[np.bool_] = np.ma.getmaskarray(values)
    return mask
