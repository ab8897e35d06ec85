"""`stategram count`: counts of a text of any size, for `train` and `classes`, or as count files."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import click

from stategram.cli.checks import check_inputs, check_output_file, refuse_options
from stategram.cli.console import Console
from stategram.cli.options import (
    FORMAT_OPTIONS,
    TextOptions,
    document_text_options,
    force_option,
    format_option,
    memory_options,
    order_option,
    output_option,
    work_options,
)
from stategram.cli.outputs import check_not_there
from stategram.cli.reading import counts_or_text, read_count_files, show_text
from stategram.counts import (
    MIN_SHARD_SIZE,
    Blobs,
    Counting,
    Reading,
    Workspace,
    count_ngrams,
    default_shard_size,
    place_of_counts,
)
from stategram.display import command_line, plural
from stategram.display import size as format_bytes
from stategram.formats import COUNT_FORMATS, write_counts
from stategram.progress import report_each
from stategram.resources import Executor, parse_size
from stategram.storage import expand_urls, is_url, uncompressed_name
from stategram.tables import choose_format
from stategram.workers import open_cluster

_FOLDER = "folder"
_ORDER = 5


@click.command(
    epilog="""\b
Examples:
  stategram count text/*.txt -o counts --order 5
  stategram count text/*.zst -o counts --order 3 --vocab 500000 --memory 2G
  stategram count big.txt -o counts --cluster local:8
  stategram count "s3://bucket/text/*.zst" -o s3://bucket/counts --cluster tls://scheduler:8786
  stategram train counts -o model
  stategram classes counts -k 1000 -o classes.tsv
  stategram count text.txt --order 3 -o counts.gz
  stategram count part1.gz part2.gz --merge -o counts.gz
  stategram count text.txt --order 2 -o counts.parquet""",
)
@click.argument("texts", nargs=-1, required=True, metavar="TEXT...")
@output_option(
    "Folder or URL of the counts, seen by all workers of a --cluster; or a count file, compressed if named "
    ".gz .xz .bz2 or .zst; - is stdout."
)
@format_option((_FOLDER, *COUNT_FORMATS), "folder; srilm with --merge, on stdout or if compressed")
@order_option(f"  [default: {_ORDER}; with --merge, the order of the files]")
@click.option("--merge", is_flag=True, help="TEXT are count files: merge them into one.")
@force_option
@click.option(
    "--shard-size",
    metavar="SIZE",
    help="Shard size (K, M and G are powers of 1024); does not affect the result.  "
    "[default: 64M, less with --memory]",
)
@click.option(
    "--cluster",
    metavar="WHERE",
    help="Workers: local:N for N processes on this machine; tls://HOST:PORT for the scheduler of a Dask "
    "cluster, with the certificates of Dask's configuration; or tcp://127.0.0.1:PORT, one on this machine "
    "without encryption. --threads is then per worker.",
)
@memory_options
@document_text_options
@work_options
def count(
    texts: tuple[str, ...],
    output: str,
    format: str | None,
    order: int | None,
    merge: bool,
    force: bool,
    shard_size: str | None,
    cluster: str | None,
    text: TextOptions,
    console: Console,
) -> None:
    """Count the n-grams of TEXT, which may be larger than memory, and keep the counts in the folder OUT.

    TEXT are files or URLs with one sentence per line, words separated by white space; they may be compressed
    (.gz .xz .bz2 .zst); - is stdin. The text is read in shards, by --cluster on many machines at once.

    Progress is saved in OUT: after an interruption the same command continues; with --force it starts over.
    stategram train and classes take the folder in place of the text, which it holds too, in ids.

    With another --format OUT is one file, with the n-grams of all lengths up to --order, <s> and </s> around
    each line; TEXT may then be a folder of counts too. srilm is the format of SRILM's ngram-count -sort
    -write: an n-gram, a tab and its count, sorted by the bytes of words. With --merge, TEXT are such files,
    in any order. tsv, csv, jsonl and parquet are tables with the columns ngram, order and count
    (docs/tables.md). --merge and stategram train read srilm and tsv.
    """
    names = expand_urls(list(texts))
    check_inputs([*names, *([text.vocab_file] if text.vocab_file else [])])
    is_file = merge or output == "-" or uncompressed_name(output) != output
    format = choose_format(output, format, "srilm" if is_file else _FOLDER)
    if format == _FOLDER:
        if merge:
            raise click.UsageError("--merge makes one count file; give another --format than folder")
        _count_into_folder(names, output, order or _ORDER, text, shard_size, cluster, console, replaces=force)
    else:
        refuse_options(("shard_size", "cluster"), f"is for a folder; leave it out with --format {format}")
        _count_into_file(names, output, format, order, text, console, merge=merge, force=force)


def _count_into_folder(
    names: Sequence[str],
    output: str,
    order: int,
    text: TextOptions,
    shard_size: str | None,
    cluster: str | None,
    console: Console,
    *,
    replaces: bool,
) -> None:
    size = default_shard_size() if shard_size is None else parse_size(shard_size)
    if size < MIN_SHARD_SIZE:
        raise click.UsageError(f"--shard-size {shard_size}: a shard has at least {MIN_SHARD_SIZE} bytes")
    if not is_url(output) and Path(output).exists() and not Path(output).is_dir():
        raise click.UsageError(f"{output} is a file; name a folder")
    if output.lower().startswith("memory://"):
        raise click.UsageError("memory:// is lost when the command ends; name a folder or another URL")
    reading = Reading(names, text.format, text.words, size)
    counting = Counting(reading, order, text.vocab_file)
    console.steps = 1
    if not replaces and (found := counting.finished(output)) is not None:
        with console.step(f"verifying {output}") as progress:
            for name in report_each(found.manifest.files, len(found.manifest.files), "files", progress):
                found.blobs.read(name)
        console.info(f"{output} is complete already: the same files and options; --force counts again")
        return
    place_of_counts(output, replaces=replaces)
    if cluster is not None:
        reading.require_files()
    try:
        with (
            _workers(cluster),
            console.step(f"counting n-grams of up to {plural(order, 'word')}") as progress,
        ):
            counted = counting.run(output, replaces=replaces, progress=progress)
    except KeyboardInterrupt as end:
        saved = "--force starts over" if replaces else "run the same command to continue"
        raise KeyboardInterrupt(f"progress saved in {output}; {saved}") from end
    show_text(counted, console)
    n_bytes = sum(Blobs(output).sizes().values())
    console.info(f"      {plural(len(counted.shards), 'shard')}, {format_bytes(n_bytes)} in {output}")
    console.info(f"      try: {command_line('train', output, '-o', 'model')}")


def _count_into_file(
    names: Sequence[str],
    output: str,
    format: str,
    order: int | None,
    text: TextOptions,
    console: Console,
    *,
    merge: bool,
    force: bool,
) -> None:
    check_output_file(output, [*names, *([text.vocab_file] if text.vocab_file else [])])
    check_not_there(output, force=force)
    if merge:
        refuse_options(FORMAT_OPTIONS, "is for texts; leave it out with --merge")
        console.steps = 2
        found = read_count_files(names, order, text, console)
    else:
        Workspace()  # refuses too little memory, and a folder that cannot be written
        console.steps = 3
        corpus = counts_or_text(names, text, console)
        with console.step("counting") as progress:
            found = count_ngrams(corpus, order or _ORDER, progress=progress)
    console.info(f"      n-grams by length: {' + '.join(f'{size:,}' for size in found.sizes)}")
    with console.step(f"writing {'to stdout' if output == '-' else output}") as progress:
        write_counts(found, output, format=format, progress=progress)


def _workers(cluster: str | None) -> AbstractContextManager[Executor | None]:
    """Return the workers that the command asks for, if any."""
    if cluster is None:
        return nullcontext()
    threads: int | None = click.get_current_context().params["threads"]
    return open_cluster(cluster, threads=threads)
