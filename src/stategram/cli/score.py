"""`stategram score`: the surprisal of each word of a text."""

from __future__ import annotations

import sys

import click
import numpy as np

from stategram.cli import INTERRUPTED
from stategram.cli.checks import check_inputs, check_output_apart, is_same_file
from stategram.cli.console import Console
from stategram.cli.options import ReadingOptions, model_options, work_options
from stategram.cli.reading import document_mark_of, normalization_of, read_model
from stategram.models import Scores
from stategram.storage import check_place
from stategram.tables import TABLE_FORMATS, Table, TableWriter, TextColumn, table_format
from stategram.text import LineBlock, read_line_blocks


@click.command(
    epilog="""\b
Examples:
  stategram score model text.txt > surprisal.tsv
  stategram score model text.txt --sentences -o scores.tsv.gz
  echo "the cat sat" | stategram score model""",
)
@click.argument("model_name", metavar="MODEL")
@click.argument("text", default="-", metavar="[TEXT]")
@click.option("--sentences", is_flag=True, help="One line per sentence instead of one per word.")
@click.option(
    "--format",
    type=click.Choice(TABLE_FORMATS),
    help="Output format.  [default: as FILE is named, else tsv]",
)
@click.option("--no-header", is_flag=True, help="Omit the line with the column names, in tsv and csv.")
@click.option(
    "-o",
    "--output",
    default="-",
    metavar="FILE",
    help="Output file; - is stdout, the default. .gz .xz .bz2 .zst are compressed.",
)
@model_options
@work_options
def score(
    model_name: str,
    text: str,
    sentences: bool,
    format: str | None,
    no_header: bool,
    output: str,
    reading: ReadingOptions,
    console: Console,
) -> None:
    """Score each word of TEXT by MODEL, a model folder or an ARPA file; TEXT is stdin by default.

    Columns: the number of the sentence, which is that of its line in TEXT; the position
    of the word in it, from 1; the word as it is in TEXT; the log10 of its probability; its surprisal in bits;
    the length of the n-gram that gave the probability, 0 if MODEL is not one of n-grams; whether the word is
    unknown (1) or not (0). The end of a sentence has a line of its own, with the word </s>. Lines without
    words are left out, but counted.

    With --sentences: the number of the sentence, words, unknown words, log10 of the probability, perplexity.

    From a pipe or a keyboard, lines are scored as they come: the answer to each is printed before the next
    one is needed.
    """
    check_inputs([text, *([model_name] if model_name == "-" else [])])
    if is_same_file(output, text):
        raise click.UsageError(f"the output {output} is an input too; choose another name")
    check_output_apart(output, model_name)
    check_place(output)
    format = table_format(output, format)
    # On a terminal the lines themselves show the progress.
    shown = console if output != "-" or not sys.stdout or not sys.stdout.isatty() else Console(quiet=True)
    shown.steps = 2
    model = read_model(
        model_name, shown, verify=not reading.no_verify, history=reading.history_name, notes=console
    )
    normalization = normalization_of(model, reading, shown)
    document_mark = document_mark_of(model, reading, shown)
    with shown.step("scoring") as progress, TableWriter(output, format, header=not no_header) as table:
        blocks = read_line_blocks(
            text,
            normalization,
            encoding_errors=reading.encoding_errors,
            document_mark=document_mark,
            progress=progress,
            live=True,
        )
        state = model.start()
        try:
            for block in blocks:
                scores = model.score(block.corpus, state=state)
                table.write(_sentences(block, scores) if sentences else _words(block, scores))
                state = scores.state
        except KeyboardInterrupt:
            if output != "-":
                raise
            click.echo("stategram: interrupted; the output is not complete", err=True)
            raise click.exceptions.Exit(INTERRUPTED) from None


def _words(block: LineBlock, scores: Scores) -> Table:
    starts = block.corpus.sentence_starts
    lengths = np.diff(starts)
    log10_probs = scores.log_probs / np.log(10.0)
    return Table(
        {
            "sentence": np.repeat(block.lines, lengths),
            "position": np.arange(1, len(log10_probs) + 1) - np.repeat(starts[:-1], lengths),
            "word": TextColumn(block.spelling.letters, block.spelling.offsets, block.corpus.ids),
            "log10_prob": log10_probs,
            "surprisal_bits": -log10_probs * np.log2(10.0),
            "order": scores.orders if scores.orders is not None else np.zeros(len(log10_probs), np.uint8),
            "unknown": scores.unknown,
        }
    )


def _sentences(block: LineBlock, scores: Scores) -> Table:
    lengths = np.diff(block.corpus.sentence_starts)  # with the sentence ends, which are no words
    with np.errstate(over="ignore"):
        perplexities = np.exp(-scores.sentence_log_probs / lengths)
    return Table(
        {
            "sentence": block.lines,
            "words": lengths - 1,
            "unknown": np.add.reduceat(scores.unknown, block.corpus.sentence_starts[:-1], dtype=np.int64),
            "log10_prob": scores.sentence_log_probs / np.log(10.0),
            "perplexity": perplexities,
        }
    )
