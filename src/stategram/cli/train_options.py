"""What the options of `stategram train` must not say; found before any work is done."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import click

from stategram.cli.checks import check_inputs, check_shared_options, is_same_file, was_given
from stategram.cli.context_options import check_without_context, context_recipe
from stategram.contexts import check_tags
from stategram.counts import Workspace
from stategram.errors import StategramError, UsageError
from stategram.experiments import (
    RECIPES,
    ClusteredPart,
    Recipe,
    check_run_folder,
    read_recipe,
    recipe_files,
    with_tags,
)
from stategram.formats import read_classes
from stategram.models import check_min_counts
from stategram.storage import holds_only_our_files

_MOST_DIGITS = 9
_LONGEST_SHOWN = 40


# What one kind of training has and the other lacks.
_WITHOUT_RECIPE = ("order", "smoothing", "min_count", "prune", "no_guess")
_WITH_RECIPE = ("tags", "no_guess", "checkpoint", "resume", "on_interrupt", "seed")


def check_options(texts: tuple[str, ...], options: dict[str, Any]) -> Recipe | None:
    """Raise an error for options that cannot be used, and for an output that cannot be written.

    Gives the recipe, if one was asked for.
    """
    check_shared_options(options)
    _check_with_recipe(options)
    recipe = None
    if options["recipe"] is not None or options["context"] is not None:
        given = (
            read_recipe(options["recipe"])
            if options["recipe"] is not None
            else context_recipe(options, min_counts_of(options))
        )
        try:
            recipe = with_tags(given, options["tags"])
        except UsageError as error:
            raise UsageError(f"{error} (--tags)") from error
        if options["tags"] and not any(getattr(part, "tags", None) for part in recipe.part):
            where = f"recipe {recipe.name}" if options["recipe"] else f"--context {recipe.name}"
            raise click.UsageError(f"no value of {where} is a tag; leave --tags out")
    if not math.isfinite(options["prune"]):
        raise click.UsageError("--prune must be a number, such as 1e-8")
    min_counts_of(options)
    inputs = [*texts, *(options[name] for name in ("vocab_file", "heldout") if options[name])]
    if recipe is not None:
        inputs += [name for _, name in recipe_files(recipe)]
        _check_heldout(texts, options["heldout"])
    check_inputs(inputs)
    _check_output(options["output"], inputs, options["force"])
    Workspace()  # which refuses a folder of temporary files that cannot be written
    if options["checkpoint"]:
        _check_checkpoint(options)
    if recipe is not None:
        _check_files(recipe)
    return recipe


def _check_files(recipe: Recipe) -> None:
    """Look into the class files and tags of a recipe; they are read again when they are needed."""
    for use, name in recipe_files(recipe):
        if use == "classes" and name != "-":
            read_classes(name)
    parts = [part for part in recipe.part if isinstance(part, ClusteredPart)]
    for tags, guess in {(part.tags, part.guess_tags) for part in parts if part.tags}:
        check_tags(tags, guess=guess)


def _check_with_recipe(options: dict[str, Any]) -> None:
    """Raise a usage error for options that need a recipe, or have no place beside one."""
    recipe, context = options["recipe"] is not None, options["context"] is not None
    if recipe and context:
        raise click.UsageError("--recipe and --context both say what to train; give one of them")
    if not context:
        check_without_context()
    if (recipe or context) and not options["heldout"]:
        raise click.UsageError(
            f"{'--recipe' if recipe else '--context'} mixes models, whose weights are learned on a text that "
            "none of them has seen: give --heldout FILE, some thousand sentences that are not in TEXT"
        )
    if options["heldout"] and not (recipe or context):
        raise click.UsageError(
            f"--heldout is for mixtures; add --recipe ({', '.join(RECIPES)} or a TOML file), or --context"
        )
    for name in _WITHOUT_RECIPE if recipe else () if context else _WITH_RECIPE:
        if was_given(name):
            shown = "--" + name.replace("_", "-")
            raise click.UsageError(
                f"{shown} has no place beside --recipe, which says that for each part; write it into a recipe"
                if recipe
                else f"{shown} is for mixtures; add --recipe or --context, and --heldout, or leave it out"
            )
    if options["resume"] and not options["checkpoint"]:
        raise click.UsageError("--resume goes on from a checkpoint; say where it is: --checkpoint FOLDER")


def _check_heldout(texts: tuple[str, ...], heldout: str) -> None:
    if heldout != "-" and any(name != "-" and is_same_file(heldout, name) for name in texts):
        raise click.UsageError(
            f"the held-out text {heldout} is a training text too: all weight would go to the model that "
            "remembers it best; give a text of which nothing is in TEXT"
        )


def _check_checkpoint(options: dict[str, Any]) -> None:
    path, output = Path(options["checkpoint"]).resolve(), Path(options["output"]).resolve()
    if path.is_relative_to(output) or output.is_relative_to(path):
        raise click.UsageError(
            f"the checkpoint {options['checkpoint']} and the output {options['output']} are in the same "
            "place; choose another one"
        )
    if not path.parent.is_dir():
        raise StategramError(
            f"cannot write {options['checkpoint']}: there is no folder {path.parent}; make it first"
        )
    if (path / "run.json").exists() and not options["resume"]:
        raise click.UsageError(
            f"{options['checkpoint']} holds a training that has begun; --resume goes on with it, or remove it"
        )
    check_run_folder(options["checkpoint"])


def min_counts_of(options: dict[str, Any]) -> tuple[int, ...] | None:
    """Give the number for each length of n-grams that --min-count means; None without it."""
    given, order = options["min_count"], options["order"]
    if given is None:
        return None
    parts = given.replace(",", " ").split()
    if not parts or not all(
        part.isascii() and part.isdigit() and len(part) <= _MOST_DIGITS for part in parts
    ):
        shown = given if len(given) <= _LONGEST_SHOWN else given[:_LONGEST_SHOWN] + "..."
        raise click.UsageError(
            f'--min-count {shown!r}: expected numbers of up to {_MOST_DIGITS} digits, such as 2 or "1 1 2"'
        )
    numbers = tuple(map(int, parts))
    if len(numbers) == 1 and order > 1:
        if order == 2 and numbers[0] > 1:
            raise click.UsageError(
                f"--min-count {given} is for n-grams of 3 and more words, with --order 2 there are none; "
                f'give a number for each length: --min-count "1 {given}"'
            )
        numbers = tuple(1 if length < 3 else numbers[0] for length in range(1, order + 1))
    check_min_counts(numbers, order)
    return numbers


def _check_output(output: str, inputs: list[str], force: bool) -> None:
    if not output.strip():
        raise click.UsageError("the name of the model is empty; give a folder")
    path = Path(output).absolute()
    for name in inputs:
        if name != "-" and Path(name).resolve().is_relative_to(path.resolve()):
            raise click.UsageError(f"the input {name} is in the output {output}; choose another name")
    if not path.parent.is_dir():
        raise StategramError(f"cannot write {output}: there is no folder {path.parent}; make it first")
    if not os.access(path.parent, os.W_OK):
        raise StategramError(f"cannot write {output}: permission denied; choose another place")
    if path.exists() or path.is_symlink():
        kind = _kind_of(path)
        if kind != "model" and (kind is not None or not holds_only_our_files(path)):
            raise StategramError(
                f"{output} exists and is not a model folder; choose another name, or remove it first"
            )
        if not force:
            found = "a model" if kind else "a damaged model"
            raise click.UsageError(f"there is {found} in {output} already; --force replaces it")


def _kind_of(path: Path) -> str | None:
    """Give what a folder says that it holds; None if it says nothing."""
    try:
        manifest = json.loads((path / "manifest.json").read_bytes())
    except (OSError, ValueError):
        return None
    kind = manifest.get("kind") if isinstance(manifest, dict) else None
    return kind if isinstance(kind, str) else None
