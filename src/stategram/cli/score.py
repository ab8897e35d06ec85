"""`stategram score`: the surprisal of each word of a text."""

from __future__ import annotations

import sys

import click

from stategram.cli import INTERRUPTED
from stategram.cli.checks import check_inputs, check_output_file, refuse_options
from stategram.cli.console import Console
from stategram.cli.options import (
    ReadingOptions,
    format_option,
    model_options,
    output_option,
    unknown_option,
    work_options,
)
from stategram.cli.reading import format_for, read_model
from stategram.display import plural
from stategram.scoring import (
    BASES,
    COLUMNS,
    DEFAULT_COLUMNS,
    UNITS,
    ItemBlock,
    TextScorer,
    WordColumns,
    check_unit,
    score_items,
    score_texts,
)
from stategram.storage import expand_urls
from stategram.tables import TABLE_FORMATS, read_items, table_format
from stategram.text import row_format


@click.command(
    epilog="""\b
Columns:
"""
    + "\n".join(f"  {name:18}{what}" for name, what in COLUMNS.items())
    + """

\b
Examples:
  stategram score model text.txt > surprisal.tsv
  stategram score model text.txt --columns word,surprisal,entropy -o words.csv
  stategram score model text.txt --by sentence -o scores.tsv.gz
  stategram score model text.txt --by word --columns word,surprisal,entropy -o words.csv
  stategram score model texts/*.txt.gz -o words.tsv.gz
  stategram score model items.csv --text-column sentence --id-column item -o words.csv
  stategram score model regions.csv --text-column text --id-column item --region-column region
  echo "the cat sat" | stategram score model""",
)
@click.argument("model_name", metavar="MODEL")
@click.argument("texts", nargs=-1, metavar="[TEXT]...")
@click.option("--id-column", metavar="NAME", help="Column with the ids of sentences, in a table.")
@click.option(
    "--region-column",
    metavar="NAME",
    help="Column that names regions, in a table; rows with the same id are one sentence.",
)
@click.option(
    "--by",
    type=click.Choice(UNITS),
    help="One row per token of MODEL, per word between white space, per sentence, or per region.  [default: "
    "token; with --region-column, region]",
)
@click.option(
    "--columns",
    metavar="LIST",
    help="Columns, separated by commas, in their order; see below. all: all that MODEL has.  "
    f"[default: {','.join(DEFAULT_COLUMNS['token'])}]",
)
@click.option(
    "--base",
    type=click.Choice(list(BASES)),
    default="2",
    show_default=True,
    help="Base of the logarithm of surprisal and entropy: bits, nats or log10.",
)
@format_option(TABLE_FORMATS)
@unknown_option
@output_option(
    "Output file, compressed if named .gz .xz .bz2 or .zst.  [default: - (stdout)]",
    required=False,
    default="-",
)
@model_options
@work_options
def score(
    model_name: str,
    texts: tuple[str, ...],
    id_column: str | None,
    region_column: str | None,
    by: str | None,
    columns: str | None,
    base: str,
    unknown: str,
    format: str | None,
    output: str,
    reading: ReadingOptions,
    console: Console,
) -> None:
    """Score each word of TEXT by MODEL, a model file or an ARPA file; TEXT is stdin by default.

    One row per token, which is a word or, if text is tokenized, a punctuation mark; the end of a sentence has
    a row of its own, with the word </s>. The number of a sentence is that of its line in TEXT: lines without
    words are left out, but counted.

    With --by word, one row per word between white space, such as "fell.", or with --by region, per region of
    a table: the surprisal of its tokens together, the entropy before the first one, and their number. The
    regions of a sentence, rows with the same id, are tokenized and scored as one sentence. With --by
    sentence, one row per sentence: its number, words, unknown words, log10 of the probability, perplexity.

    The rows of several texts follow each other, with the name of the text in a first column, file. Each text
    is scored for itself.

    From a pipe or a keyboard, lines are scored as they come: the answer to each is printed before the next
    one is needed.
    """
    names = tuple(expand_urls(list(texts))) or ("-",)
    text_column = reading.format.get("text_column")
    is_table = bool(text_column or id_column or region_column) or (
        len(names) == 1 and row_format(names[0]) != "text"
    )
    by = by or ("region" if region_column else "token")
    check_inputs([*names, *([model_name] if model_name == "-" else [])])
    check_output_file(output, [*names, model_name])
    check_unit(by, has_regions=region_column is not None)
    _check_options(by, is_table=is_table)
    found_format = table_format(output, format)
    if (id_column or region_column) and len(names) > 1:
        raise click.UsageError("a table with --id-column or --region-column is scored alone; give one TEXT")
    # On a terminal the lines themselves show the progress.
    shown = console if output != "-" or not sys.stdout or not sys.stdout.isatty() else Console(quiet=True)
    shown.steps = 2
    model = read_model(model_name, shown, reading, notes=console)
    unit = "token" if by == "sentence" else by
    of_rows = DEFAULT_COLUMNS[unit] if columns is None else [name.strip() for name in columns.split(",")]
    chosen = WordColumns.create(model, of_rows, base, unit)
    scorer = TextScorer(model, unknown)
    for name, title in chosen.part_titles.items():
        console.info(f"      {name}: {title}")
    text_format = format_for(model, reading, shown)
    if text_format.tokenize == "prose" and not is_table:
        console.info(
            "      note: each line is scored as one sentence; to score sentences, split the prose into lines"
        )
    try:
        with shown.step("scoring") as progress:
            if is_table:
                rows = read_items(
                    names[0], text_column=text_column, id_column=id_column, region_column=region_column
                )
                if id_column and not region_column:
                    ids = rows.columns[id_column].tolist()
                    if len(set(ids)) < len(ids):
                        console.info(
                            f"      note: ids of {id_column} are there several times, but each row is "
                            "scored as a sentence; rows are parts of one with --region-column"
                        )
                items = ItemBlock.of_items(rows, text_format)
                dropped = items.block.corpus.stats.n_dropped
                score_items(scorer, items, chosen, by, progress).write(output, found_format)
            else:
                dropped = score_texts(names, scorer, chosen, by, text_format, output, found_format, progress)
    except KeyboardInterrupt:
        if output != "-":
            raise
        click.echo("stategram: interrupted; the output is not complete", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    if dropped:
        console.info(f"      {plural(dropped, 'sentence marker')} <s> or </s> dropped")
    for note in scorer.notes:
        if note not in model.notes:  # it was shown already
            console.info(f"      note: {note}")


def _check_options(by: str, *, is_table: bool) -> None:
    """Refuse options that have no effect."""
    if by == "sentence":
        refuse_options(("columns", "base"), "cannot be combined with --by sentence, whose columns are fixed")
    if is_table:
        refuse_options(
            ("document_mark", "encoding_errors"), "cannot be combined with a table (--text-column)"
        )
