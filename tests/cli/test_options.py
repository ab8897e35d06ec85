"""What options are called: one meaning per name in all commands, and not too many of them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

import click
import pytest

from stategram.cli.entry import cli

# Outputs differ from command to command. --classes is a class file: train reads it, export writes it.
# The format of select is that of its input, too.
DIFFERENT_HELP = {"-o", "--output", "--arpa", "--classes", "--format"}
# The formats of tables, counts, classes and pools.
DIFFERENT_CHOICES = {"--format"}


def options() -> Iterator[tuple[str, str, click.Option]]:
    """Yield the options of all commands: command, name, option."""
    context = click.Context(cli)
    for command_name in cli.list_commands(context):
        command = cli.get_command(context, command_name)
        assert command is not None
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                for name in parameter.opts:
                    yield command_name, name, parameter


def signature(name: str, option: click.Option) -> tuple[object, ...]:
    """Return what must be the same wherever an option of this name is.

    Only for the text of a model a choice may be none, as the default is that of the training.
    """
    kind: object = option.type.name
    if isinstance(option.type, click.Choice) and name not in DIFFERENT_CHOICES:
        kind = [one for one in option.type.choices if one != "none"]
    return str(kind), option.metavar, option.is_flag, option.multiple


def meaning(option: click.Option) -> str:
    """Return the help without the default, and without the word for none, which may differ."""
    return re.sub(r'(; "" for none)?\.?(  (none: [^\[]*)?\[.*\])?$', "", option.help or "")


def shared() -> dict[str, list[tuple[str, click.Option]]]:
    """Return the names that several commands have."""
    found = defaultdict(list)
    for command, name, option in options():
        found[name].append((command, option))
    return {name: uses for name, uses in found.items() if len(uses) > 1}


@pytest.mark.parametrize("name", shared())
def test_a_name_has_one_meaning(name: str) -> None:
    uses = shared()[name]
    signatures = defaultdict(list)
    meanings = defaultdict(list)
    for command, option in uses:
        signatures[signature(name, option)].append(command)
        meanings[meaning(option)].append(command)
    assert len(signatures) == 1, dict(signatures)
    assert len(meanings) == 1 or name in DIFFERENT_HELP, dict(meanings)


@pytest.mark.parametrize(
    ("command", "most"), [("train", 31), ("classes", 23), ("score", 23), ("export", 21), ("select", 25)]
)
def test_a_command_has_few_options(command: str, most: int) -> None:
    names = [option.name for name, _, option in options() if name == command]
    assert len(set(names)) + 1 <= most  # --help


def test_there_are_sixteen_commands() -> None:
    assert len(cli.list_commands(click.Context(cli))) == 16
