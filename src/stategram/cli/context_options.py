"""`stategram train --context`: a clustered model beside the n-gram model, without a recipe in a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from stategram.cli.checks import once, was_given
from stategram.clustering import CLUSTERING_CRITERIA, PRESETS, is_size
from stategram.contexts import ContextDefinition
from stategram.experiments import ClusteredPart, NgramPart, Recipe

_MOST_DIGITS = 9

F = TypeVar("F", bound=Callable[..., Any])

# Those that have a place beside --context only.
CONTEXT_OPTIONS = (
    "states",
    "categories",
    "tree_order",
    "flat",
    "criterion",
    "preset",
    "candidates",
    "context_classes",
)


def _clusters(ctx: click.Context, param: click.Parameter, value: str) -> int | str:
    """Take a number of clusters, or how it is found."""
    if value == "auto" or is_size(value):
        return value
    if not value.isdecimal() or not int(value[:_MOST_DIGITS]) >= 1 or len(value) > _MOST_DIGITS:
        raise click.BadParameter(f"{value!r} is not a number of at least 1, size, 0.5 size or auto")
    return int(value)


def context_options(command: F) -> F:
    """Add what says how contexts are clustered."""
    for option in (
        click.option(
            "--context-classes",
            metavar="N|FILE",
            help="Classes g, so many or of a class file.  [default: by the text's size]",
        ),
        click.option(
            "--candidates",
            type=click.IntRange(min=0),
            metavar="T",
            help="Look at T clusters only in two of three sweeps; 0: always at all.",
        ),
        click.option(
            "--preset",
            type=click.Choice(list(PRESETS)),
            default="normal",
            show_default=True,
            help="How hard to look; paper: as Ueberla and Gransden did.",
        ),
        click.option(
            "--criterion",
            type=click.Choice(CLUSTERING_CRITERIA),
            help="Maximum likelihood (the default) or leaving-one-out.",
        ),
        click.option("--flat", is_flag=True, help="Single contexts from the start, no tree."),
        click.option(
            "--tree-order",
            metavar="VALUES",
            help="The values of --context in another order, such as w-2,w-1: the tree puts contexts with the "
            "same first value together, then those with the same two, and so on.  [default: nearest first]",
        ),
        click.option(
            "--categories",
            callback=_clusters,
            default="size",
            metavar="N",
            help="Categories of words: a number, size (of the text), 0.5 size, auto.  [default: size]",
        ),
        click.option(
            "--states",
            callback=_clusters,
            default="size",
            metavar="N",
            help="States of contexts: a number, size (of the text), 0.5 size, auto.  [default: size]",
        ),
        click.option(
            "--context",
            multiple=True,
            callback=once,
            metavar="VALUES",
            help="Add a clustered model of these contexts: w-2,w-1 or g-3,g-2,w-1 or t-4,t-3,t-2,t-1.",
        ),
    ):
        command = option(command)
    return command


def context_recipe(options: dict[str, Any], min_counts: tuple[int, ...] | None) -> Recipe:
    """Give the recipe that the options spell out: the n-gram model, and the clustered one."""
    context, classes = options["context"], options["context_classes"]
    definition = ContextDefinition.parse(context)
    if definition.needs_tags and options["tags"] is None:
        raise click.UsageError(
            f"--context {context} has tags t: give --tags brill (English), or a file of words and tags"
        )
    if options["no_guess"] and not definition.needs_tags:
        raise click.UsageError(f"no value of --context {context} is a tag t; leave --no-guess out")
    if classes is not None and not definition.needs_classes:
        raise click.UsageError(f"no value of --context {context} is a class g; leave --context-classes out")
    if options["flat"] and options["tree_order"] is not None:
        raise click.UsageError("--flat has no tree; leave --tree-order out")
    return Recipe(
        name=context,
        part=[
            NgramPart(
                order=options["order"],
                smoothing=options["smoothing"],
                min_counts=list(min_counts) if min_counts else None,
                prune=options["prune"],
            ),
            ClusteredPart(
                context=context,
                tree_order=options["tree_order"],
                tree=not options["flat"],
                states=options["states"],
                categories=options["categories"],
                preset=options["preset"],
                criterion=options["criterion"],
                candidates=options["candidates"],
                guess_tags=not options["no_guess"],
                context_classes=_number_of_classes(classes),
            ),
        ],
    )


def _number_of_classes(classes: str | None) -> int | str | None:
    if classes is None or not classes.isdecimal():
        return classes
    if len(classes) > _MOST_DIGITS or int(classes) < 1:
        raise click.UsageError(
            f"--context-classes {classes[:20]}: expected a number of at least 1, or a class file"
        )
    return int(classes)


def check_without_context() -> None:
    """Raise a usage error for options that need a context."""
    for name in CONTEXT_OPTIONS:
        if was_given(name):
            raise click.UsageError(f"--{name.replace('_', '-')} is for clustered contexts; add --context")
