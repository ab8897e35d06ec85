"""Models as arguments of functions: what is none is refused, with what to do."""

from __future__ import annotations

import os
from typing import Any, TypeVar, cast

from stategram.errors import WrongTypeError
from stategram.models.model import Model

M = TypeVar("M", bound=Model)


def require_model(model: object, kind: type[Model] = Model) -> None:
    """Refuse what is no model, or one of another kind."""
    if isinstance(model, str | os.PathLike):
        raise WrongTypeError(f"found {model!r}; expected a model: open_model({str(model)!r}) opens it")
    if not isinstance(model, kind):
        expected = "a model" if kind is Model else f"a {kind.__name__}"
        raise WrongTypeError(f"found {model!r:.60}; expected {expected}")


def place_and_model(place: object, model: object, kind: type[M]) -> tuple[Any, M]:
    """Return both, in whatever order they were given; refuse anything but a model of a kind."""
    if isinstance(place, Model):
        place, model = model, place
    elif isinstance(place, str) and isinstance(model, str):
        raise WrongTypeError(
            f"found {place!r:.40} and {model!r:.40}; expected a model and where to write it: open_model "
            "opens a model"
        )
    require_model(model, kind)
    return place, cast("M", model)
