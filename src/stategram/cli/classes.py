"""`stategram classes`: word classes from text."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click
import msgspec
import numpy as np

from stategram.cli.classes_options import check_options
from stategram.cli.console import Console
from stategram.cli.interrupt import finish_on_interrupt
from stategram.cli.options import TextOptions, common_options, text_options
from stategram.cli.reading import read_text
from stategram.clustering import CRITERIA, EFFORTS, WordClasses, build_hierarchy
from stategram.counts import count_bigrams
from stategram.evaluation import ClassBigramFigures, class_bigram_perplexity
from stategram.formats import CLASS_FORMATS, read_classes, write_classes
from stategram.text import Corpus, read_corpus
from stategram.wording import plural


@click.command(
    short_help="Find word classes in a text.",
    epilog="""\b
Examples:
  stategram classes text.txt -k 500 > classes.tsv
  stategram classes *.txt.gz -k 1000 --vocab 50000 --lowercase -o classes.tsv
  stategram classes text.txt -k 500 --format brown -o paths.txt
  stategram classes text.txt -k 500 --time-limit 60 --evaluate test.txt
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
    help="Where to write; - is stdout, the default. .gz .xz .bz2 .zst are compressed.",
)
@click.option(
    "--format", type=click.Choice(CLASS_FORMATS), default="tsv", show_default=True, help="Form of the output."
)
@click.option(
    "--criterion",
    type=click.Choice(CRITERIA),
    default="tied",
    show_default=True,
    help="tied: p(G(w)|G(w-1)). predictive: p(G(w)|w-1). two-sided: p(G(w)|S(w-1)); see --states-output.",
)
@click.option(
    "--states", "n_states", type=click.IntRange(min=1), metavar="N", help="States of two-sided.  [default: K]"
)
@click.option("--states-output", metavar="FILE", help="Where to write the states of two-sided, as tsv.")
@click.option(
    "--effort",
    type=click.Choice(list(EFFORTS)),
    default="normal",
    show_default=True,
    help="How hard to look.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Look for so long, instead of --effort.",
)
@click.option(
    "--min-count",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Rarer words do not shape the classes; each joins one at the end.",
)
@click.option(
    "--init",
    metavar="FILE",
    help="Begin with the classes of this file, of any format; words that TEXT lacks keep theirs.",
)
@click.option(
    "--fixed", metavar="FILE", help="Words of this file keep together, and apart, as they are there."
)
@click.option(
    "--depth",
    type=click.IntRange(min=1),
    metavar="D",
    help="Merge classes whose first D bits in the class hierarchy are the same.",
)
@click.option(
    "--evaluate",
    metavar="TEST",
    help="Print the class-bigram perplexity of this text instead of the classes (-o writes them still).",
)
@click.option("--json", "as_json", is_flag=True, help="With --evaluate: all figures as JSON.")
@text_options
@common_options
def classes(texts: tuple[str, ...], **options: Any) -> None:
    """Find word classes in TEXT: files with a sentence a line, words separated by white space.

    Files may be compressed (.gz .xz .bz2 .zst); - is stdin. Ctrl-C ends early with the best classes so far.
    """
    check_options(texts, options)
    init = read_classes(options["init"]) if options["init"] else {}
    fixed = read_classes(options["fixed"]) if options["fixed"] else {}
    given = len({*init.values(), *fixed.values()})
    if options["n_classes"] and options["n_classes"] < given:
        raise click.UsageError(
            f"--init and --fixed name {given} classes, -k {options['n_classes']} is fewer; "
            f"give -k {given} or more, or leave it out"
        )
    console = Console(
        quiet=options["quiet"],
        verbose=options["verbose"],
        steps=2 + _wants_hierarchy(options) + bool(options["evaluate"]),
    )
    corpus = read_text(texts, TextOptions.from_values(options), console)
    estimator = WordClasses(
        options["n_classes"],
        criterion=options["criterion"],
        n_states=options["n_states"],
        effort=options["effort"],
        time_limit=options["time_limit"],
        min_count=options["min_count"],
        init=init,
        fixed=fixed,
        random_state=options["seed"],
    )
    _fit(estimator, corpus, console)
    labels, bit_paths = _cut(estimator, options, console)
    if not options["evaluate"] or options["output"] != "-":
        write_classes(
            options["output"],
            estimator.words_,
            labels,
            estimator.counts_,
            format=options["format"],
            bit_paths=bit_paths,
        )
    if options["states_output"]:
        write_classes(
            options["states_output"],
            estimator.contexts_,
            estimator.states_,
            estimator.context_counts_,
        )
    if options["evaluate"]:
        figures = _evaluate(
            corpus, dict(zip(estimator.words_, labels.tolist(), strict=True)), options, console
        )
        click.echo(_as_json(figures) if options["as_json"] else _as_table(figures))


def _fit(estimator: WordClasses, corpus: Corpus, console: Console) -> None:
    with (
        finish_on_interrupt(console.say, "classes") as stop,
        console.step(f"clustering ({estimator.criterion})") as report,
    ):
        estimator.fit(corpus, progress=report, stop=stop)
    for sweep in estimator.history_:
        console.detail(
            f"      sweep {sweep.number:3}  {sweep.step:8}  temperature {sweep.temperature:.3f}  "
            f"{sweep.moves:8,} moves  criterion {sweep.criterion:,.1f}  perplexity {sweep.perplexity:,.2f}  "
            f"{sweep.seconds:,.2f} s"
        )
    found = len(estimator.classes_)
    console.say(
        f"      {plural(found, 'class', 'classes')}, "
        f"mutual information {estimator.mutual_information_:.4f} bits, "
        f"training perplexity {estimator.perplexity_:,.2f}, {plural(len(estimator.history_), 'sweep')}"
    )
    if estimator.n_classes and found < estimator.n_classes:
        console.say(f"      fewer than {estimator.n_classes:,}: more classes would gain nothing on this text")


def _wants_hierarchy(options: dict[str, Any]) -> bool:
    return options["depth"] is not None or options["format"] in ("brown", "json")


def _cut(estimator: WordClasses, options: dict[str, Any], console: Console) -> tuple[Any, list[str] | None]:
    """Labels and bit paths as the output wants them."""
    if not _wants_hierarchy(options):
        return estimator.labels_, None
    counts = estimator.class_bigrams_
    with console.step("building the class hierarchy") as report:
        hierarchy = build_hierarchy(
            counts,
            len(counts) - 1,
            progress=lambda done, total: report(done / total, f"{done:,} of {total:,} mergers"),
        )
    paths = hierarchy.bit_paths()
    depth = options["depth"]
    if depth is None:
        return estimator.labels_, paths
    cut = hierarchy.cut_depth(depth)
    first = np.unique(cut, return_index=True)[1]
    labels = cut[estimator.labels_]
    console.say(f"      {plural(len(first), 'class', 'classes')} at depth {depth}")
    return labels, [paths[i][:depth] for i in first.tolist()]


def _evaluate(
    corpus: Corpus, labels: dict[str, int], options: dict[str, Any], console: Console
) -> ClassBigramFigures:
    with console.step(f"evaluating on {options['evaluate']}"):
        test = read_corpus(
            options["evaluate"],
            vocabulary=corpus.vocabulary,
            lowercase=options["lowercase"],
            digits=options["digits"],
            encoding_errors=options["encoding_errors"],
        )
        of_id = [labels.get(word, -1) for word in corpus.vocabulary.words]
        bigrams = count_bigrams(corpus)
        return class_bigram_perplexity(bigrams.successors, of_id, test.ids)


def _as_json(figures: ClassBigramFigures) -> str:
    return msgspec.json.encode(asdict(figures)).decode()


def _as_table(figures: ClassBigramFigures) -> str:
    return "\n".join(
        (
            "p(G(w)|G(w-1)) p(w|G(w)), the class bigram of these classes",
            f"classes                        {figures.classes}",
            f"mutual information, training   {figures.ami:.4f} bits",
            f"perplexity, training           {figures.train_perplexity:.4f}",
            f"events, test                   {figures.test_events}",
            f"unknown words, test            {figures.unknown} as <unk>, {figures.skipped} skipped",
            f"perplexity, test               {figures.perplexity_ad:.4f}",
            f"  without unknown words        {figures.known_perplexity_ad:.4f}",
            f"  Kneser-Ney                   {figures.perplexity_kn:.4f}",
            f"  as p(G(w)|w-1) p(w|G(w))     {figures.predictive_chain:.4f}",
        )
    )
