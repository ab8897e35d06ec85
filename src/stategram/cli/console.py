"""What a command says while it works: numbered steps, bars and notes, all on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

Report = Callable[[float, str], None]
"""Takes the share of the work that is done and a few words on it."""

_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_IF_VERBOSE = 2.0


class Console:
    """Speaks on stderr: a bar on a terminal, else a line now and then; nothing when quiet."""

    def __init__(self, *, quiet: bool = False, verbose: bool = False, steps: int | None = 1) -> None:
        self.quiet = quiet
        self.verbose = verbose
        self.steps = steps
        """How many steps there are; None as long as it is not known."""
        self._step = 0

    def say(self, message: str) -> None:
        """Say a line, unless quiet."""
        if not self.quiet:
            click.echo(message, err=True)

    def detail(self, message: str) -> None:
        """Say a line if verbose."""
        if self.verbose and not self.quiet:
            click.echo(message, err=True)

    @contextmanager
    def step(self, title: str) -> Iterator[Report]:
        """Announce the next step; what is given is called with the share done and a few words."""
        self._step += 1
        of_all = "" if self.steps is None else f"/{self.steps}"
        name = f"[{self._step}{of_all}] {title}"
        if self.quiet:
            yield lambda _share, _words: None
        elif sys.stderr.isatty():
            yield from _bar(name)
        else:
            self.say(name)
            yield _lines(_SECONDS_IF_VERBOSE if self.verbose else _SECONDS_BETWEEN_LINES)


def _bar(name: str) -> Iterator[Report]:
    from rich.console import Console as RichConsole
    from rich.progress import BarColumn, Progress, TextColumn

    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=16),
        TextColumn("{task.fields[words]}"),
        console=RichConsole(stderr=True),
    )
    with progress:
        task = progress.add_task(name.replace("[", r"\["), total=1.0, words="")
        yield lambda share, words: progress.update(task, completed=share, words=words)
        progress.update(task, completed=1.0)


def _lines(seconds: float) -> Report:
    last = time.monotonic()

    def report(share: float, words: str) -> None:
        nonlocal last
        if time.monotonic() - last >= seconds:
            last = time.monotonic()
            click.echo(f"  {share:4.0%}  {words}", err=True)

    return report
