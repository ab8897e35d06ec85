"""The options of `stategram train` that choose what is trained, and what they must not say.

All is checked before any work is done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from stategram.cli.checks import check_inputs, is_same_file, once, option_name, was_given
from stategram.cli.options import FORMAT_OPTIONS, setting_option
from stategram.cli.outputs import check_output
from stategram.clustering import is_size
from stategram.counts import Workspace
from stategram.errors import BadDataError, StategramError, UsageError
from stategram.models import check_min_counts
from stategram.recipes import (
    CLUSTERING_KEYS,
    RECIPES,
    CategoryNgramPart,
    ClusteredPart,
    NgramPart,
    Recipe,
    RecipeKey,
    read_recipe,
)
from stategram.storage import check_store, is_store

F = TypeVar("F", bound=Callable[..., Any])
# The n-gram model has --min-count.
_OPTION_OF = {"min_count": "context_min_count"}
_ONLY_IN_RECIPES = ("flat_start", "min_word_count", "free_states")
_SETTINGS = {name: key for name, key in CLUSTERING_KEYS.items() if name not in _ONLY_IN_RECIPES}


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

_MAX_DIGITS = 9
# N-grams of classes are dense: longer ones pay.
_ORDER_OF_CLASSES = 5
_LONGEST_SHOWN = 40
# Beside which of --classes, --context and --recipe an option may be; "": without any of them.
_TAKEN_WITH = {
    "order": ("", "classes", "context"),
    "smoothing": ("", "classes", "context"),
    "min_count": ("", "context"),
    "prune": ("", "context"),
    "counts": ("",),
    **dict.fromkeys(CONTEXT_OPTIONS, ("context",)),
    "heldout": ("context", "recipe"),
    "tags": ("context", "recipe"),
    "no_guess": ("context",),
    "checkpoint": ("context", "recipe"),
    "resume": ("context", "recipe"),
    "on_interrupt": ("context", "recipe"),
    "seed": ("context", "recipe"),
}


def chosen_recipe(
    recipe: str | None,
    context: str | None,
    classes: str | None,
    ngram: NgramPart,
    clustering: Mapping[str, Any],
    heldout: str | None,
    tags: str | None,
    no_guess: bool,
) -> Recipe:
    """Return the recipe of --recipe, --context or --classes; without them, that of an n-gram model."""
    chosen = {"classes": classes, "context": context, "recipe": recipe}
    kinds = [kind for kind, value in chosen.items() if value is not None]
    if len(kinds) > 1:
        both = " and ".join(map(option_name, kinds))
        raise click.UsageError(f"{both} both choose what to train; give one of them")
    kind = kinds[0] if kinds else ""
    for name in filter(was_given, _TAKEN_WITH):
        _check_taken(name, kind)
    if context is not None:
        found = _context_recipe(context, ngram, clustering, tags, no_guess)
    elif classes is not None:
        # A file may have the name of a number of classes.
        file = f"./{classes}" if is_size(classes) else classes
        order = ngram.order if was_given("order") else _ORDER_OF_CLASSES
        part = CategoryNgramPart(classes=file, order=order, smoothing=ngram.smoothing)
        found = Recipe(name="classes", part=[part])
    elif recipe is not None:
        found = read_recipe(recipe)
        try:
            found = found.with_tags(tags)
        except UsageError as error:
            raise UsageError(f"{error} (--tags)") from error
        if tags and not any(getattr(part, "tags", None) for part in found.part):
            raise click.UsageError(f"no value of recipe {found.name} is a tag; leave --tags out")
    else:
        found = Recipe(name="ngram", part=[ngram])
    if not heldout and found.needs_heldout:
        raise click.UsageError(
            f"{option_name(kind)} learns weights on a text that no model has seen: give --heldout FILE, some "
            "thousand sentences that are not in TEXT"
        )
    return found


def _context_recipe(
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


def _check_taken(name: str, kind: str) -> None:
    """Refuse an option that does not go with what is trained."""
    taken_with = _TAKEN_WITH[name]
    if kind in taken_with:
        return
    if kind:
        instead = "write it into the recipe" if kind == "recipe" and name != "counts" else "leave it out"
        raise click.UsageError(f"{option_name(name)} cannot be combined with {option_name(kind)}; {instead}")
    known = f"--recipe ({', '.join(RECIPES)} or a TOML file)"
    others = " or ".join(known if one == "recipe" else option_name(one) for one in taken_with)
    raise click.UsageError(f"{option_name(name)} goes with {others}; add that, or leave it out")


def check_counts() -> None:
    """Refuse options of texts beside --counts."""
    for name in filter(was_given, (*FORMAT_OPTIONS, "memory")):
        raise click.UsageError(f"{option_name(name)} is for texts; leave it out with --counts")


def check_train(
    inputs: Sequence[tuple[str, str]],
    output: str,
    *,
    force: bool,
    recipe: Recipe,
    checkpoint: str | None,
    resume: bool,
) -> None:
    """Refuse inputs that cannot be read, and places that cannot be written; `inputs` are (use, name)."""
    names = [name for _, name in inputs]
    texts = [name for use, name in inputs if use == "training" and name != "-"]
    for use, name in inputs:
        if use == "held-out" and any(is_same_file(name, text) for text in texts):
            raise click.UsageError(
                f"the held-out text {name} is a training text too: all weight would go to the model that "
                "remembers it best; give a text of which nothing is in TEXT"
            )
    check_inputs(names)
    check_output(output, names, arpa=False, force=force)
    Workspace()  # refuses too little memory, and a folder that cannot be written
    if resume and checkpoint is None:
        raise click.UsageError("--resume continues from a checkpoint; say where it is: --checkpoint FOLDER")
    if checkpoint is not None:
        _check_checkpoint(checkpoint, output, resume)
    for part in recipe.part:
        part.check_files()


def min_counts_of(given: str | None, order: int) -> list[int] | None:
    """Return the number for each length of n-grams that --min-count means; None without it."""
    if given is None:
        return None
    parts = given.replace(",", " ").split()
    if not parts or not all(part.isascii() and part.isdigit() and len(part) <= _MAX_DIGITS for part in parts):
        shown = given if len(given) <= _LONGEST_SHOWN else given[:_LONGEST_SHOWN] + "..."
        raise click.UsageError(
            f'--min-count {shown!r}: expected numbers of up to {_MAX_DIGITS} digits, such as 2 or "1 1 2"'
        )
    numbers = list(map(int, parts))
    if len(numbers) == 1 and order > 1:
        if order == 2 and numbers[0] > 1:
            raise click.UsageError(
                f"--min-count {given} is for n-grams of 3 and more words, with --order 2 there are none; "
                f'give a number for each length: --min-count "1 {given}"'
            )
        numbers = [1 if length < 3 else numbers[0] for length in range(1, order + 1)]
    check_min_counts(numbers, order)
    return numbers


def _check_checkpoint(checkpoint: str, output: str, resume: bool) -> None:
    path, model = Path(checkpoint).resolve(), Path(output).resolve()
    if path.is_relative_to(model) or model.is_relative_to(path):
        raise click.UsageError(
            f"the checkpoint {checkpoint} and the output {output} are in the same place; choose another one"
        )
    if not path.parent.is_dir():
        raise StategramError(f"cannot write {checkpoint}: there is no folder {path.parent}; make it first")
    if is_store(path) and not resume:
        raise click.UsageError(
            f"{checkpoint} holds a training that has begun; --resume continues it, or remove the folder"
        )
    check_store(checkpoint, "training")
