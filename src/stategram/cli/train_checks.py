"""What the options of `stategram train` choose, and what they must not say; found before any work is done."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from stategram.cli.checks import check_inputs, is_same_file, option_name, was_given
from stategram.cli.context_options import CONTEXT_OPTIONS, context_recipe
from stategram.cli.options import FORMAT_OPTIONS
from stategram.cli.outputs import check_output
from stategram.clustering import is_size
from stategram.counts import Workspace
from stategram.errors import StategramError, UsageError
from stategram.models import check_min_counts
from stategram.recipes import RECIPES, CategoryNgramPart, NgramPart, Recipe, read_recipe
from stategram.resources import parse_size
from stategram.storage import check_store, is_store

_MAX_DIGITS = 9
# N-grams of classes are dense: longer ones pay.
_ORDER_OF_CLASSES = 5
_LONGEST_SHOWN = 40
# What one kind of training has and the other lacks.
_WITHOUT_RECIPE = ("order", "smoothing", "min_count", "prune", "max_ngrams", "no_guess")
_WITH_RECIPE = ("tags", "no_guess", "checkpoint", "resume", "on_interrupt", "seed")


def chosen_recipe(
    recipe: str | None,
    context: str | None,
    ngram: NgramPart,
    clustering: Mapping[str, Any],
    heldout: str | None,
    tags: str | None,
    no_guess: bool,
) -> Recipe | None:
    """Return the recipe of --recipe or --context, None if neither is given."""
    _check_together(recipe, context, heldout)
    if not math.isfinite(ngram.prune):
        raise click.UsageError("--prune must be a number, such as 1e-8")
    if context is not None:
        return context_recipe(context, ngram, clustering, tags, no_guess)
    if recipe is None:
        return None
    try:
        found = read_recipe(recipe).with_tags(tags)
    except UsageError as error:
        raise UsageError(f"{error} (--tags)") from error
    if not heldout and found.needs_heldout:
        raise click.UsageError(_no_heldout("--recipe"))
    if tags and not any(getattr(part, "tags", None) for part in found.part):
        raise click.UsageError(f"no value of recipe {found.name} is a tag; leave --tags out")
    return found


def class_recipe(
    classes: str, ngram: NgramPart, recipe: str | None, context: str | None, heldout: str | None
) -> Recipe:
    """Return the recipe of --classes: one model of word classes."""
    for name, given in (("recipe", recipe), ("context", context), ("heldout", heldout)):
        if given is not None:
            raise click.UsageError(
                f"{option_name(name)} is for mixtures; for one with these classes, name their file in a "
                "recipe, or leave --classes out"
            )
    for name in ("min_count", "prune", "max_ngrams", "max_size", *_WITH_RECIPE, *CONTEXT_OPTIONS):
        if was_given(name):
            raise click.UsageError(f"{option_name(name)} has no place beside --classes; leave it out")
    # A file may have the name of a number of classes.
    file = f"./{classes}" if is_size(classes) else classes
    order = ngram.order if was_given("order") else _ORDER_OF_CLASSES
    return Recipe(
        name="classes", part=[CategoryNgramPart(classes=file, order=order, smoothing=ngram.smoothing)]
    )


def check_counts(counts: bool, *others: str | None) -> None:
    """Refuse what needs a text, if there are only counts."""
    if not counts:
        return
    if any(other is not None for other in others):
        raise click.UsageError("--counts is for n-gram models of words; for other models give a text")
    for name in (*FORMAT_OPTIONS, "heldout", "memory"):
        if was_given(name):
            raise click.UsageError(f"{option_name(name)} is for texts; leave it out with --counts")


def check_train(
    inputs: Sequence[tuple[str, str]],
    output: str,
    *,
    force: bool,
    recipe: Recipe | None,
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
    for part in recipe.part if recipe is not None else ():
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


def budget_of(prune: float, max_ngrams: int | None, max_size: str | None) -> dict[str, int]:
    """Return what --max-ngrams or --max-size allows, as `prune_model` takes it; empty without them."""
    budget = {} if max_ngrams is None else {"max_ngrams": max_ngrams}
    if max_size is not None:
        budget["max_size"] = parse_size(max_size)
    if len(budget) + (prune > 0) > 1:
        raise click.UsageError("--prune, --max-ngrams and --max-size all drop n-grams; give one of them")
    return budget


def _check_together(recipe: str | None, context: str | None, heldout: str | None) -> None:
    """Refuse options that need a recipe, or have no place beside one."""
    if recipe is not None and context is not None:
        raise click.UsageError("--recipe and --context both choose what to train; give one of them")
    mixes = "--recipe" if recipe is not None else "--context" if context is not None else None
    if context is None:
        for name in filter(was_given, CONTEXT_OPTIONS):
            raise click.UsageError(f"{option_name(name)} is for clustered contexts; add --context")
    if context is not None and not heldout:
        raise click.UsageError(_no_heldout("--context"))
    if heldout and not mixes:
        raise click.UsageError(
            f"--heldout is for mixtures; add --recipe ({', '.join(RECIPES)} or a TOML file), or --context"
        )
    if mixes == "--context" and was_given("max_ngrams"):
        raise click.UsageError("--max-ngrams has no place beside --context; give --max-size")
    for name in filter(was_given, _WITHOUT_RECIPE if recipe is not None else ()):
        raise click.UsageError(
            f"{option_name(name)} has no place beside --recipe, which sets that for each part; write it into "
            "a recipe"
        )
    for name in filter(was_given, _WITH_RECIPE if mixes is None else ()):
        raise click.UsageError(
            f"{option_name(name)} is for mixtures; add --recipe or --context, and --heldout, or leave it out"
        )


def _no_heldout(option: str) -> str:
    return (
        f"{option} mixes models, whose weights are learned on a text that none of them has seen: give "
        "--heldout FILE, some thousand sentences that are not in TEXT"
    )


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
