"""What several commands check before any work is done."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

__all__ = ["check_inputs", "check_shared_options", "is_same_file"]


def check_shared_options(options: dict[str, Any]) -> None:
    """Raise a usage error for shared options that contradict each other."""
    for wrong, message in (
        (
            options.get("vocab") and options.get("vocab_file"),
            "--vocab and --vocab-file both choose the words; give one of them",
        ),
        (
            options.get("quiet") and options.get("verbose"),
            "--quiet and --verbose contradict each other; give one of them",
        ),
    ):
        if wrong:
            raise click.UsageError(message)


def check_inputs(names: Sequence[str]) -> None:
    """Raise a usage error if stdin is named twice, an error if a file is not there."""
    if list(names).count("-") > 1:
        raise click.UsageError("stdin (-) can be read only once; give a file for the others")
    for name in names:
        if name != "-" and not Path(name).exists():
            raise click.FileError(name, "no such file; check the name")


def is_same_file(output: str, name: str) -> bool:
    """Whether writing one file would overwrite the other."""
    if "-" in (output, name):
        return False
    return Path(output).resolve() == Path(name).resolve() and (
        not Path(output).exists() or Path(output).is_file()
    )
