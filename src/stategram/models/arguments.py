"""Models as arguments of functions: what is none is refused, with what to do."""

from __future__ import annotations

import os

from stategram.models.model import Model


def require_model(model: object, kind: type[Model] = Model) -> None:
    """Refuse what is no model, or one of another kind."""
    if isinstance(model, str | os.PathLike):
        raise TypeError(f"found {model!r}; expected a model: open_model({str(model)!r}) opens it")
    if not isinstance(model, kind):
        expected = "a model" if kind is Model else f"a {kind.__name__}"
        raise TypeError(f"found {model!r:.60}; expected {expected}")
