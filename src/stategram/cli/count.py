"""`stategram count`: the counts of a text of any size, kept for `train` and `classes`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from stategram.cli.checks import check_inputs
from stategram.cli.console import Console
from stategram.cli.options import (
    TextOptions,
    cluster_options,
    document_text_options,
    memory_options,
    work_options,
)
from stategram.cli.reading import show_text
from stategram.counts import (
    MAX_ORDER,
    MIN_SHARD_SIZE,
    Counting,
    Reading,
    default_shard_size,
    place_of_counts,
    shard_text,
)
from stategram.resources import parse_size
from stategram.storage import expand_urls, is_url
from stategram.wording import command_line, plural
from stategram.wording import size as format_bytes


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
@document_text_options
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
    if size < MIN_SHARD_SIZE:
        raise click.UsageError(f"--shard-size {shard_size}: a shard has at least {MIN_SHARD_SIZE} bytes")
    if not is_url(output) and Path(output).exists() and not Path(output).is_dir():
        raise click.UsageError(f"{output} is a file; name a folder")
    counting = Counting(Reading(names, text.format, text.words, size), order, text.vocab_file)
    if not force and counting.finished(output) is not None:
        console.info(f"{output} is complete already: the same files and options; --force counts again")
        return
    console.steps = 2
    with _saying_how_to_continue(output), place_of_counts(output, replaces=force) as blobs:
        with console.step("reading") as progress:
            found = shard_text(counting.reading, blobs, progress)
        show_text(found, console)
        with console.step(f"counting n-grams of up to {plural(order, 'word')}") as progress:
            counted = counting.count(found, blobs, progress)
    n_bytes = sum(map(blobs.size, blobs.names()))
    console.info(f"      {plural(len(counted.shards), 'shard')}, {format_bytes(n_bytes)} in {output}")
    console.info(f"      try: {command_line('train', output, '-o', 'model')}")


@contextmanager
def _saying_how_to_continue(output: str) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as end:
        raise KeyboardInterrupt(f"progress saved in {output}; run the same command to continue") from end
