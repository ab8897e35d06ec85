"""The part of a model that is to be written."""

from __future__ import annotations

from typing import TypeVar

import click

from stategram.errors import BadDataError
from stategram.models import Mixture, Model

_M = TypeVar("_M")


def chosen_part(
    model: Model, model_name: str, number: int | None, kinds: tuple[type[_M], ...], what: str
) -> _M:
    """Give the part of a mixture that was asked for, or its only one of these kinds; a model may be alone.

    `what` is what such a model has, for messages.
    """
    parts = model.parts if isinstance(model, Mixture) else (model,)
    fitting = {i: one for i, one in enumerate(parts, 1) if isinstance(one, kinds)}
    if not fitting:
        raise BadDataError(f"{model_name}: {model!r}; it has no {what}: train with --recipe or --context")
    listed = "; ".join(f"{i}: {one!r}" for i, one in fitting.items())
    if number is None and len(fitting) > 1:
        raise click.UsageError(f"several parts of {model_name} have {what}; choose one by --part: {listed}")
    if number is not None and number not in fitting:
        raise click.UsageError(f"--part {number}: these parts of {model_name} have {what}: {listed}")
    return fitting[number if number is not None else next(iter(fitting))]
