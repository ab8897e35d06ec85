"""What commands share: typed options, resources, and what is shown on stderr."""

from __future__ import annotations

import io
import logging
import sys

import click
import pytest
from click.testing import CliRunner, Result

from stategram.cli.console import Console
from stategram.cli.options import (
    ReadingOptions,
    TextOptions,
    common_options,
    history_options,
    memory_options,
    model_options,
    text_options,
    work_options,
)
from stategram.resources import Resources
from stategram.text import TextFormat

LIBRARY = logging.getLogger("stategram.somewhere")


def invoke(command: click.Command, *arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def test_options_of_a_text_are_one_record() -> None:
    found: list[TextOptions] = []

    @click.command()
    @text_options
    def command(text: TextOptions) -> None:
        found.append(text)

    assert invoke(command, "--vocab", "5", "--lowercase", "--digits", "N").exit_code == 0
    assert invoke(command).exit_code == 0
    assert found == [
        TextOptions(TextFormat(lowercase=True, digits="N"), 5, None),
        TextOptions(TextFormat(), None, None),
    ]
    done = invoke(command, "--vocab", "5", "--vocab-file", "words")
    assert done.exit_code == 2
    assert "--vocab and --vocab-file both choose the words" in done.output
    assert len(found) == 2


def test_options_of_a_model_are_one_record() -> None:
    found: list[ReadingOptions] = []

    @click.command()
    @model_options
    def command(reading: ReadingOptions) -> None:
        found.append(reading)

    @click.command()
    @history_options
    def other(reading: ReadingOptions) -> None:
        found.append(reading)

    arguments = ["--no-lowercase", "--digits", "", "--tokenize", "none", "--no-verify"]
    assert invoke(command, *arguments, "--encoding-errors", "replace").exit_code == 0
    assert invoke(other).exit_code == 0
    assert invoke(other, "--digits", "none").exit_code == 0
    given = {"lowercase": False, "digits": None, "tokenize": None, "encoding_errors": "replace"}
    word = ReadingOptions({"digits": "none"})
    assert found == [ReadingOptions(given, verify=False), ReadingOptions(), word]


def test_a_command_runs_within_its_resources() -> None:
    found: list[Resources] = []

    @click.command()
    @memory_options
    @common_options
    def command(seed: int, console: Console) -> None:
        assert seed == 7
        found.append(Resources.current())

    assert invoke(command, "--threads", "3", "--memory", "2G", "--tmp", "/x", "--seed", "7").exit_code == 0
    assert (found[0].threads, found[0].memory, str(found[0].tmp)) == (3, 2**31, "/x")
    assert Resources.current().memory is None


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ([], "[1/2] reading\n      a result\n      note: a warning\n"),
        (["-v"], "[1/2] reading\n      a detail\n      a result\n      note: a warning\n"),
        (["-q"], ""),
    ],
)
def test_messages_of_the_library_are_shown(option: list[str], expected: str) -> None:
    @click.command()
    @work_options
    def command(console: Console) -> None:
        console.steps = 2
        with console.step("reading"):
            LIBRARY.debug("a detail")
            LIBRARY.info("a %s", "result")
            LIBRARY.warning("a warning")

    logger = logging.getLogger("stategram")
    before = logger.level, list(logger.handlers)
    done = invoke(command, *option)
    assert (done.exit_code, done.stderr) == (0, expected)
    assert (logger.level, logger.handlers) == before


def test_quiet_and_verbose_contradict_each_other() -> None:
    @click.command()
    @work_options
    def command(console: Console) -> None:
        raise AssertionError

    done = invoke(command, "-q", "-v")
    assert done.exit_code == 2
    assert "--quiet and --verbose contradict each other" in done.output


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_there_is_a_bar_and_messages_stand_above_it(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    console = Console(steps=1)
    with console.log_messages(), console.step("counting [all] \\") as progress:
        progress(0.5, "half of [it]")
        LIBRARY.info("a result [in brackets]")
    shown = terminal.getvalue()
    assert "      a result [in brackets]\n" in shown
    assert "[1/1] counting [all] \\" in shown
    assert "half of [it]" in shown
    assert "━" in shown
