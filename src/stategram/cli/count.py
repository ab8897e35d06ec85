"""`stategram count`: the counts of a text of any size, kept for `train` and `classes`."""

from __future__ import annotations

from pathlib import Path

import click

from stategram.cli.checks import check_inputs
from stategram.cli.console import Console
from stategram.cli.options import (
    TextOptions,
    cluster_options,
    document_mark_option,
    memory_options,
    text_options,
    work_options,
)
from stategram.cli.reading import default_shard_size, encoding_options, show_text
from stategram.counts import MAX_ORDER, is_counts, keep_counts, require_free_place, shard_text
from stategram.resources import parse_size
from stategram.storage import MANIFEST, Blobs, expand_urls, is_url
from stategram.wording import command_line, plural


@click.command(
    epilog="""\b
Examples:
  stategram count text/*.txt -o counts --order 5
  stategram count text/*.zst -o counts --order 3 --vocab 500000 --memory 2G
  stategram count big.txt -o counts --cluster local:8
  stategram count "s3://bucket/text/*.zst" -o s3://bucket/counts --cluster tls://scheduler:8786
  stategram train counts -o model
  stategram classes counts -k 1000 -o classes.tsv""",
)
@click.argument("texts", nargs=-1, required=True, metavar="TEXT...")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="COUNTS",
    help="The folder of the counts, or a URL; with a cluster, one that all workers see.",
)
@click.option(
    "--order",
    type=click.IntRange(1, MAX_ORDER),
    default=5,
    show_default=True,
    metavar="N",
    help="Number of words of the longest n-grams.",
)
@click.option("--force", is_flag=True, help="Replace the counts in COUNTS.")
@click.option(
    "--shard-size",
    metavar="SIZE",
    help="Text that is counted at a time; counts do not depend on it.  [default: 64M, less with --memory]",
)
@memory_options
@cluster_options
@text_options
@document_mark_option
@work_options
def count(
    texts: tuple[str, ...],
    output: str,
    order: int,
    force: bool,
    shard_size: str | None,
    text: TextOptions,
    console: Console,
) -> None:
    """Count the n-grams of TEXT, which may be larger than memory, and keep the counts in COUNTS.

    TEXT are files or URLs with one sentence per line, words separated by white space; they may be compressed
    (.gz .xz .bz2 .zst); - is stdin. The text is read in shards, by --cluster on many machines at once.

    What is done is kept in COUNTS: after an interruption the same command continues. stategram train and
    classes take COUNTS in place of the text, which is in it too, in ids.
    """
    names = expand_urls(list(texts))
    check_inputs([*names, *([text.vocab_file] if text.vocab_file else [])])
    size = default_shard_size() if shard_size is None else parse_size(shard_size)
    blobs = _place(output, force)
    if kept := len([name for name in blobs.names() if name.endswith(".shard")]):
        console.info(f"continuing in {output}: {plural(kept, 'shard')} read already")
    console.steps = 2
    with console.step("reading") as progress:
        found = shard_text(
            names,
            encoding_options(text),
            blobs,
            document_mark=text.document_mark,
            shard_size=size,
            progress=progress,
        )
    show_text(found, console)
    uses = [("training", name) for name in names]
    with console.step(f"counting n-grams of up to {plural(order, 'word')}") as progress:
        counted = keep_counts(found, blobs, order, text.settings, uses, progress=progress)
    n_bytes = sum(map(blobs.size, blobs.names()))
    console.info(f"      {plural(len(counted.shards), 'shard')}, {n_bytes / 1e6:,.0f} MB in {output}")
    console.info(f"      try: {command_line('train', output, '-o', 'model')}")


def _place(output: str, force: bool) -> Blobs:
    """Return the place of the counts, without what --force replaces; refuse one that has other files."""
    if not is_url(output) and Path(output).exists() and not Path(output).is_dir():
        raise click.UsageError(f"{output} is a file; name a folder")
    blobs = Blobs(output)
    if is_counts(output):
        if not force:
            raise click.UsageError(f"there are counts in {output} already; --force replaces them")
        blobs.remove(MANIFEST)
    require_free_place(blobs)
    return blobs
