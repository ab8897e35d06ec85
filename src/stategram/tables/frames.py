"""Tables as those of pandas, polars and Arrow, none of which stategram needs otherwise."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stategram.errors import StategramError
from stategram.tables.table import TextColumn, missing_of

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from stategram.tables.table import Table

_INSTALL = {"pyarrow": '"stategram[arrow]"', "pandas": "pandas", "polars": "polars"}


def load(library: str, use: str) -> Any:
    """Import a library, or raise an error that says how to install it."""
    try:
        return import_module(library)
    except ImportError as error:
        root = library.partition(".")[0]
        raise StategramError(f"{use} needs {root}, not installed: pip install {_INSTALL[root]}") from error


def to_pandas(table: Table) -> pandas.DataFrame:
    """Return the columns as a data frame."""
    pd = load("pandas", "to_pandas")

    def column(values: NDArray[Any] | TextColumn) -> Any:
        mask = missing_of(values)
        if isinstance(values, TextColumn) or mask is None:
            return np.asarray(values)
        plain = np.ma.getdata(values)
        if plain.dtype.kind == "f":
            return np.where(mask, np.nan, plain)
        kind = pd.arrays.BooleanArray if plain.dtype.kind == "b" else pd.arrays.IntegerArray
        return kind(plain, mask)

    return pd.DataFrame({name: column(table[name]) for name in table})


def to_polars(table: Table) -> polars.DataFrame:
    """Return the columns as a data frame."""
    pl = load("polars", "to_polars")

    def column(name: str, values: NDArray[Any] | TextColumn) -> Any:
        if isinstance(values, TextColumn):
            series = pl.Series(name, values.distinct(), pl.String).gather(values.ids)
        else:
            series = pl.Series(name, np.ascontiguousarray(np.ma.getdata(values)))
        if (mask := missing_of(values)) is None:
            return series
        return pl.select(pl.when(pl.Series(~mask)).then(series).alias(name)).to_series()

    frame: polars.DataFrame = pl.DataFrame([column(name, table[name]) for name in table])
    return frame


def to_arrow(table: Table) -> pyarrow.Table:
    """Return the columns as an Arrow table."""
    pa = load("pyarrow", "to_arrow")

    def column(values: NDArray[Any] | TextColumn) -> Any:
        mask = missing_of(values)
        if not isinstance(values, TextColumn):
            return pa.array(np.ma.getdata(values), mask=mask)
        buffers = [None, pa.py_buffer(np.ascontiguousarray(values.offsets)), pa.py_buffer(values.letters)]
        distinct = pa.Array.from_buffers(pa.large_string(), len(values.offsets) - 1, buffers)
        return distinct.take(pa.array(values.ids, mask=mask))

    return pa.table({name: column(table[name]) for name in table})
