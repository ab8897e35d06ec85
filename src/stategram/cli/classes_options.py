"""What the options of `stategram classes` must not say together; found before any work is done."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from stategram.storage import check_place

__all__ = ["check_options"]


def check_options(texts: tuple[str, ...], options: dict[str, Any]) -> None:
    """Raise a usage error for options that contradict each other, and for outputs that cannot be written."""
    for wrong, message in (
        (
            options["n_states"] and options["criterion"] != "two-sided",
            "--states goes with --criterion two-sided",
        ),
        (
            options["states_output"] and options["criterion"] != "two-sided",
            "--states-output goes with --criterion two-sided",
        ),
        (
            options["as_json"] and not options["evaluate"],
            "--json goes with --evaluate; for the classes as JSON: --format json",
        ),
        (
            options["vocab"] and options["vocab_file"],
            "--vocab and --vocab-file both choose the words; give one of them",
        ),
        (
            options["quiet"] and options["verbose"],
            "--quiet and --verbose contradict each other; give one of them",
        ),
        (
            options["time_limit"] and _was_given("effort"),
            "--time-limit and --effort both say how long to look; give one of them",
        ),
        (
            not math.isfinite(options["time_limit"] or 0.0),
            "--time-limit must be a number of seconds",
        ),
    ):
        if wrong:
            raise click.UsageError(message)
    _check_places(texts, options)


def _check_places(texts: tuple[str, ...], options: dict[str, Any]) -> None:
    inputs = [*texts, *(options[name] for name in ("evaluate", "vocab_file", "fixed") if options[name])]
    if [*inputs, options["init"]].count("-") > 1:
        raise click.UsageError("stdin (-) can be read only once; give a file for the others")
    for name in (*inputs, *([options["init"]] if options["init"] else [])):
        if name != "-" and not Path(name).exists():
            raise click.FileError(name, "no such file; check the name")
    outputs = [options["output"]] if options["output"] != "-" or not options["evaluate"] else []
    if options["states_output"]:
        outputs.append(options["states_output"])
    for output in outputs:
        if any(_same(output, name) for name in inputs):
            raise click.UsageError(f"the output {output} is an input too; choose another name")
        check_place(output)
    if len(outputs) > 1 and (outputs[0] == outputs[1] or _same(outputs[0], outputs[1])):
        raise click.UsageError("classes and states would go to the same place; choose two")


def _same(output: str, name: str) -> bool:
    if "-" in (output, name):
        return False
    return Path(output).resolve() == Path(name).resolve() and (
        not Path(output).exists() or Path(output).is_file()
    )


def _was_given(name: str) -> bool:
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE
