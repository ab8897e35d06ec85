"""What the explorer can be asked: a request has the keyword parameters of the function that answers it."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Annotated, Any, NamedTuple, TypeAlias, get_type_hints

import msgspec
from msgspec import Meta

MAX_WORDS = 20_000
"""The words of a text that is scored in one request."""
MAX_CHARACTERS = 400_000
MAX_BODY = 2_000_000
"""The bytes of a request."""

Answer: TypeAlias = dict[str, Any]
"""What JSON can hold."""
Text = Annotated[str, Meta(max_length=MAX_CHARACTERS)]
"""One sentence per line."""
Line = Annotated[str, Meta(max_length=20_000)]
Word = Annotated[str, Meta(max_length=1000)]
Words = Annotated[tuple[Word, ...], Meta(max_length=50)]
ModelNumber = Annotated[int, Meta(ge=0, le=1)]
"""0, or 1 for the second model."""
Top = Annotated[int, Meta(ge=1, le=1000)]
Number = Annotated[int, Meta(ge=0)]
Source = Annotated[str, Meta(max_length=100)]
"""A source of classes or states, as in the answer to `info`."""


class Endpoint(NamedTuple):
    """What is asked, and what answers."""

    request: type[msgspec.Struct]
    function: Callable[..., Answer]


def endpoint(function: Callable[..., Answer]) -> Endpoint:
    """Return a function with the type of its requests: its keyword parameters and a model."""
    types = get_type_hints(function, include_extras=True)
    fields: list[Any] = [
        (one.name, types[one.name], *(() if one.default is one.empty else (one.default,)))
        for one in signature(function).parameters.values()
        if one.kind is Parameter.KEYWORD_ONLY
    ]
    request = msgspec.defstruct(
        function.__name__,
        [*fields, ("model", ModelNumber, 0)],
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=True,
    )
    return Endpoint(request, function)
