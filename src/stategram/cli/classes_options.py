"""What the options of `stategram classes` must not say together; found before any work is done."""

from __future__ import annotations

import math
from typing import Any

import click

from stategram.cli.checks import check_inputs, check_shared_options, is_same_file, was_given
from stategram.storage import check_place


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
            options["time_limit"] and was_given("effort"),
            "--time-limit and --effort both say how long to look; give one of them",
        ),
        (
            not math.isfinite(options["time_limit"] or 0.0),
            "--time-limit must be a number of seconds",
        ),
    ):
        if wrong:
            raise click.UsageError(message)
    check_shared_options(options)
    _check_places(texts, options)


def _check_places(texts: tuple[str, ...], options: dict[str, Any]) -> None:
    inputs = [*texts, *(options[name] for name in ("evaluate", "vocab_file", "fixed") if options[name])]
    check_inputs([*inputs, *([options["init"]] if options["init"] else [])])
    outputs = [options["output"]] if options["output"] != "-" or not options["evaluate"] else []
    if options["states_output"]:
        outputs.append(options["states_output"])
    for output in outputs:
        if any(is_same_file(output, name) for name in inputs):
            raise click.UsageError(f"the output {output} is an input too; choose another name")
        check_place(output)
    if len(outputs) > 1 and (outputs[0] == outputs[1] or is_same_file(outputs[0], outputs[1])):
        raise click.UsageError("classes and states would go to the same place; choose two")
