"""Options that several commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import click

from stategram.resources import use_resources

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


def guess_option(command: F) -> F:
    """Add whether words that a tag file lacks are guessed."""
    return click.option(
        "--no-guess",
        is_flag=True,
        help="Words that a tag file lacks have the tag UNK-TAG; else that of words with the same last three "
        "letters, if at least three agree.",
    )(command)


def common_options(command: F) -> F:
    """Add threads, seed and how much to say."""
    return threads_option(_seed(_loudness(command)))


def work_options(command: F) -> F:
    """Add threads and how much to say."""
    return threads_option(_loudness(command))


def model_options(command: F) -> F:
    """Add how a model is opened, and what is done with the words that it is given."""
    for option in (
        click.option(
            "--encoding-errors",
            type=click.Choice(["strict", "replace"]),
            default="strict",
            show_default=True,
            help="What to do with bytes that are not UTF-8.",
        ),
        word_options,
        no_verify_option,
    ):
        command = option(command)
    return command


def word_options(command: F) -> F:
    """Add what is done with the words that a model is given."""
    for option in (
        click.option(
            "--digits",
            metavar="WORD",
            help='Replace each number by this word; "" keeps numbers.  [default: as in training]',
        ),
        click.option(
            "--lowercase/--no-lowercase",
            default=None,
            help="Take all words in lower case, or as they are.  [default: as in training]",
        ),
    ):
        command = option(command)
    return command


def no_verify_option(command: F) -> F:
    """Add the way to open a large model at once."""
    return click.option(
        "--no-verify", is_flag=True, help="Open a model folder at once, without reading it for damage."
    )(command)


def quiet_option(command: F) -> F:
    """Add a way to have it say nothing."""
    return click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")(command)


def _loudness(command: F) -> F:
    return quiet_option(click.option("-v", "--verbose", is_flag=True, help="Say more.")(command))


def _seed(command: F) -> F:
    return click.option(
        "--seed",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        metavar="N",
        help="Seed of the annealing.",
    )(command)


def threads_option(command: F) -> F:
    """Add the number of threads; with it, --memory and --tmp, the command runs within these resources."""

    @functools.wraps(command)
    def limited(*arguments: Any, threads: int | None, **options: Any) -> Any:
        with use_resources(threads=threads, memory=options.pop("memory", None), tmp=options.pop("tmp", None)):
            return command(*arguments, **options)

    return click.option(
        "--threads",
        type=click.IntRange(min=1),
        metavar="N",
        help="Threads; all processors by default. The result is always the same.",
    )(cast("F", limited))
