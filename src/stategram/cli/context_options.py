"""`stategram train --context`: a clustered model beside the n-gram model, without a recipe in a file.

The options of the clustering itself are made from the fields of its settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from stategram.cli.checks import once, option_name
from stategram.cli.options import setting_option
from stategram.errors import BadDataError
from stategram.recipes import CLUSTERING_KEYS, ClusteredPart, NgramPart, Recipe, RecipeKey

F = TypeVar("F", bound=Callable[..., Any])
# The n-gram model has --min-count.
_OPTION_OF = {"min_count": "context_min_count"}
_ONLY_IN_RECIPES = ("flat_start", "min_word_count", "free_states")
_SETTINGS = {name: key for name, key in CLUSTERING_KEYS.items() if name not in _ONLY_IN_RECIPES}


def context_recipe(
    context: str, ngram: NgramPart, options: Mapping[str, Any], tags: str | None, no_guess: bool
) -> Recipe:
    """Return the recipe of --context: the n-gram model, and the clustered one that `options` spell out."""
    given = {key: options[_OPTION_OF.get(key, key)] for key in (*_KEYS, *_SETTINGS)}
    given |= {"context": context, "tree": not options["flat"], "tags": tags, "guess_tags": not no_guess}
    part = ClusteredPart.from_keys({key: value for key, value in given.items() if value is not None})
    part.check(option_name)
    if part.lacks_tags:
        raise click.UsageError(
            f"--context {context} has tags t: give --tags brill (English), or a file of words and tags"
        )
    if no_guess and tags is None:
        raise click.UsageError(f"no value of --context {context} is a tag t; leave --no-guess out")
    return Recipe(name=context, part=[ngram, part])


def context_options(command: F) -> F:
    """Add what is clustered, and how: the parameter ``context``, and those in `CONTEXT_OPTIONS`."""
    for option in reversed((*_OPTIONS, *map(_setting_option, _SETTINGS.values()))):
        command = option(command)
    return command


def _setting_option(key: RecipeKey) -> Callable[[F], F]:
    """Return the option of a setting of the clustering."""
    return setting_option(_OPTION_OF.get(key.name, key.name), key.type, note="  [default: that of --preset]")


def _key_option(name: str, **options: Any) -> Callable[[F], F]:
    """Return the option of a key of a clustered part."""
    key = ClusteredPart.keys()[name]
    note = "" if "default" in options else f"  [possible: {key.possible}]"
    return setting_option(name, key.type, note=note, **options)


def _value(ctx: click.Context, param: click.Parameter, value: str | None) -> object:
    """Take a value as it is in a recipe file, where digits are a number."""
    if value is None:
        return None
    assert param.name is not None
    try:
        key = ClusteredPart.keys()[param.name]
        return key.convert(int(value[:10]) if value.isdecimal() else value, "")
    except BadDataError as error:
        raise click.BadParameter(str(error)) from error


_OPTIONS = (
    click.option(
        "--context",
        multiple=True,
        callback=once,
        metavar="VALUES",
        help="Add a clustered model of these contexts: w-2,w-1 or g-3,g-2,w-1 or t-4,t-3,t-2,t-1.",
    ),
    _key_option("states", callback=_value),
    _key_option("categories", callback=_value),
    _key_option("tree_order"),
    click.option("--flat", is_flag=True, help="Single contexts from the start, no tree."),
    _key_option("context_classes", callback=_value),
    _key_option("preset", default="normal", show_default=True),
)

_KEYS = ("states", "categories", "tree_order", "context_classes", "preset")
CONTEXT_OPTIONS = ("flat", *_KEYS, *(_OPTION_OF.get(key, key) for key in _SETTINGS))
"""The parameters of options that have a place beside --context only."""
