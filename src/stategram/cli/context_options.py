"""`stategram train --context`: a clustered model beside the n-gram model, without a recipe in a file.

The options of the clustering itself are made from the fields of its settings.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar, cast

import click
from msgspec import inspect

from stategram.cli.checks import once
from stategram.clustering import AUTO, PRESETS, is_size
from stategram.contexts import ContextDefinition
from stategram.experiments import CLUSTERING_KEYS, ClusteredPart, NgramPart, Recipe, RecipeKey

_MAX_DIGITS = 9
# The n-gram model has --min-count.
_OPTION_OF = {"min_count": "context_min_count"}
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class ContextOptions:
    """What is clustered, and how."""

    context: str | None
    states: int | str
    categories: int | str
    tree_order: str | None
    flat: bool
    preset: str
    context_classes: str | None
    settings: Mapping[str, object]
    """What was given of the settings of the clustering; the rest is that of the preset."""

    def recipe(self, ngram: NgramPart, tags: str | None, no_guess: bool) -> Recipe:
        """Return the recipe that the options spell out: the n-gram model, and the clustered one."""
        assert self.context is not None
        definition = ContextDefinition.parse(self.context)
        for wrong, message in (
            (
                definition.needs_tags and tags is None,
                f"--context {self.context} has tags t: give --tags brill (English), or a file of words and "
                "tags",
            ),
            (
                no_guess and not definition.needs_tags,
                f"no value of --context {self.context} is a tag t; leave --no-guess out",
            ),
            (
                self.context_classes is not None and not definition.needs_classes,
                f"no value of --context {self.context} is a class g; leave --context-classes out",
            ),
            (self.flat and self.tree_order is not None, "--flat has no tree; leave --tree-order out"),
        ):
            if wrong:
                raise click.UsageError(message)
        part = ClusteredPart.from_keys(
            {
                "context": self.context,
                "tree_order": self.tree_order,
                "tree": not self.flat,
                "states": self.states,
                "categories": self.categories,
                "preset": self.preset,
                "guess_tags": not no_guess,
                "context_classes": _number_of_classes(self.context_classes),
                **self.settings,
            }
        )
        return Recipe(name=self.context, part=[ngram, part])


def context_options(command: F) -> F:
    """Add what is clustered, and how: ``clustering: ContextOptions``."""

    @functools.wraps(command)
    def with_record(**options: Any) -> Any:
        given = {key: options.pop(_parameter(key)) for key in CLUSTERING_KEYS}
        values = {field.name: options.pop(field.name) for field in fields(ContextOptions)[:-1]}
        settings = {key: value for key, value in given.items() if value is not None}
        return command(**options, clustering=ContextOptions(**values, settings=settings))

    found: Any = with_record
    for option in reversed((*_OPTIONS, *map(_setting_option, CLUSTERING_KEYS.values()))):
        found = option(found)
    return cast("F", found)


def option_name(parameter: str) -> str:
    """Return the name of an option on the command line."""
    return "--" + parameter.replace("_", "-")


def _parameter(key: str) -> str:
    return _OPTION_OF.get(key, key)


def _setting_option(key: RecipeKey) -> Callable[[F], F]:
    """Return the option of a setting of the clustering."""
    info = inspect.type_info(key.type)
    while isinstance(info, inspect.Metadata):
        info = info.type
    kind: Any = click.STRING
    if isinstance(info, inspect.LiteralType):
        kind = click.Choice(key.possible.split(", "))
    elif isinstance(info, inspect.IntType):
        kind = click.IntRange(min=info.ge, max=info.le)
    elif isinstance(info, inspect.FloatType):
        kind = click.FloatRange(min=info.ge, max=info.lt, max_open=True)
    return click.option(
        option_name(_parameter(key.name)),
        type=kind,
        metavar=None if isinstance(kind, click.Choice) else "N",
        help=f"{key.meaning[0].upper()}{key.meaning[1:]}.  [default: that of --preset]",
    )


def _clusters(ctx: click.Context, param: click.Parameter, value: str) -> int | str:
    """Take a number of clusters, or how it is found."""
    if value == AUTO or is_size(value):
        return value
    if not value.isdecimal() or not int(value[:_MAX_DIGITS]) >= 1 or len(value) > _MAX_DIGITS:
        raise click.BadParameter(f"{value!r} is not a number of at least 1, size, 0.5 size or auto")
    return int(value)


_OPTIONS = (
    click.option(
        "--context",
        multiple=True,
        callback=once,
        metavar="VALUES",
        help="Add a clustered model of these contexts: w-2,w-1 or g-3,g-2,w-1 or t-4,t-3,t-2,t-1.",
    ),
    click.option(
        "--states",
        callback=_clusters,
        default="size",
        metavar="N",
        help="States of contexts: a number, size (of the text), 0.5 size, auto.  [default: size]",
    ),
    click.option(
        "--categories",
        callback=_clusters,
        default="size",
        metavar="N",
        help="Categories of words: a number, size (of the text), 0.5 size, auto.  [default: size]",
    ),
    click.option(
        "--tree-order",
        metavar="VALUES",
        help="The values of --context in another order, such as w-2,w-1: the tree puts contexts with the "
        "same first value together, then those with the same two, and so on.  [default: nearest first]",
    ),
    click.option("--flat", is_flag=True, help="Single contexts from the start, no tree."),
    click.option(
        "--context-classes",
        metavar="N|FILE",
        help="Number of word classes for g, or a class file.  [default: by the size of the text]",
    ),
    click.option(
        "--preset",
        type=click.Choice(list(PRESETS)),
        default="normal",
        show_default=True,
        help="Search effort; paper: as Ueberla and Gransden did.",
    ),
)

CONTEXT_OPTIONS = (
    *(field.name for field in fields(ContextOptions)[1:-1]),
    *map(_parameter, CLUSTERING_KEYS),
)
"""The parameters of options that have a place beside --context only."""


def _number_of_classes(classes: str | None) -> int | str | None:
    if classes is None or not classes.isdecimal():
        return classes
    if len(classes) > _MAX_DIGITS or int(classes) < 1:
        raise click.UsageError(
            f"--context-classes {classes[:20]}: expected a number of at least 1, or a class file"
        )
    return int(classes)
