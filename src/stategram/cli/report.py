"""`stategram report`: a model as an HTML page."""

from __future__ import annotations

from pathlib import Path

import click

from stategram.cli.checks import check_inputs, check_outputs, was_given
from stategram.cli.console import Console
from stategram.cli.options import ReadingOptions, model_options, work_options
from stategram.cli.reading import format_for, read_model_and_manifest, read_test
from stategram.evaluation import PerplexityFigures, evaluate
from stategram.explore.pages import check_report_extra, is_report, model_html
from stategram.models import Model
from stategram.storage import COMPRESSED_SUFFIXES, atomic_write, input_files
from stategram.text import Corpus, LineBlock, block_of_sentences

_SUFFIXES = (*COMPRESSED_SUFFIXES, ".arpa", ".safetensors")


@click.command(
    epilog="""\b
Examples:
  stategram report model
  stategram report model --test test.txt -o report.html
  stategram report other.arpa.gz --test test.txt --lowercase
  stategram report model --sentence "the cat sat on the mat"
  stategram report model -o - > report.html""",
)
@click.argument("model_name", metavar="MODEL")
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    help="The HTML file; - is stdout.  [default: next to MODEL, model.html for model.safetensors and "
    "model.arpa.gz]",
)
@click.option(
    "--test",
    "tests",
    multiple=True,
    metavar="TEXT",
    help="Also measure the perplexity of this text; repeat the option for a text in several files.",
)
@click.option(
    "--sentence",
    "sentences",
    multiple=True,
    metavar="WORDS",
    help="Show the surprisal of each word of this sentence; may be repeated.  [default: a sentence of the "
    "test text, or one that the model makes up]",
)
@model_options
@work_options
def report(
    model_name: str,
    output: str | None,
    tests: tuple[str, ...],
    sentences: tuple[str, ...],
    reading: ReadingOptions,
    console: Console,
) -> None:
    """Write a report on MODEL, a model file or an ARPA file: one HTML file that needs no network.

    It shows what the model is and how it was trained, what each part of a mixture contributes, frequent
    n-grams and what follows them, representative states and categories, and a sentence word by word. An
    existing report is replaced. Reports need an extra: pip install "stategram[report]".
    """
    check_inputs([*tests, *([model_name] if model_name == "-" else [])])
    place = output if output is not None else _beside(model_name)
    check_outputs([place], [*tests, model_name])
    if output is None and Path(place).is_file() and not is_report(Path(place)):
        raise click.UsageError(f"{place} exists and is not a report of stategram; use -o OUT")
    check_report_extra()
    console.steps = 4 if tests else 2
    model, manifest = read_model_and_manifest(
        model_name, console, verify=not reading.no_verify, history=reading.history_name
    )
    given = _given(model, sentences, reading, console) if sentences else None
    text = read_test(model, tests, reading, console) if tests else None
    figures = _test_figures(model, text, console) if text else None
    with console.step(f"writing {'to stdout' if place == '-' else place}") as progress:
        read = [] if manifest is not None else [("ARPA file", model_name)]
        read += [("test", name) for name in tests]
        page = model_html(
            model,
            Path(model_name).resolve().name if model_name != "-" else "stdin",
            manifest=manifest,
            test=figures,
            test_history=reading.history_name
            if was_given("history_name") and reading.history_name in model.histories
            else None,
            text=text,
            sentences=given,
            files=input_files(read, progress),
            n_bytes=Path(model_name).stat().st_size if model_name != "-" else None,
        )
        atomic_write(place, page.encode())


def _beside(model_name: str) -> str:
    """Return the default name of a report: that of the model, .html in place of its suffixes."""
    if model_name == "-":
        raise click.UsageError("a model from stdin has no name for its report; use -o OUT")
    path = Path(model_name)
    while path.suffix in _SUFFIXES:
        path = path.with_suffix("")
    return f"{path}.html"


def _test_figures(model: Model, text: Corpus, console: Console) -> PerplexityFigures:
    with console.step("evaluating"):
        return evaluate(model, text, all_histories=not was_given("history_name"))


def _given(model: Model, sentences: tuple[str, ...], reading: ReadingOptions, console: Console) -> LineBlock:
    """Return the sentences of the command line; words are normalized as in the training of the model."""
    text_format = format_for(model, reading, console)
    given = block_of_sentences(sentences, text_format)
    if given.corpus.n_events == 0:
        raise click.UsageError("--sentence has no words; give a sentence in quotation marks")
    return given
