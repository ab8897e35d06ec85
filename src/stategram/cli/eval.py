"""`stategram eval`: the perplexity of a model on a text."""

from __future__ import annotations

from dataclasses import asdict

import click
import msgspec

from stategram.cli.checks import check_inputs, was_given
from stategram.cli.console import Console
from stategram.cli.options import ReadingOptions, model_options, unknown_option, work_options
from stategram.cli.reading import read_model, read_test
from stategram.evaluation import PerplexityFigures, evaluate
from stategram.wording import plural


@click.command(
    epilog="""\b
Examples:
  stategram eval model test.txt
  stategram eval model test.txt.gz --json
  stategram eval model test.txt --history adaptive
  stategram eval model test.txt --unknown spell
  stategram eval other.arpa.gz test.txt --lowercase
  zcat test.gz | stategram eval model -""",
)
@click.argument("model_name", metavar="MODEL")
@click.argument("tests", nargs=-1, required=True, metavar="TEST...")
@click.option("--json", "as_json", is_flag=True, help="All figures as JSON; null where one is infinite.")
@unknown_option
@model_options
@work_options
def eval(
    model_name: str,
    tests: tuple[str, ...],
    as_json: bool,
    unknown: str,
    reading: ReadingOptions,
    console: Console,
) -> None:
    """Measure the perplexity of MODEL, a model folder or an ARPA file, on TEST, all files as one text.

    Unknown words are <unk> unless --unknown chooses otherwise, sentence ends are predicted, sentence starts
    are not. With --unknown spell, perplexities and bits per character can be compared between models with
    different vocabularies. A mixture is shown with its
    parts: the average weight of each and its perplexity alone. A model that can look back beyond the sentence
    is shown with each of its histories, unless --history chooses one. Words are normalized as in the training
    of the model. A text without any word of the vocabulary has no perplexity: that is an error (exit code 3),
    while stategram score gives the probability of <unk> to each of its words.
    """
    check_inputs([*tests, *([model_name] if model_name == "-" else [])])
    console.steps = 3
    model = read_model(model_name, console, verify=not reading.no_verify, history=reading.history_name)
    corpus = read_test(model, tests, reading, console)
    with console.step("evaluating"):
        figures = evaluate(model, corpus, unknown=unknown, all_histories=not was_given("history_name"))
    if figures.above_one:
        console.info(
            f"      note: {plural(figures.above_one, 'event has', 'events have')} a probability above 1: "
            "this model is not normalized"
        )
    click.echo(msgspec.json.encode(asdict(figures)).decode() if as_json else _as_table(figures))


def _as_table(figures: PerplexityFigures) -> str:
    words = figures.events - figures.sentences
    is_excluded = figures.unknown_words == "exclude"
    counted = "unknown words are left out" if is_excluded else "<unk> counted as a word"
    lines = [
        f"events                    {figures.events:>12,}   words and sentence ends",
        f"sentences                 {figures.sentences:>12,}",
        f"unknown words             {figures.unknown:>12,}   {figures.unknown / words:.2%} of the words",
        f"perplexity                {_number(figures.perplexity)}   {counted}",
        f"  without unknown words   {_number(figures.perplexity_known)}",
        f"bits per event            {_number(figures.bits)}",
    ]
    if is_excluded:
        del lines[4]
    if figures.perplexity_spelled is not None and figures.bits_per_character is not None:
        left_out = f"   {figures.unspelled:,} <unk> in the text left out" if figures.unspelled else ""
        lines.insert(5, f"  with their spelling     {_number(figures.perplexity_spelled)}{left_out}")
        lines.append(f"bits per character        {_number(figures.bits_per_character)}   with their spelling")
    if figures.zero_probability:
        lines.insert(
            4, f"  zero probability        {figures.zero_probability:>12,}   events that the model rules out"
        )
    if figures.orders:
        lines.append("\nn-gram of       events     share   perplexity")
        lines += [
            f"{one.order} {'word ' if one.order == 1 else 'words'} {one.events:>14,} {one.share:>9.2%} "
            f"{_number(one.perplexity) if one.events else '-':>12}"
            for one in reversed(figures.orders)
        ]
    if figures.parts:
        lines.append("\n      weight   perplexity   part" + (", <unk> counted as a word" * is_excluded))
        lines += [f"{one.weight:>12.4f} {_number(one.perplexity)}   {one.name}" for one in figures.parts]
    if figures.histories:
        lines.append("\nhistory        perplexity   without unknown words")
        lines += [
            f"{one.history:<12} {_number(one.perplexity)}   {_number(one.perplexity_known):>21}"
            for one in figures.histories
        ]
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:>12,.4f}" if value < 1e9 else f"{value:>12.4g}"
