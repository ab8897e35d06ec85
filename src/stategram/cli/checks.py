"""Checks that several commands make before any work is done."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from stategram.errors import StategramError
from stategram.storage import check_place, is_url
from stategram.text import file_sizes


def check_inputs(names: Sequence[str]) -> None:
    """Raise a usage error if stdin is given twice, an error if a file does not exist."""
    if list(names).count("-") > 1:
        raise click.UsageError("stdin (-) can be read only once; use files for the other inputs")
    for name in names:
        if name != "-" and not is_url(name) and not Path(name).exists():
            raise StategramError(f"{name}: no such file; check the name")
    file_sizes([name for name in names if is_url(name)])


def check_output_file(output: str | None, inputs: Sequence[str]) -> None:
    """Refuse an output that cannot be written or would overwrite an input, before any work is done."""
    if output is not None:
        for name in inputs:
            check_output_apart(output, name)
        check_place(output)


def check_output_apart(output: str, model_name: str) -> None:
    """Raise a usage error if an output would overwrite an input, or a file of counts that are one."""
    if is_same_file(output, model_name):
        raise click.UsageError(f"the output {output} is an input too; choose another name")
    if output != "-" and Path(model_name).is_dir():
        folder = os.path.realpath(model_name)
        if Path(os.path.realpath(output)).is_relative_to(folder):
            raise click.UsageError(f"the output {output} is in the input {model_name}; choose another place")


def is_same_file(output: str, name: str) -> bool:
    """Return whether writing one file would overwrite the other."""
    if "-" in (output, name) or is_url(name):
        return False
    return os.path.realpath(output) == os.path.realpath(name) and (
        not Path(output).exists() or Path(output).is_file()
    )


def was_given(name: str) -> bool:
    """Return whether an option is on the command line; otherwise its value is the default."""
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


def refuse_options(names: Iterable[str], why: str) -> None:
    """Raise a usage error if one of these options is on the command line."""
    for name in filter(was_given, names):
        raise click.UsageError(f"{option_name(name)} {why}")


def option_name(parameter: str) -> str:
    """Return the name of an option on the command line."""
    return "--" + parameter.replace("_", "-")
