"""`stategram reproduce`: the paper's tables on any text."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import msgspec

from stategram.cli import INTERRUPTED
from stategram.cli.checks import check_inputs, option_name, was_given
from stategram.cli.console import Console
from stategram.cli.options import (
    FORMAT_OPTIONS,
    TextOptions,
    common_options,
    document_text_options,
    heldout_option,
    json_option,
    output_option,
    tags_option,
    train_option,
)
from stategram.contexts import file_of_tags
from stategram.display import command_line
from stategram.explore.pages import check_libraries
from stategram.paper import (
    TABLES,
    VOCABULARY_SIZE,
    Clock,
    Texts,
    check_folder,
    check_scale,
    read_texts,
    reproduce_texts,
    summary,
    texts_of_sentences,
    write_report,
)
from stategram.progress import Progress
from stategram.text.sotu import load_sotu


@click.command(
    epilog="""\b
Examples:
  stategram reproduce --demo -o demo
  stategram reproduce --train train.txt --heldout heldout.txt --test test.txt -o out
  stategram reproduce --train a.gz --train b.gz --heldout h.gz --test t.gz -o out --scale paper
  stategram reproduce --train train.txt --heldout heldout.txt --test test.txt -o out --tags tags.tsv
  stategram reproduce --demo -o demo --json | jq '.rows[] | [.key, .test.perplexity, .paper.perplexity]'""",
)
@train_option
@heldout_option
@click.option("--test", metavar="FILE", help="Test text.")
@click.option("--demo", is_flag=True, help="Use the State of the Union addresses as texts.")
@output_option("Folder to write.")
@click.option(
    "--scale",
    metavar="SCALE",
    help="paper: as many clusters as in the paper (2000, 500, 1000 classes); quick: by the size of the text; "
    "or a number, such as 0.1, times the paper's. With fewer clusters than the paper the recipe of table 5 "
    "is fast, not best.  [default: paper above 10 million words, else quick]",
)
@tags_option("  none: no table 2, which may be added later.  [default: brill, if it is installed]")
@json_option
@document_text_options
@common_options
def reproduce(
    train: tuple[str, ...],
    heldout: str | None,
    test: str | None,
    demo: bool,
    output: str,
    scale: str | None,
    tags: str | None,
    as_json: bool,
    seed: int,
    text: TextOptions,
    console: Console,
) -> None:
    """Compute the four tables of Ueberla and Gransden (1996) for a text of yours, and a fifth one.

    Their paper, "Clustered Language Models with Context-Equivalent States" (ICSLP 96), has clustered models
    with words, tags and classes as contexts, flat and along a tree, alone and interpolated with n-gram
    models. The fifth table is what gains more today. The paper's own figures are shown beside yours.

    Perplexities and changes have 95% confidence intervals, by resampling the test text. Eight claims of the
    paper are judged by the intervals of the differences that they rest on: a claim holds if the interval is
    on its side of the limit, is contradicted if it is on the other side, and is undecided if it covers the
    limit. The limit is zero for all but two claims: a fourth tag that gains less than 0.5%
    has stopped improving the model, and classes are close to words up to a perplexity 10% higher.

    FOLDER gets tables.json with all figures, rewritten after every row, report.html at the end, and work:
    the same command continues from there when it was interrupted. The vocabulary has 20,000 words,
    unless --vocab or --vocab-file says otherwise. The page needs an extra: pip install "stategram[explore]".
    """
    names = (*train, *filter(None, (heldout, test)))
    _check(bool(train and heldout and test), demo=demo)
    tag_file = file_of_tags(tags) if tags and tags != "none" else None
    check_inputs([name for name in (*names, text.vocab_file, tag_file) if name])
    if scale:
        check_scale(scale)
    check_folder(output)
    check_libraries("the page")
    console.steps = 3
    try:
        began = Clock.now()
        with console.step("reading") as progress:
            texts = _demo_texts(text) if demo else _texts(train, heldout or "", test or "", text, progress)
        for figures in texts.figures():
            console.info(f"      {figures.use}: {figures.words:,} words, {figures.unknown:,} of them unknown")
        with console.step("computing the tables") as progress:
            found = reproduce_texts(
                texts,
                output,
                scale=scale or ("quick" if demo else None),
                tags=tags,
                seed=seed,
                progress=progress,
                command=command_line(*sys.argv[1:]),
                began=began,
            )
    except KeyboardInterrupt:
        saved = Path(output, TABLES).exists()
        note = f"progress saved in {output}; the same command continues" if saved else "nothing is saved yet"
        console.info(f"stategram: interrupted; {note}")
        raise click.exceptions.Exit(INTERRUPTED) from None
    with console.step("writing the report"):
        write_report(found, output)
    console.info(f"      see {Path(output, 'report.html')}")
    click.echo(msgspec.json.format(msgspec.json.encode(found), indent=1) if as_json else summary(found))


def _check(has_texts: bool, *, demo: bool) -> None:
    if demo:
        options = ("train", "heldout", "test", "vocab_file", *FORMAT_OPTIONS)
        for name in filter(was_given, options):
            raise click.UsageError(f"--demo has its own texts; leave {option_name(name)} out")
    elif not has_texts:
        raise click.UsageError(
            "give --train, --heldout and --test, a file each; or --demo, to see it work on the State of the "
            "Union addresses"
        )


def _demo_texts(text: TextOptions) -> Texts:
    found = load_sotu()
    return texts_of_sentences(
        (found.train, found.heldout, found.test),
        vocabulary_size=text.vocab or VOCABULARY_SIZE,
        name="State of the Union addresses (package sotu)",
    )


def _texts(train: tuple[str, ...], heldout: str, test: str, text: TextOptions, progress: Progress) -> Texts:
    return read_texts(
        train,
        heldout,
        test,
        text.format,
        vocabulary=text.vocabulary,
        vocabulary_size=None if text.vocab_file else text.vocab or VOCABULARY_SIZE,
        progress=progress,
    )
