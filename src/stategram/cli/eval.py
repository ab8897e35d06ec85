"""`stategram eval`: the perplexity of a model on a text."""

from __future__ import annotations

import click
import numpy as np
from numpy.typing import NDArray

from stategram.cli.checks import check_inputs, was_given
from stategram.cli.console import Console
from stategram.cli.options import (
    ReadingOptions,
    json_option,
    model_options,
    unknown_option,
    work_options,
)
from stategram.cli.reading import read_model, read_test
from stategram.display import description_text, json_text, plural
from stategram.evaluation import (
    compare_scores,
    describe_comparison,
    describe_perplexity,
    evaluate,
    score_in_pieces,
)
from stategram.models import Scores, UnknownWords
from stategram.storage import expand_urls


@click.command(
    epilog="""\b
Examples:
  stategram eval model test.txt
  stategram eval model test.txt.gz --json
  stategram eval model test.txt --compare other --compare third.arpa
  stategram eval model test.txt --history adaptive
  stategram eval model test.txt --unknown spell
  stategram eval other.arpa.gz test.txt --lowercase
  zcat test.gz | stategram eval model -""",
)
@click.argument("model_name", metavar="MODEL")
@click.argument("tests", nargs=-1, required=True, metavar="TEST...")
@click.option(
    "--compare",
    "others",
    multiple=True,
    metavar="MODEL2",
    help="Show whether MODEL2 is better or worse than MODEL on TEST; may be repeated.",
)
@json_option
@unknown_option
@model_options
@work_options
def eval(
    model_name: str,
    tests: tuple[str, ...],
    others: tuple[str, ...],
    as_json: bool,
    unknown: str,
    reading: ReadingOptions,
    console: Console,
) -> None:
    """Measure the perplexity of MODEL, a model file or an ARPA file, on TEST, all files as one text.

    Unknown words are <unk> unless --unknown chooses otherwise, sentence ends are predicted, sentence starts
    are not. With --unknown spell, perplexities and bits per character can be compared between models with
    different vocabularies. A mixture is shown with its
    parts: the average weight of each and its perplexity alone. A model that can look back beyond the sentence
    is shown with each of its histories, unless --history chooses one. Words are normalized as in the training
    of the model. A text without any word of the vocabulary has no perplexity: that is an error (exit code 3),
    while stategram score gives the probability of <unk> to each of its words.

    Perplexities and their differences have 95% confidence intervals: how far they may be from those of all
    text of the same kind, found by resampling the documents of TEST, or its sentences if it is one document.
    A difference whose interval covers zero is not decided. Figures that are infinite are null in JSON.

    With --compare only the perplexities of the models are shown: of all events if all models have the same
    vocabulary, or with --unknown spell, by the spelling of unknown words; and of the words that all of them
    know. A model that expects more unknown words gains on all events and loses on known words;
    stategram train --heldout fits the probability of <unk>.
    """
    tests = tuple(expand_urls(list(tests)))
    check_inputs([*tests, *(name for name in (model_name, *others) if name == "-")])
    if others:
        _compare([model_name, *others], tests, unknown, as_json, reading, console)
        return
    console.steps = 3
    model = read_model(model_name, console, reading)
    corpus = read_test(model, tests, reading, console)
    with console.step("evaluating"):
        figures = evaluate(model, corpus, unknown=unknown, all_histories=not was_given("history"))
    if figures.above_one:
        console.info(
            f"      note: {plural(figures.above_one, 'event has', 'events have')} a probability above 1: "
            "this model is not normalized"
        )
    click.echo(json_text(figures) if as_json else description_text(describe_perplexity(figures)))


def _compare(
    names: list[str],
    tests: tuple[str, ...],
    unknown: str,
    as_json: bool,
    reading: ReadingOptions,
    console: Console,
) -> None:
    if len(set(names)) < len(names):
        raise click.UsageError("a model is given twice; leave one out")
    if "-" in tests:
        raise click.UsageError("each model reads the text anew, which stdin (-) does not allow; give a file")
    check_inputs(names)
    console.steps = 3 * len(names)
    scores: dict[str, Scores] = {}
    log_probs: dict[str, NDArray[np.float64]] = {}
    for name in names:
        model = read_model(name, console, reading)
        corpus = read_test(model, tests, reading, console)
        with console.step("evaluating"):
            scores[name] = score_in_pieces(model, corpus.in_vocabulary(model.vocabulary))
            if unknown != "unk":
                log_probs[name] = UnknownWords(model, unknown).log_probs(scores[name], corpus)
    found = compare_scores(scores, log_probs)
    found.resampling.warn()
    click.echo(json_text(found) if as_json else description_text(describe_comparison(found)))
