"""`stategram select`: text like that of a domain, from a large pool."""

from __future__ import annotations

import click

from stategram.cli.checks import check_inputs, check_output_file
from stategram.cli.console import Console
from stategram.cli.options import (
    ReadingOptions,
    common_options,
    format_option,
    heldout_options,
    json_option,
    memory_options,
    output_option,
)
from stategram.display import json_text, plural
from stategram.selection import CRITERIA, POOL_FORMATS, By, Selection
from stategram.selection import select as select_rows


@click.command(
    epilog="""\b
Examples:
  stategram select pool.txt --in-domain mine.txt --keep 10% -o chosen.txt
  stategram select web-*.jsonl.zst --in-domain mine.txt --keep 10% -o chosen.jsonl.zst
  stategram select pool.parquet --text-column body --in-domain mine.txt --keep 50000 -o chosen.parquet
  zcat pool.gz | stategram select - --in-domain mine.txt --general news.txt --threshold 0 -o - > chosen.txt
  stategram select pool.jsonl --in-domain model --rank-by perplexity --scores -o scored.jsonl

R. C. Moore and W. Lewis: Intelligent selection of language model training data. ACL 2010.""",
)
@click.argument("pool", nargs=-1, required=True, metavar="POOL...")
@click.option(
    "--in-domain",
    required=True,
    metavar="TEXT",
    help="Text of the domain; or a model of it, a model file or an ARPA file.",
)
@click.option(
    "--general",
    metavar="TEXT",
    help="General text, or a model of it.  [default: a random sample of POOL, as large as the text of the "
    "domain]",
)
@click.option(
    "--rank-by",
    "by",
    type=click.Choice(CRITERIA),
    default=CRITERIA[0],
    show_default=True,
    help="difference: of the cross-entropies, in-domain minus general, in bits per word; perplexity: that of "
    "the in-domain model alone. The lower, the better.",
)
@click.option(
    "--keep",
    metavar="AMOUNT",
    help="Keep the best rows: 10% of the words of POOL, 50000 rows, or '2000000 words'.",
)
@click.option(
    "--threshold",
    type=float,
    metavar="X",
    help="Instead: keep rows with a score of at most X.",
)
@click.option(
    "--scores",
    is_flag=True,
    help="Write the score of each row too: in a column score, or before a line of text and a tab. Without "
    "--keep and --threshold all rows are written.",
)
@format_option(POOL_FORMATS, "by those of POOL, else text", of="Format of POOL and OUT")
@click.option(
    "--min-words",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Skip rows with fewer words, whose scores are extreme.",
)
@output_option("Output file; - is stdout. .gz .xz .bz2 .zst are compressed.")
@json_option
@memory_options
@heldout_options
@common_options
def select(
    pool: tuple[str, ...],
    in_domain: str,
    general: str | None,
    by: By,
    keep: str | None,
    threshold: float | None,
    scores: bool,
    format: str | None,
    min_words: int,
    output: str,
    as_json: bool,
    reading: ReadingOptions,
    seed: int,
    console: Console,
) -> None:
    """Choose the rows of POOL that are most like the text of a domain.

    POOL are files of one format, plain or compressed: lines of text, or jsonl or parquet with a column
    of texts. Rows are written in their order and as they are, with all their fields; rows without
    words are left out.

    A row is good if a model of the domain predicts it better than a model of general text does. Where TEXT
    is a text, the model is one of trigrams, trained now. Both have one vocabulary, the words that are at
    least twice in the text of the domain, or that of the model if one is given; all others are <unk>. If two
    models are given that differ in their vocabularies, words that one does not know count in neither.
    """
    inputs = [in_domain, *([general] if general else [])]
    check_inputs([*pool, *inputs])
    check_output_file(output, [*pool, *inputs])
    if as_json and output == "-":
        raise click.UsageError("--json and the rows cannot both go to stdout; name an output file")
    console.steps = 1
    with console.step("selecting") as progress:
        found = select_rows(
            pool,
            in_domain,
            general,
            output=output,
            keep=keep,
            threshold=threshold,
            scores=scores,
            by=by,
            format=format,
            min_words=min_words,
            text_format=reading.format,
            seed=seed,
            verify=reading.verify,
            progress=progress,
        )
    if as_json:
        click.echo(json_text(found))
    else:
        _show(found, console)


def _show(found: Selection, console: Console) -> None:
    words = f"{found.kept_words:,} of {plural(found.words, 'word')}"
    limit = "" if found.threshold is None else f", with a score of at most {found.threshold}"
    console.info(f"      {found.kept_rows:,} of {plural(found.rows, 'row')} kept, {words}{limit}")
