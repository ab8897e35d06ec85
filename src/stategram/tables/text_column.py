"""A column of words or other texts, as flat arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from stategram.errors import BadDataError, UsageError


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
