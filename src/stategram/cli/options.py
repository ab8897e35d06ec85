"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["common_options", "text_options"]

F = TypeVar("F", bound=Callable[..., Any])


def text_options(command: F) -> F:
    """Add what is done with the words of a text."""
    for option in (
        click.option(
            "--encoding-errors",
            type=click.Choice(["strict", "replace"]),
            default="strict",
            show_default=True,
            help="What to do with bytes that are not UTF-8.",
        ),
        click.option("--digits", metavar="WORD", help="Replace each number by this word, such as N."),
        click.option("--lowercase", is_flag=True, help="Take all words in lower case."),
        click.option("--vocab-file", metavar="FILE", help="Know the words of this file, one a line."),
        click.option(
            "--vocab",
            type=click.IntRange(min=1),
            metavar="N",
            help="Know the N most frequent words; the others are <unk>.",
        ),
    ):
        command = option(command)
    return command


def common_options(command: F) -> F:
    """Add threads, seed and how much to say."""
    for option in (
        click.option("-v", "--verbose", is_flag=True, help="Say more."),
        click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors."),
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            default=0,
            show_default=True,
            metavar="N",
            help="Seed of the annealing.",
        ),
        click.option(
            "--threads",
            type=click.IntRange(min=1),
            metavar="N",
            help="Threads; all processors by default. The result is always the same.",
        ),
    ):
        command = option(command)
    return command
