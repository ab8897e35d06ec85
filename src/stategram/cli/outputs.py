"""Models that commands write: a model file, or an ARPA file if the name says so."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from stategram.cli.checks import check_output_apart
from stategram.cli.console import Console
from stategram.display import plural
from stategram.errors import BadDataError, StategramError
from stategram.formats import has_arpa_name, write_arpa
from stategram.models import Model, NgramModel, model_size
from stategram.progress import subprogress
from stategram.resources import Resources
from stategram.storage import archive_kind, check_archive_place, check_place, input_files

_MIN_ORDER_OF_KENLM = 2
_DEFAULT_MAX_ORDER_OF_KENLM = 6
# Of a command, and of each of its inputs besides its name.
_BYTES_OF_COMMAND, _BYTES_PER_INPUT = 2048, 256


def is_arpa_name(output: str) -> bool:
    """Whether the name of an output is that of an ARPA file; stdout is one."""
    return output == "-" or has_arpa_name(output)


def check_output(output: str, inputs: Sequence[str], *, arpa: bool, force: bool) -> None:
    """Refuse an output that cannot be written, is an input, or is there already, before any work is done."""
    if not output.strip():
        raise click.UsageError("the name of the model is empty; give a file")
    for name in inputs:
        check_output_apart(output, name)
    if arpa:
        check_place(output)
    else:
        check_archive_place(output)
        if archive_kind(output) not in ("model", None):
            raise StategramError(f"{output} exists and is not a model; choose another name")
    check_not_there(output, force=force)


def check_not_there(output: str, *, force: bool) -> None:
    """Refuse to replace a file that is not empty, unless asked to."""
    path = Path(output)
    if path.is_file() and path.stat().st_size > 0 and not force:
        raise click.UsageError(f"there is a file {output} already; --force replaces it")


def ngram_model(model: Model, name: str) -> NgramModel:
    """Return a model if it can be an ARPA file, or be merged into one."""
    if (ngrams := model.word_ngrams) is None:
        raise BadDataError(
            f"{name}: {model!r}; only a model of n-grams can be an ARPA file: write a model file, or make "
            "an n-gram model of it first (stategram export --arpa)"
        )
    return ngrams


def write_output(
    model: Model,
    output: str,
    inputs: Sequence[tuple[str, str]],
    console: Console,
    *,
    arpa: bool,
    force: bool,
) -> None:
    """Write a model made of inputs, (use, name), as the next step of the console; say how large it is."""
    with console.step(f"writing {output}") as progress:
        if arpa:
            ngram = ngram_model(model, output)
            write_arpa(ngram, output, progress=progress)
        else:
            files = input_files(inputs, subprogress(progress, 0.0, 0.5))
            model.save(output, manifest={"inputs": list(map(asdict, files))}, overwrite=force)
    if arpa:
        note_order(ngram, console)
    path = Path(output)
    size = f"{plural(path.stat().st_size, 'byte')}: " if path.is_file() else ""
    console.info(f"      {size}{model!r}")


def note_order(ngram: NgramModel, console: Console) -> None:
    """Show a note on an ARPA file that KenLM does not read."""
    if ngram.order < _MIN_ORDER_OF_KENLM:
        console.info("      note: KenLM reads models of at least two words; train with --order 2 or more")
    elif ngram.order > _DEFAULT_MAX_ORDER_OF_KENLM:
        console.info(
            f"      note: KenLM reads n-grams of up to {_DEFAULT_MAX_ORDER_OF_KENLM} words unless it was "
            f"built for more; for {ngram.order}: cmake -DKENLM_MAX_ORDER={ngram.order}"
        )


def size_in(output: str, inputs: Sequence[str], *, arpa: bool) -> Callable[[Model], int]:
    """Return what measures the bytes that a model has as an output of a command with these inputs."""
    if arpa:
        return lambda model: _arpa_size(model, Path(output).name)
    entries = bytes_of_command(inputs)
    return lambda model: model_size(model) + entries


def bytes_of_command(inputs: Sequence[str]) -> int:
    """Return the maximum size of a command and its inputs in a manifest, a string of JSON in JSON."""
    return _BYTES_OF_COMMAND + sum(_BYTES_PER_INPUT + len(json.dumps(json.dumps(name))) for name in inputs)


def _arpa_size(model: Model, name: str) -> int:
    with tempfile.TemporaryDirectory(dir=Resources.current().tmp) as place:
        file = Path(place, name if name != "-" else "arpa")
        write_arpa(ngram_model(model, name), file)
        return file.stat().st_size
