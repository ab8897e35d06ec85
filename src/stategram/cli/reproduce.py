"""`stategram reproduce`: the paper's tables on any text."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import Any

import click
import msgspec

from stategram.cli import INTERRUPTED
from stategram.cli.checks import check_inputs, check_shared_options, was_given
from stategram.cli.console import Console, Report
from stategram.cli.options import common_options, text_options
from stategram.cli.reproduce_progress import progress_of
from stategram.cli.reproduce_summary import summary
from stategram.contexts import file_of_tags
from stategram.experiments.reproduction import (
    VOCABULARY_SIZE,
    Reproduction,
    RowSteps,
    Texts,
    check_folder,
    check_scale,
    read_texts,
    reproduce_texts,
    texts_of_sentences,
)
from stategram.experiments.sotu import load_sotu
from stategram.report import check_report_extra, write_report
from stategram.text import Vocabulary

_TEXT_OPTIONS = ("vocab", "vocab_file", "lowercase", "digits", "encoding_errors")


@click.command(
    short_help="Make the tables of the paper for a text.",
    epilog="""\b
Examples:
  stategram reproduce --demo -o demo
  stategram reproduce --train train.txt --heldout heldout.txt --test test.txt -o out
  stategram reproduce --train a.gz --train b.gz --heldout h.gz --test t.gz -o out --scale paper
  stategram reproduce --train train.txt --heldout heldout.txt --test test.txt -o out --tags tags.tsv
  stategram reproduce --demo -o demo --json | jq '.rows[] | [.key, .test.perplexity]'""",
)
@click.option("--train", multiple=True, metavar="FILE", help="Text to learn from; several are one text.")
@click.option("--heldout", metavar="FILE", help="Further text, for weights.")
@click.option("--test", metavar="FILE", help="Further text, to be predicted.")
@click.option("--demo", is_flag=True, help="Take the State of the Union addresses as texts.")
@click.option("-o", "--output", required=True, metavar="FOLDER", help="Where to write.")
@click.option(
    "--scale",
    metavar="SCALE",
    help="paper: as many clusters as in the paper (2000, 500, 1000 classes); quick: by the size of the text; "
    "or a number, such as 0.1, times the paper's. With fewer clusters than the paper the recipe of table 5 "
    "is fast, not best.  [default: paper above 10 million words, else quick]",
)
@click.option(
    "--tags",
    metavar="SOURCE",
    help="brill for English, a file with a word and its tag a line, or FILE.conllu[:upos|:xpos].  "
    "[default: brill, if it is installed]",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
@text_options
@common_options
def reproduce(**options: Any) -> None:
    """Make the four tables of Ueberla and Gransden (1996) for a text of yours, and a fifth one.

    Their paper, "Clustered Language Models with Context-Equivalent States" (ICSLP 96), has clustered models
    with words, tags and classes as contexts, flat and along a tree, alone and interpolated with n-gram
    models. The fifth table is what gains more today.

    FOLDER gets report.html, to be looked at; tables.md; tables.json with all figures, rewritten after every
    row; and work: the same command goes on from there when it was interrupted. The vocabulary has 20,000
    words, unless --vocab or --vocab-file says otherwise. The report needs an extra: pip install
    "stategram[report]".
    """
    _check_options(options)
    console = Console(quiet=options["quiet"], verbose=options["verbose"], steps=None)
    try:
        found = _reproduce(options, console)
    except KeyboardInterrupt:
        console.say(f"stategram: interrupted; the same command goes on with what is in {options['output']}")
        raise click.exceptions.Exit(INTERRUPTED) from None
    with console.step("writing the report"):
        write_report(found, options["output"])
    console.say(f"      look at {Path(options['output'], 'report.html')}")
    if options["as_json"]:
        click.echo(msgspec.json.format(msgspec.json.encode(found), indent=1))
    else:
        click.echo(summary(found))


def _check_options(options: dict[str, Any]) -> None:
    check_shared_options(options)
    texts = [f"--{name}" for name in ("train", "heldout", "test") if options[name]]
    if options["demo"]:
        others = [
            f"--{name.replace('_', '-')}" for name in _TEXT_OPTIONS if name != "vocab" and was_given(name)
        ]
        if texts or others:
            raise click.UsageError(f"--demo has its own texts; leave {(texts + others)[0]} out")
    elif len(texts) < 3:
        raise click.UsageError(
            "give --train, --heldout and --test, a file each; or --demo, to see it work on the State of the "
            "Union addresses"
        )
    tags = file_of_tags(options["tags"]) if options["tags"] else None
    files = (*options["train"], options["heldout"], options["test"], options["vocab_file"], tags)
    check_inputs([name for name in files if name])
    if options["scale"]:
        check_scale(options["scale"])
    check_folder(options["output"])
    check_report_extra()


def _reproduce(options: dict[str, Any], console: Console) -> Reproduction:
    with progress_of(console) as steps:
        started = time.monotonic()
        with steps.step("reading") as report:
            texts = _texts(options, report)
        _say_texts(texts, steps)
        return reproduce_texts(
            texts,
            options["output"],
            scale=options["scale"] or ("quick" if options["demo"] else None),
            tags=options["tags"],
            seed=options["seed"],
            steps=steps,
            command=shlex.join(["stategram", *sys.argv[1:]]),
            reading_seconds=time.monotonic() - started,
        )


def _texts(options: dict[str, Any], report: Report) -> Texts:
    size = options["vocab"] or VOCABULARY_SIZE
    if options["demo"]:
        found = load_sotu()
        return texts_of_sentences(
            (found.train, found.heldout, found.test),
            vocabulary_size=size,
            name="State of the Union addresses (package sotu)",
        )
    vocabulary = Vocabulary.from_file(options["vocab_file"]) if options["vocab_file"] else None
    return read_texts(
        options["train"],
        options["heldout"],
        options["test"],
        vocabulary=vocabulary,
        vocabulary_size=None if vocabulary else size,
        lowercase=options["lowercase"],
        digits=options["digits"],
        encoding_errors=options["encoding_errors"],
        progress=report,
    )


def _say_texts(texts: Texts, steps: RowSteps) -> None:
    for text in texts.figures():
        steps.say(f"      {text.use}: {text.words:,} words, {text.unknown:,} of them unknown")
