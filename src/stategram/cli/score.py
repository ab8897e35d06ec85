"""`stategram score`: the surprisal of each word of a text."""

from __future__ import annotations

import sys

import click
import numpy as np

from stategram import _core
from stategram.cli import INTERRUPTED
from stategram.cli.checks import check_inputs, check_output_apart, is_same_file
from stategram.cli.console import Console
from stategram.cli.options import ReadingOptions, model_options, work_options
from stategram.cli.reading import document_mark_of, normalization_of, read_model
from stategram.models import Scores
from stategram.resources import Resources
from stategram.storage import atomic_open, check_place
from stategram.text import LineBlock, read_line_blocks

_WORD_COLUMNS = "sentence\tposition\tword\tlog10_prob\tsurprisal_bits\torder\tunknown\n"
_SENTENCE_COLUMNS = "sentence\twords\tunknown\tlog10_prob\tperplexity\n"


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
@click.option("--no-header", is_flag=True, help="Omit the line with the column names.")
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
    no_header: bool,
    output: str,
    reading: ReadingOptions,
    console: Console,
) -> None:
    """Score each word of TEXT by MODEL, a model folder or an ARPA file; TEXT is stdin by default.

    Columns, separated by tabs: the number of the sentence, which is that of its line in TEXT; the position
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
    # On a terminal the lines themselves show the progress.
    shown = console if output != "-" or not sys.stdout or not sys.stdout.isatty() else Console(quiet=True)
    shown.steps = 2
    model = read_model(
        model_name, shown, verify=not reading.no_verify, history=reading.history_name, notes=console
    )
    normalization = normalization_of(model, reading, shown)
    document_mark = document_mark_of(model, reading, shown)
    with shown.step("scoring") as progress, atomic_open(output) as file:
        blocks = read_line_blocks(
            text,
            normalization,
            encoding_errors=reading.encoding_errors,
            document_mark=document_mark,
            progress=progress,
            live=True,
        )
        header = b"" if no_header else (_SENTENCE_COLUMNS if sentences else _WORD_COLUMNS).encode()
        state = model.start()
        try:
            for block in blocks:
                scores = model.score(block.corpus, state=state)
                file.write(header + _lines(block, scores, sentences))
                header, state = b"", scores.state
                if output == "-":
                    sys.stdout.buffer.flush()
        except KeyboardInterrupt:
            if output != "-":
                raise
            click.echo("stategram: interrupted; the output is not complete", err=True)
            raise click.exceptions.Exit(INTERRUPTED) from None


def _lines(block: LineBlock, scores: Scores, sentences: bool) -> bytes:
    orders = scores.orders if scores.orders is not None else np.zeros(len(scores.log_probs), np.uint8)
    return _core.score_lines(
        block.corpus.ids,
        block.corpus.sentence_starts,
        block.lines,
        block.spelling.letters,
        block.spelling.offsets,
        scores.log_probs / np.log(10.0),
        orders,
        scores.unknown.view(np.uint8),
        sentences,
        Resources.current().threads,
    )
