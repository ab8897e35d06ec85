"""`stategram classes`: word classes from text."""

from __future__ import annotations

import math

import click

from stategram.cli.checks import check_inputs, check_output_file, was_given
from stategram.cli.console import Console
from stategram.cli.options import (
    TextOptions,
    common_options,
    format_option,
    output_option,
    text_options,
)
from stategram.cli.reading import counts_or_text
from stategram.clustering import CRITERIA, EFFORTS, WordClasses, build_hierarchy
from stategram.counts import CountedText, ShardedText, count_bigrams
from stategram.display import description_text, plural
from stategram.evaluation import class_bigram_perplexity, describe_class_bigram
from stategram.formats import CLASS_FORMATS, read_classes, write_classes
from stategram.storage import expand_urls
from stategram.tables import choose_format
from stategram.text import Corpus, read_corpus


@click.command(
    epilog="""\b
Examples:
  stategram classes text.txt -k 500 > classes.tsv
  stategram classes *.txt.gz -k 1000 --vocab 50000 --lowercase -o classes.tsv
  stategram classes text.txt -k 500 --format brown -o paths.txt
  stategram classes text.txt -k 50 --format mkcls -o text.vcb.classes
  stategram classes text.txt -k 500 --time-limit 60 --evaluate test.txt
  stategram classes counts/ -k 1000 -o classes.tsv
  stategram classes new.txt --init classes.tsv -o updated.tsv""",
)
@click.argument("texts", nargs=-1, required=True, metavar="TEXT...")
@click.option(
    "-k",
    "--n-classes",
    type=click.IntRange(min=1),
    metavar="K",
    help="Number of classes.  [default: 500, or the number in --init]",
)
@output_option(
    "Output file, compressed if named .gz .xz .bz2 or .zst.  [default: - (stdout)]", required=False
)
@format_option(CLASS_FORMATS)
@click.option(
    "--criterion",
    type=click.Choice(CRITERIA),
    default="tied",
    show_default=True,
    help="tied: p(G(w)|G(w-1)). predictive: p(G(w)|w-1). two-sided: p(G(w)|S(w-1)), with K states.",
)
@click.option(
    "--effort",
    type=click.Choice(list(EFFORTS)),
    default="normal",
    show_default=True,
    help="Search effort; paper: plain exchange.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Time budget, instead of --effort.",
)
@click.option(
    "--min-word-count",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Rarer words do not shape the classes; each joins one at the end.",
)
@click.option(
    "--init",
    metavar="FILE",
    help="Class file to start from, in any format; words missing from TEXT keep their class.",
)
@click.option("--fixed", metavar="FILE", help="Pin words to the classes in this class file.")
@click.option(
    "--evaluate",
    metavar="TEST",
    help="Print the class-bigram perplexity of this text instead of the classes (-o still writes them).",
)
@text_options
@common_options
def classes(
    texts: tuple[str, ...],
    n_classes: int | None,
    output: str | None,
    format: str | None,
    criterion: str,
    effort: str,
    time_limit: float | None,
    min_word_count: int,
    init: str | None,
    fixed: str | None,
    evaluate: str | None,
    text: TextOptions,
    seed: int,
    console: Console,
) -> None:
    """Find word classes in TEXT: files with one sentence per line, words separated by white space.

    Files may be compressed (.gz .xz .bz2 .zst); - is stdin. TEXT may also be the counts of a text of any
    size, a folder written by stategram count. Ctrl-C ends the search early with the best classes so far.

    tsv, csv, jsonl and parquet are tables with the columns word, class and count (docs/tables.md). The other
    formats are those of other programs, without a header; clustercat is word<TAB>class<TAB>count.
    """
    if time_limit is not None:
        if was_given("effort"):
            raise click.UsageError("--time-limit and --effort both limit the search; give one of them")
        if not math.isfinite(time_limit):
            raise click.UsageError("--time-limit must be a number of seconds")
    place = "-" if output is None and not evaluate else output
    format = choose_format(place or "-", format, "tsv")
    names = expand_urls(list(texts))
    inputs = [*names, *filter(None, (evaluate, text.vocab_file, fixed))]
    check_inputs([*inputs, *filter(None, [init])])
    check_output_file(place, inputs)
    initial, pinned = (read_classes(name) if name else {} for name in (init, fixed))
    labelled = len({*initial.values(), *pinned.values()})
    if n_classes and n_classes < labelled:
        raise click.UsageError(
            f"--init and --fixed name {labelled} classes, -k {n_classes} is fewer; "
            f"give -k {labelled} or more, or leave it out"
        )
    needs_paths = place is not None and format in ("brown", "json")
    console.steps = 2 + needs_paths + bool(evaluate)
    corpus = counts_or_text(names, text, console)
    estimator = WordClasses(
        n_classes,
        criterion=criterion,
        effort=effort,
        time_limit=time_limit,
        min_count=min_word_count,
        init=initial,
        fixed=pinned,
        random_state=seed,
    )
    _fit(estimator, corpus, console)
    paths = None
    if needs_paths:
        with console.step("building the class hierarchy") as progress:
            counts = estimator.class_bigrams_
            paths = build_hierarchy(counts, len(counts) - 1, progress=progress).bit_paths()
    if place is not None:
        write_classes(
            estimator.words_, estimator.labels_, estimator.counts_, place, format=format, bit_paths=paths
        )
    if evaluate:
        text_format = text.format
        if isinstance(corpus, CountedText):
            text_format = corpus.manifest.text_format.override({"text_column": text_format.text_column})
        with console.step(f"evaluating on {evaluate}"):
            test = read_corpus(evaluate, text_format, vocabulary=corpus.vocabulary)
            label_of = estimator.as_dict()
            labels = [label_of.get(word, -1) for word in corpus.vocabulary.words]
            figures = class_bigram_perplexity(count_bigrams(corpus), labels, test.ids)
        click.echo(description_text(describe_class_bigram(figures)))


def _fit(estimator: WordClasses, corpus: Corpus | ShardedText, console: Console) -> None:
    with (
        console.finish_on_interrupt("classes") as stop,
        console.step(f"clustering ({estimator.criterion})") as progress,
    ):
        estimator.fit(corpus, progress=progress, stop=stop)
    for sweep in estimator.history_:
        console.detail(
            f"      sweep {sweep.number:3}  {sweep.step:8}  temperature {sweep.temperature:.3f}  "
            f"{sweep.moves:8,} moves  criterion {sweep.criterion:,.1f}  perplexity {sweep.perplexity:,.2f}  "
            f"{sweep.seconds:,.2f} s"
        )
    found = len(estimator.classes_)
    console.info(
        f"      {plural(found, 'class', 'classes')}, "
        f"mutual information {estimator.mutual_information_:.4f} bits, "
        f"training perplexity {estimator.perplexity_:,.2f}, {plural(len(estimator.history_), 'sweep')}"
    )
    if estimator.n_classes and found < estimator.n_classes:
        console.info(
            f"      fewer than {estimator.n_classes:,}: more classes would gain nothing on this text"
        )
