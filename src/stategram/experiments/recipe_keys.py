"""The keys of a recipe file: the fields of a part, with what they are for and what is possible.

A field says so in its `Meta`: constraints, a description, and, where the constraints do not say it well, the
possible values in words: ``extra={"possible": ...}``. Errors, docs/recipes.md and options follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, get_args

import msgspec
from msgspec import Meta, inspect

from stategram.errors import BadDataError

_LONGEST_SHOWN = 60
_NO_LIMIT = 1_000_000


class RecipeKey(NamedTuple):
    """A key: its type, default, purpose, and possible values in words."""

    name: str
    type: Any
    default: Any
    meaning: str
    possible: str

    def convert(self, value: object, where: str) -> Any:
        """Return a value of a file, if it is possible; BadDataError else."""
        try:
            return msgspec.convert(value, self.type)
        except msgspec.ValidationError as error:
            raise BadDataError(f"{where}{self.name} is {shown(value)}; possible: {self.possible}") from error


def choice(names: Iterable[str]) -> Meta:
    """Return the constraint on a string that it is one of some names."""
    names = list(names)
    return Meta(pattern=rf"\A({'|'.join(names)})\Z", extra={"possible": ", ".join(names)})


def keys_of(kind: type[msgspec.Struct]) -> dict[str, RecipeKey]:
    """Return the keys of a struct by name; a field that is a struct itself is none.

    >>> from typing import Annotated
    >>> order = Annotated[int, Meta(ge=1, le=9, description="length")]
    >>> keys_of(msgspec.defstruct("Part", [("order", order, 5)]))["order"][2:]
    (5, 'length', '1 to 9')
    """
    return {field.name: _key(field) for field in msgspec.structs.fields(kind) if not _is_struct(field.type)}


def check_keys(where: str, data: Mapping[str, object], possible: Iterable[str]) -> None:
    """Refuse keys that are not possible."""
    possible = tuple(possible)
    for key in data:
        if key not in possible:
            raise BadDataError(f"{where}no key {key!r} is possible; there are {', '.join(possible)}")


def shown(value: object) -> str:
    """Return a value as an error shows it."""
    text = repr(value) if not isinstance(value, bool) else str(value).lower()
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "..."


def _is_struct(kind: object) -> bool:
    return any(isinstance(one, type) and issubclass(one, msgspec.Struct) for one in (kind, *get_args(kind)))


def _key(field: msgspec.structs.FieldInfo) -> RecipeKey:
    metadata = [one for one in getattr(field.type, "__metadata__", ()) if isinstance(one, Meta)]
    meaning = next((one.description for one in reversed(metadata) if one.description), "")
    names = [name for kind in get_args(field.type) for name in get_args(kind) if isinstance(name, str)]
    possible = ", ".join(names) or possible_values(inspect.type_info(field.type))
    return RecipeKey(field.name, field.type, field.default, meaning, possible)


def possible_values(info: inspect.Type) -> str:
    """Return the possible values of a type in words."""
    if isinstance(info, inspect.Metadata):
        said = (info.extra or {}).get("possible")
        return said if isinstance(said, str) else possible_values(info.type)
    if isinstance(info, inspect.UnionType):
        others = [one for one in info.types if not isinstance(one, inspect.NoneType)]
        return " or ".join(map(possible_values, others))
    if isinstance(info, inspect.BoolType):
        return "true or false"
    if isinstance(info, inspect.IntType | inspect.FloatType):
        least = info.ge if info.ge is not None else info.gt
        most = info.le if info.le is not None else info.lt
        if most is None or most >= _NO_LIMIT:
            return f"a number of at least {least:g}"
        return f"{least:g} to {most:g}"
    raise TypeError(f"say what is possible for {info}: extra={{'possible': ...}}")
