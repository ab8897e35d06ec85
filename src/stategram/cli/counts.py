"""`stategram counts`: n-gram counts of a text, or of count files, as SRILM has them."""

from __future__ import annotations

import click

from stategram.cli.checks import check_inputs, check_outputs, refuse_options
from stategram.cli.console import Console
from stategram.cli.options import (
    FORMAT_OPTIONS,
    TextOptions,
    format_option,
    memory_options,
    text_options,
    work_options,
)
from stategram.cli.reading import counts_or_text, read_count_files
from stategram.counts import MAX_ORDER, Workspace, count_ngrams
from stategram.formats import COUNT_FORMATS, write_counts
from stategram.tables import choose_format


@click.command(
    epilog="""\b
Examples:
  stategram counts text.txt --order 3 -o counts.gz
  stategram counts part1.gz part2.gz --merge -o counts.gz
  stategram counts counts.gz --merge --order 2 --vocab 50000 > smaller.txt
  stategram counts text.txt --order 2 -o counts.parquet
  stategram train counts.gz --counts -o model""",
)
@click.argument("texts", nargs=-1, required=True, metavar="TEXT...")
@click.option(
    "--order",
    type=click.IntRange(1, MAX_ORDER),
    metavar="N",
    help="Number of words of the longest n-grams.  [default: 3; with --merge, that of the files]",
)
@click.option("--merge", is_flag=True, help="TEXT are count files: add them up.")
@click.option(
    "-o",
    "--output",
    default="-",
    metavar="FILE",
    help="Output file; - is stdout, the default. .gz .xz .bz2 .zst are compressed.",
)
@format_option(COUNT_FORMATS, "srilm")
@memory_options
@text_options
@work_options
def counts(
    texts: tuple[str, ...],
    order: int | None,
    merge: bool,
    output: str,
    format: str | None,
    text: TextOptions,
    console: Console,
) -> None:
    """Count the n-grams of TEXT, of all lengths up to --order, with <s> and </s> around each line.

    Each line of the output is an n-gram, a tab and its count, as SRILM's ngram-count -sort -write has it:
    sorted by the bytes of words, an n-gram before those that begin with it. With --merge, TEXT are such
    files, which may be in any order.

    tsv, csv, jsonl and parquet are tables with the columns ngram, order and count, which pandas, R, polars
    and Arrow read as they are; see docs/tables.md. --merge and train --counts read srilm and tsv.
    """
    check_inputs([*texts, *([text.vocab_file] if text.vocab_file else [])])
    check_outputs([output], texts)
    format = choose_format(output, format, "srilm")
    if merge:
        refuse_options(FORMAT_OPTIONS, "is for texts; leave it out with --merge")
        console.steps = 2
        found = read_count_files(texts, order, text, console)
    else:
        Workspace()  # refuses too little memory, and a folder that cannot be written
        console.steps = 3
        corpus = counts_or_text(texts, text, console)
        with console.step("counting") as progress:
            found = count_ngrams(corpus, order or 3, progress=progress)
    console.info(f"      n-grams by length: {' + '.join(f'{size:,}' for size in found.sizes)}")
    with console.step(f"writing {'to stdout' if output == '-' else output}") as progress:
        write_counts(found, output, format=format, progress=progress)
