"""What is read from files that anybody may have written: entries of manifests, and arrays.

The entries that a reader needs are the fields of an `Entries`; ``msgspec.convert`` refuses what has another
type with a ValidationError, a ValueError that says where it is. Sizes in a manifest are never relied on: what
is allocated follows from the sizes of arrays, which take up room in a file.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, get_args

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import DTypeLike, NDArray

from stategram.errors import UsageError

Natural = Annotated[int, Meta(ge=0, lt=2**53)]
"""A count: a double holds it exactly."""

Finite = Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
"""A number that is neither infinite nor NaN."""

Positive = Annotated[float, Meta(gt=0, le=sys.float_info.max)]
"""A finite number above 0, such as a perplexity."""

Fraction = Annotated[float, Meta(ge=0, le=1)]
"""A number from 0 to 1, such as a weight."""

Name = Annotated[str, Meta(pattern=r"\A[^\0\t\n\r\ud800-\udfff]*\Z")]
"""A text that fits into a column of a table: without NUL, tabs, line ends and lone surrogates."""


_fields_of = cache(msgspec.structs.fields)


def check_fields(settings: msgspec.Struct) -> None:
    """Raise a UsageError if a field of settings has a value that is not of its type."""
    for field in _fields_of(type(settings)):
        value = getattr(settings, field.name)
        try:
            msgspec.convert(value, field.type)
        except msgspec.ValidationError as error:
            kind, reason = get_args(field.type)[0], str(error)
            choices = [one for of in (kind, *get_args(kind)) for one in get_args(of) if isinstance(one, str)]
            possible = f"possible: {', '.join(choices)}" if choices else reason[:1].lower() + reason[1:]
            raise UsageError(f"{field.name} is {value!r}; {possible}") from error


class Entries(msgspec.Struct, frozen=True, kw_only=True):
    """The entries of a manifest that are used; it may have others."""


def array_of(
    arrays: Mapping[str, NDArray[Any]], name: str, dtype: DTypeLike, *shape: int | None
) -> NDArray[Any]:
    """Return an array; ValueError if it is missing, or not of this type and shape. None is any size.

    >>> array_of({"counts": np.zeros((3, 1), np.uint32)}, "counts", np.uint32, 3)
    Traceback (most recent call last):
    ...
    ValueError: its array counts is uint32 of shape (3, 1), expected uint32 of shape (3)
    """
    array = arrays.get(name)
    if array is None:
        raise ValueError(f"it has no array {name}")
    fits = len(array.shape) == len(shape) and all(
        size in (None, found) for size, found in zip(shape, array.shape, strict=True)
    )
    if not fits or array.dtype != dtype:
        expected = ", ".join("any" if size is None else str(size) for size in shape)
        raise ValueError(
            f"its array {name} is {array.dtype} of shape {array.shape}, expected {np.dtype(dtype)} of "
            f"shape ({expected})"
        )
    return array
