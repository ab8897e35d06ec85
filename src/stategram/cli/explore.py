"""`stategram explore`: a page to look inside a model."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from stategram.cli.checks import check_inputs, check_output_file, refuse_options, was_given
from stategram.cli.console import Console
from stategram.cli.options import ReadingOptions, model_options, output_option, work_options
from stategram.cli.reading import format_for, read_model_and_manifest, show_read_stats
from stategram.display import printable
from stategram.explore.app import ExploredModel, Explorer, listen, saved_page, serve
from stategram.explore.pages import check_libraries
from stategram.storage import atomic_write, input_files
from stategram.text import Corpus, read_corpora

# The beginning of a text that the page shows first.
_SAMPLE_WORDS, _SAMPLE_CHARACTERS = 300, 6000


@click.command(
    epilog="""\b
Examples:
  stategram explore model
  stategram explore model --text test.txt
  stategram explore model other-model --text test.txt
  stategram explore model --text test.txt -o page.html
  stategram explore model --no-browser --port 8080""",
)
@click.argument("model_names", metavar="MODEL [MODEL2]", nargs=-1, required=True)
@click.option(
    "--text",
    "texts",
    multiple=True,
    metavar="TEXT",
    help="A text to measure, to read, and to compare two models on; repeat it for a text in several files.  "
    "[default: sentences that MODEL makes up]",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="The port on 127.0.0.1; 0 for any that is free.  [default: 8421, or else one that is free]",
)
@click.option("--no-browser", is_flag=True, help="Do not open the browser.")
@output_option(
    "Write the views as one HTML file that can be mailed, and do not start a server: with the beginning of "
    "TEXT and the largest classes and states; - is stdout.",
    required=False,
)
@model_options
@work_options
def explore(
    model_names: tuple[str, ...],
    texts: tuple[str, ...],
    port: int | None,
    no_browser: bool,
    output: str | None,
    reading: ReadingOptions,
    console: Console,
) -> None:
    """Look inside MODEL, a model file or an ARPA file, in the browser; or at two models side by side.

    Linked views: an overview of its size, figures and provenance, a text with its surprisal, the map and
    the tree of word classes, states of contexts, predictions from the unigram to the whole model, and two
    models on one text. The page is served to this machine only, and needs no network. Ctrl-C stops it.
    The server needs an extra, a page written with -o does not: pip install "stategram[explore]".
    """
    if len(model_names) > 2:
        raise click.UsageError("at most two models can be explored; texts are given with --text")
    check_inputs([*texts, *(name for name in model_names if name == "-")])
    if output is not None:
        refuse_options(("port", "no_browser"), "cannot be combined with --output")
        check_output_file(output, [*texts, *model_names])
        explorer = _explorer(model_names, texts, reading, console)
        with console.step(f"writing {'to stdout' if output == '-' else output}") as progress:
            atomic_write(output, saved_page(explorer, progress).encode())
        return
    check_libraries("the explorer", ("starlette", "uvicorn"))
    # Before any long work: a port that is taken is an error at once.
    with listen(port) as listening:
        explorer = _explorer(model_names, texts, reading, console)
        with console.step("figures, classes and states") as progress:
            explorer.prepare(progress)

        def started(address: str) -> None:
            click.echo(address)
            console.info("Ctrl-C stops it")

        serve(explorer, listening, open_browser=not no_browser and sys.stdout.isatty(), started=started)


def _explorer(
    model_names: tuple[str, ...], texts: tuple[str, ...], reading: ReadingOptions, console: Console
) -> Explorer:
    console.steps = len(model_names) + bool(texts) + 1
    opened = [read_model_and_manifest(name, console, reading) for name in model_names]
    models = [model for model, _ in opened]
    corpora: Sequence[Corpus | None] = [None] * len(models)
    sample = ""
    if texts:
        formats = [format_for(model, reading, console) for model in models]
        models = [replace(model, training_format=one) for model, one in zip(models, formats, strict=True)]
        with console.step("reading") as progress:
            corpora, head = read_corpora(texts, formats, head=4 * _SAMPLE_CHARACTERS, progress=progress)
        show_read_stats(corpora[0], console)
        sample = _sample(head)
    history = reading.history if was_given("history") else ""
    files = input_files(("text", name) for name in texts)
    return Explorer(
        [
            ExploredModel(
                _name(name),
                model,
                corpus,
                manifest or {},
                Path(name).stat().st_size if name != "-" else None,
                [*(() if manifest is not None else input_files([("ARPA file", name)])), *files],
                history=history if history in model.histories else "",
            )
            for name, model, corpus, (_, manifest) in zip(model_names, models, corpora, opened, strict=True)
        ],
        ", ".join(map(_name, texts)),
        sample,
    )


def _name(name: str) -> str:
    """Return a name as people know it: that of the file or folder without those above it."""
    return printable(Path(name).resolve().name) if name != "-" else "stdin"


def _sample(head: bytes) -> str:
    """Return the first lines of a raw text, with line ends as a browser keeps them."""
    text = head.decode("utf-8-sig", errors="replace").replace("\0", "\ufffd")
    lines: list[str] = []
    n_words = 0
    for line in text.replace("\r\n", "\n").replace("\r", " ").split("\n"):
        words = line.split()
        if n_words and n_words + len(words) > _SAMPLE_WORDS:
            break
        lines.append(line if len(words) <= _SAMPLE_WORDS else " ".join(words[:_SAMPLE_WORDS]))
        n_words += len(words)
    return "\n".join(lines)[:_SAMPLE_CHARACTERS].strip("\n")
