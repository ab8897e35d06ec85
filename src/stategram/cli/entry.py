"""The command `stategram`: loads the command that is called, and turns errors into messages."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

import stategram
from stategram.cli import INTERRUPTED
from stategram.cli.streams import discard_output, safe_streams
from stategram.errors import StategramError, UsageError

# The file of a command is imported only when it runs: numpy alone takes longer than `stategram --help` may.
_COMMANDS = {
    "classes": "Find word classes in a text.",
    "train": "Train a model on a text.",
    "eval": "Measure the perplexity of a model on a text.",
    "score": "Print the surprisal of each word of a text.",
    "predict": "Print the most likely next words.",
    "generate": "Generate sentences from a model.",
    "select": "Choose text like yours from a large pool.",
    "rescore": "Choose among the hypotheses of a recognizer.",
    "info": "Show a model's type, size and provenance, or verify it.",
    "count": "Count the n-grams of a text of any size, or merge count files.",
    "mix": "Mix several models into one.",
    "prune": "Prune a model to a budget, or to a list of words.",
    "export": "Write a model, or its word classes, for other tools.",
    "reproduce": "Compute the tables of the paper for a text.",
    "explore": "Look inside a model in the browser.",
    "demo": "Run a demo on the State of the Union addresses.",
}


# The parameters of commands that name a file to write; train, which reads --classes, writes one in any case.
_OUTPUTS = ("output", "arpa", "class_lm", "fst", "classes", "states")


class _CommandContext(click.Context):
    def invoke(self, callback: Callable[..., Any], /, *arguments: Any, **options: Any) -> Any:
        """Run a command: an error of options that could be read comes without how to use them."""
        try:
            return super().invoke(callback, *arguments, **options)
        except KeyboardInterrupt as end:
            if not str(end) and any(self.params.get(name) not in (None, "-") for name in _OUTPUTS):
                raise KeyboardInterrupt("nothing was written") from end
            raise
        except click.UsageError as error:
            raise UsageError(error.format_message()) from error


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = getattr(import_module(f"stategram.cli.{cmd_name}"), cmd_name)
        assert isinstance(command, click.Command)
        command.context_class = _CommandContext
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in _COMMANDS and (close := get_close_matches(args[0], _COMMANDS, 1)):
            ctx.fail(f"No such command '{args[0]}'. Did you mean {close[0]}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  stategram demo
  stategram classes text.txt -k 500 > classes.tsv
  stategram train text.txt -o model
  stategram eval model test.txt
  stategram train --help

Exit codes: 0 ok, 1 failure, 2 wrong usage, 3 bad data (a file or a text that cannot be used), 130
interrupted.""",
)
@click.version_option(stategram.__version__, "-V", "--version", prog_name="stategram")
def cli() -> None:
    """Word classes and language models from plain text."""


def run(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    # NumPy's linear algebra is never used here, but its threads would spin for work at every start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with safe_streams():
        return _run(sys.argv[1:] if arguments is None else list(arguments))


def _run(arguments: list[str]) -> int:
    try:
        # Not cli.main(), which ends with 1 when the reader of our output has gone. Of what is written to a
        # pipe nothing is to be stripped: that is the meaning of `color`.
        with cli.make_context("stategram", arguments, color=True) as context:
            cli.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except OSError as error:
        discard_output()
        if not _is_closed_pipe(error):  # as when the reader of our output is gone, such as `head`
            return _fail(error)
    except (StategramError, click.Abort, KeyboardInterrupt, MemoryError, ImportError) as error:
        return _fail(error)
    return 0


def _is_closed_pipe(error: OSError) -> bool:
    # On Windows a closed pipe is an invalid argument.
    return isinstance(error, BrokenPipeError) or (sys.platform == "win32" and error.errno == errno.EINVAL)


def _fail(error: BaseException) -> int:
    """Print the message of an error; return its exit code."""
    status = 1
    if isinstance(error, StategramError):
        message, status = f"error: {error}", error.exit_code
    elif isinstance(error, MemoryError):
        message = (
            "error: out of memory; use fewer classes, shorter n-grams, a smaller vocabulary or less text, "
            "or train with --memory"
        )
    elif isinstance(error, ImportError):
        message = f"error: {error}; the installation may be broken: reinstall stategram"
    elif isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        advice = "; free some space and run the command again" if error.errno == errno.ENOSPC else ""
        message = f"error: {where}{error.strerror or error}{advice}"
    else:
        message, status = "; ".join(filter(None, ("interrupted", str(error)))), INTERRUPTED
    click.echo(f"stategram: {message}", err=True)
    return status
