"""Named columns of equal length."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stategram.errors import UsageError
from stategram.storage import Place
from stategram.tables import frames
from stategram.tables.shown import as_html, as_text
from stategram.tables.text_column import TextColumn
from stategram.tables.writing import TableWriter

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


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
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)

    def head(self, n: int = 5) -> Table:
        """Return the first rows."""
        return Table({name: column[:n] for name, column in self._columns.items()}, exact=self.exact)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame of pandas; missing integers are those of its nullable types."""
        return frames.to_pandas(self)

    def to_polars(self) -> polars.DataFrame:
        """Return a data frame of polars."""
        return frames.to_polars(self)

    def to_arrow(self) -> pyarrow.Table:
        """Return a table of Arrow; needs pyarrow: ``pip install "stategram[arrow]"``."""
        return frames.to_arrow(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the Arrow stream by which libraries exchange tables; needs pyarrow as `to_arrow` does."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def write(self, place: Place, format: str | None = None, *, header: bool = True) -> None:
        """Write the table to a file that appears only when it is complete.

        Parameters
        ----------
        place
            A path, ``-`` for standard output, or a binary stream; one named ``.gz``, ``.xz``, ``.bz2`` or
            ``.zst`` is packed.
        format
            ``tsv``, ``csv``, ``jsonl`` or ``parquet``; by default as the name ends, else ``tsv``. See
            docs/tables.md for how words are written.
        header
            Whether tsv and csv begin with the names of the columns.

        """
        with TableWriter(place, format, header=header) as writer:
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
