"""Texts and models, read as a step of a command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from stategram.cli.console import Console
from stategram.cli.options import TextOptions
from stategram.formats import open_model
from stategram.models import Model
from stategram.progress import Progress
from stategram.text import (
    SPECIAL_WORDS,
    Corpus,
    Normalization,
    Vocabulary,
    read_corpus,
)
from stategram.wording import plural

_MUCH_OF_A_FOLDER = 500_000_000
_MUCH_OF_A_FILE = 20_000_000


def read_text(texts: Sequence[str], text: TextOptions, console: Console) -> Corpus:
    """Read training texts, all as one, as the next step of the console."""
    vocabulary = Vocabulary.from_file(text.vocab_file) if text.vocab_file else None
    with console.step("reading") as progress:
        corpus = _read(texts, vocabulary, text.vocab, text, progress)
    known = plural(len(corpus.vocabulary) - len(SPECIAL_WORDS), "word")
    _say_size(corpus, f"a vocabulary of {known}, ", console)
    return corpus


def read_heldout(name: str, corpus: Corpus, text: TextOptions, console: Console) -> Corpus:
    """Read the held-out text as the training text, `corpus`, was read."""
    with console.step("reading the held-out text") as progress:
        heldout = _read([name], corpus.vocabulary, None, text, progress)
    _say_size(heldout, "", console)
    return heldout


def _read(
    texts: Sequence[str],
    vocabulary: Vocabulary | None,
    vocabulary_size: int | None,
    text: TextOptions,
    progress: Progress,
) -> Corpus:
    return read_corpus(
        list(texts),
        vocabulary=vocabulary,
        vocabulary_size=vocabulary_size,
        lowercase=text.lowercase,
        digits=text.digits,
        encoding_errors=text.encoding_errors,
        progress=progress,
    )


def _say_size(corpus: Corpus, known: str, console: Console) -> None:
    words, sentences = corpus.n_events - corpus.n_sentences, corpus.n_sentences
    console.say(
        f"      {plural(words, 'word')} in {plural(sentences, 'sentence')}, {known}"
        f"{corpus.n_unknown:,} unknown"
    )
    say_what_was_met(corpus, console)


def say_what_was_met(corpus: Corpus, console: Console) -> None:
    """Say what was replaced and dropped while a text was read."""
    if corpus.stats.n_replaced:
        console.say(f"      {plural(corpus.stats.n_replaced, 'bad part')} replaced by U+FFFD")
    if corpus.stats.n_dropped:
        console.say(f"      {plural(corpus.stats.n_dropped, 'sentence marker')} <s> or </s> dropped")


def read_model(name: str, options: dict[str, Any], console: Console) -> Model:
    """Open a model folder or an ARPA file, as the next step of the console."""
    with console.step(f"opening {name}") as report:
        model = open_model(
            name,
            verify=not options.get("no_verify"),
            progress=report,
        )
    if not options.get("quiet"):  # even where the steps are not shown
        for note in model.notes:
            click.echo(f"      note: {note}", err=True)
    console.detail(f"      {model!r}")
    return model


def takes_time(name: str) -> bool:
    """Whether a model may take more than a second or two to open."""
    path = Path(name)
    if path.is_dir():
        return sum(file.stat().st_size for file in path.iterdir() if file.is_file()) > _MUCH_OF_A_FOLDER
    return not path.is_file() or path.stat().st_size > _MUCH_OF_A_FILE


def read_test(model: Model, tests: Sequence[str], options: dict[str, Any], console: Console) -> Corpus:
    """Read texts, all as one, in the words of a model, as the next step of the console."""
    normalization = normalization_of(model, options, console)
    with console.step("reading") as report:
        corpus = read_corpus(
            list(tests),
            vocabulary=model.vocabulary,
            lowercase=normalization.lowercase,
            digits=normalization.digits,
            encoding_errors=options["encoding_errors"],
            progress=report,
        )
    say_what_was_met(corpus, console)
    return corpus


def normalization_of(model: Model, options: dict[str, Any], console: Console) -> Normalization:
    """Give what is done with words: as in the training of the model, unless options say otherwise."""
    normalization = Normalization.from_recipe(model.metadata)
    if normalization.lowercase and options["lowercase"] is None:
        console.say("      words in lower case, as in training")
    if normalization.digits and options["digits"] is None:
        console.say(f"      {normalization.digits} for numbers, as in training")
    if options["lowercase"] is not None:
        normalization = replace(normalization, lowercase=options["lowercase"])
    if options["digits"] is not None:
        normalization = replace(normalization, digits=options["digits"] or None)
    return normalization
