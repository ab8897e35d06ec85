"""`stategram classes`: word classes from text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from stategram.cli.checks import check_inputs, check_outputs, was_given
from stategram.cli.console import Console
from stategram.cli.options import TextOptions, common_options, format_option, memory_options, text_options
from stategram.cli.reading import counts_or_text
from stategram.clustering import CRITERIA, EFFORTS, WordClasses, build_hierarchy
from stategram.counts import CountedText, ShardedText, count_bigrams
from stategram.display import description_text, json_text
from stategram.evaluation import ClassBigramFigures, class_bigram_perplexity, describe_class_bigram
from stategram.formats import CLASS_FORMATS, read_classes, write_classes
from stategram.storage import expand_urls
from stategram.tables import choose_format
from stategram.text import Corpus, TextFormat, read_corpus
from stategram.wording import plural


@dataclass(frozen=True)
class _Options:
    """The options of this command alone."""

    n_classes: int | None
    output: str
    format: str
    criterion: str
    n_states: int | None
    states_output: str | None
    effort: str
    time_limit: float | None
    min_count: int
    init: str | None
    fixed: str | None
    depth: int | None
    evaluate: str | None
    as_json: bool
    seed: int

    def __post_init__(self) -> None:
        is_two_sided = self.criterion == "two-sided"
        for wrong, message in (
            (self.n_states and not is_two_sided, "--states requires --criterion two-sided"),
            (self.states_output and not is_two_sided, "--states-output requires --criterion two-sided"),
            (
                self.as_json and not self.evaluate,
                "--json requires --evaluate; for the classes as JSON: --format json",
            ),
            (
                self.time_limit and was_given("effort"),
                "--time-limit and --effort both limit the search; give one of them",
            ),
            (not math.isfinite(self.time_limit or 0.0), "--time-limit must be a number of seconds"),
        ):
            if wrong:
                raise click.UsageError(message)

    @property
    def wants_hierarchy(self) -> bool:
        """Whether the output needs the class hierarchy."""
        return self.depth is not None or self.format in ("brown", "json")

    @property
    def outputs(self) -> list[str]:
        """The files to write."""
        classes = [self.output] if self.output != "-" or not self.evaluate else []
        return classes + ([self.states_output] if self.states_output else [])

    def check_files(self, texts: Sequence[str], text: TextOptions) -> None:
        """Raise an error for inputs that are not there, and for outputs that cannot be written."""
        inputs = [*texts, *filter(None, (self.evaluate, text.vocab_file, self.fixed))]
        check_inputs([*inputs, *filter(None, [self.init])])
        check_outputs(self.outputs, inputs)


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
    "--classes",
    "n_classes",
    type=click.IntRange(min=1),
    metavar="K",
    help="Number of classes.  [default: 500, or as many as --init has]",
)
@click.option(
    "-o",
    "--output",
    default="-",
    metavar="FILE",
    help="Output file, compressed if named .gz .xz .bz2 or .zst.  [default: - (stdout)]",
)
@format_option(CLASS_FORMATS)
@click.option(
    "--criterion",
    type=click.Choice(CRITERIA),
    default="tied",
    show_default=True,
    help="tied: p(G(w)|G(w-1)). predictive: p(G(w)|w-1). two-sided: p(G(w)|S(w-1)); see --states-output.",
)
@click.option(
    "--states",
    "n_states",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of states of two-sided.  [default: K]",
)
@click.option(
    "--states-output",
    metavar="FILE",
    help="Output file for the states of two-sided: a table as FILE is named, tsv otherwise.",
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
    "--min-count",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Words with fewer occurrences do not shape the classes; each joins one at the end.",
)
@click.option(
    "--init",
    metavar="FILE",
    help="Class file to start from, in any format; words that TEXT lacks keep their class.",
)
@click.option("--fixed", metavar="FILE", help="Pin words to the classes in FILE.")
@click.option(
    "--depth",
    type=click.IntRange(min=1),
    metavar="D",
    help="Merge classes that share the first D bits of their path in the class hierarchy.",
)
@click.option(
    "--evaluate",
    metavar="TEST",
    help="Print the class-bigram perplexity of this text instead of the classes (-o still writes them).",
)
@click.option("--json", "as_json", is_flag=True, help="With --evaluate: print all figures as JSON.")
@memory_options
@text_options
@common_options
def classes(texts: tuple[str, ...], text: TextOptions, console: Console, **values: Any) -> None:
    """Find word classes in TEXT: files with one sentence per line, words separated by white space.

    Files may be compressed (.gz .xz .bz2 .zst); - is stdin. TEXT may also be the counts of a text of any
    size, a folder that stategram count wrote. Ctrl-C ends early with the best classes so far.

    tsv, csv, jsonl and parquet are tables with the columns word, class and count, which pandas, R, polars and
    Arrow read as they are; see docs/tables.md. The others are files of other programs, without names of
    columns; clustercat is word<TAB>class<TAB>count.
    """
    values["format"] = choose_format(values["output"], values["format"], "tsv")
    options = _Options(**values)
    texts = tuple(expand_urls(list(texts)))
    options.check_files(texts, text)
    init = read_classes(options.init) if options.init else {}
    fixed = read_classes(options.fixed) if options.fixed else {}
    given = len({*init.values(), *fixed.values()})
    if options.n_classes and options.n_classes < given:
        raise click.UsageError(
            f"--init and --fixed name {given} classes, -k {options.n_classes} is fewer; "
            f"give -k {given} or more, or leave it out"
        )
    console.steps = 2 + options.wants_hierarchy + bool(options.evaluate)
    corpus = counts_or_text(texts, text, console)
    if isinstance(corpus, CountedText):
        text = replace(text, format=corpus.manifest.text_format)
    estimator = WordClasses(
        options.n_classes,
        criterion=options.criterion,
        n_states=options.n_states,
        effort=options.effort,
        time_limit=options.time_limit,
        min_count=options.min_count,
        init=init,
        fixed=fixed,
        random_state=options.seed,
    )
    _fit(estimator, corpus, console)
    labels, bit_paths = _cut(estimator, options, console)
    if options.output in options.outputs:
        write_classes(
            estimator.words_,
            labels,
            estimator.counts_,
            options.output,
            format=options.format,
            bit_paths=bit_paths,
        )
    if options.states_output:
        write_classes(
            estimator.contexts_,
            estimator.states_,
            estimator.context_counts_,
            options.states_output,
            format=choose_format(options.states_output, None, "tsv"),
        )
    if options.evaluate:
        of_words = dict(zip(estimator.words_, labels.tolist(), strict=True))
        with console.step(f"evaluating on {options.evaluate}"):
            figures = _evaluate(corpus, of_words, options.evaluate, text.format)
        shown = json_text(figures) if options.as_json else description_text(describe_class_bigram(figures))
        click.echo(shown)


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


def _cut(
    estimator: WordClasses, options: _Options, console: Console
) -> tuple[NDArray[np.int64], list[str] | None]:
    """Return labels and bit paths for the output."""
    if not options.wants_hierarchy:
        return estimator.labels_, None
    counts = estimator.class_bigrams_
    with console.step("building the class hierarchy") as progress:
        hierarchy = build_hierarchy(counts, len(counts) - 1, progress=progress)
    paths, depth = hierarchy.bit_paths(), options.depth
    if depth is None:
        return estimator.labels_, paths
    cut = hierarchy.cut_depth(depth)
    first = np.unique(cut, return_index=True)[1]
    console.info(f"      {plural(len(first), 'class', 'classes')} at depth {depth}")
    return cut[estimator.labels_], [paths[i][:depth] for i in first.tolist()]


def _evaluate(
    corpus: Corpus | ShardedText, labels: dict[str, int], name: str, text_format: TextFormat
) -> ClassBigramFigures:
    test = read_corpus(name, text_format, vocabulary=corpus.vocabulary)
    of_id = [labels.get(word, -1) for word in corpus.vocabulary.words]
    return class_bigram_perplexity(count_bigrams(corpus), of_id, test.ids)
