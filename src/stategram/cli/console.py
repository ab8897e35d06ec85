"""What a command shows while it works, all on stderr: numbered steps, progress, messages; and Ctrl-C."""

from __future__ import annotations

import logging
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from stategram.cli.streams import terminal_stream
from stategram.display import DisplayTable, table_text, visible
from stategram.errors import UnknownWordsWarning
from stategram.progress import Progress, Stop

if TYPE_CHECKING:
    from rich.console import Console as RichConsole

_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_IF_VERBOSE = 2.0
# Below the title of a step, which begins with its number: "[1/3] reading".
_INDENT = " " * 6
_BAR_WIDTH = 16
# Room at the end of a line for the ^C that a terminal echoes: on the next line it would never be erased.
_ECHO_WIDTH = 3
_FINISHING = "finishing"


class Console:
    """Writes to stderr: a bar on a terminal, else a line now and then; nothing when quiet."""

    def __init__(self, *, quiet: bool = False, verbose: bool = False, steps: int | None = 1) -> None:
        self.quiet = quiet
        self.verbose = verbose
        self.steps = steps
        """How many steps there are; None as long as it is not known."""
        self._step = 0
        self._finishing = False  # after Ctrl-C
        # While a bar is shown: its terminal, what changes the message beside it, and what ends it.
        self._terminal: RichConsole | None = None
        self._show: Callable[[str], None] | None = None
        self._stop_bar: Callable[[], None] = lambda: None

    def info(self, message: str) -> None:
        """Write a line, unless quiet."""
        if self.quiet:
            return
        if self._terminal is not None:  # above the bar
            self._terminal.print(visible(message), markup=False, highlight=False, soft_wrap=True)
        else:
            click.echo(message, err=True)

    def tables(self, shown: Iterable[DisplayTable]) -> None:
        """Write tables below the title of a step."""
        for one in shown:
            self.info(table_text(one, _INDENT))

    def leave_to_keyboard(self) -> None:
        """Stop the bar, which would be drawn over what is typed."""
        self._stop_bar()

    def detail(self, message: str) -> None:
        """Write a line if verbose."""
        if self.verbose:
            self.info(message)

    @contextmanager
    def step(self, title: str) -> Iterator[Progress]:
        """Announce the next step; return what reports its progress."""
        self._step += 1
        of_all = "" if self.steps is None else f"/{self.steps}"
        name = f"[{self._step}{of_all}] {title}"
        if self.quiet:
            yield lambda _fraction, _message: None
        elif sys.stderr.isatty():
            with self._bar(name) as progress:
                yield progress
        else:
            self.info(name)
            yield self._lines()

    @contextmanager
    def log_messages(self) -> Iterator[None]:
        """Show what the library logs: results (INFO), notes (WARNING) and, if verbose, details (DEBUG).

        What it warns Python programs of is shown in the same way.
        """
        logger = logging.getLogger("stategram")
        handler, level = _LogHandler(self), logger.level
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG if self.verbose else logging.INFO)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", UnknownWordsWarning)
                others = warnings.showwarning

                def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
                    if issubclass(category, UnknownWordsWarning):
                        self.info(f"{_INDENT}note: {message}")
                    else:
                        others(message, category, *where, **more)

                warnings.showwarning = show
                yield
        finally:
            logger.setLevel(level)
            logger.removeHandler(handler)

    @contextmanager
    def finish_on_interrupt(self, what: str = "clusters") -> Iterator[Stop]:
        """Yield a `Stop` that returns true after the first Ctrl-C; the second one interrupts."""
        interrupted = shown = False

        def interrupt(signum: int, frame: FrameType | None) -> None:
            nonlocal interrupted
            interrupted = True
            signal.signal(signal.SIGINT, signal.default_int_handler)

        def stop() -> bool:
            # Not in the handler: it may run in the middle of another message.
            nonlocal shown
            if interrupted and not shown:
                self._finishing = shown = True
                if self._show is not None:
                    self._show(_FINISHING)
                self.info(f"interrupted: finishing with the best {what} so far (Ctrl-C again to abort)")
            return interrupted

        if threading.current_thread() is not threading.main_thread():
            yield lambda: False
            return
        before = signal.signal(signal.SIGINT, interrupt)
        try:
            yield stop
        finally:
            self._finishing = False
            signal.signal(signal.SIGINT, before)

    @contextmanager
    def _bar(self, name: str) -> Iterator[Progress]:
        from rich.console import Console as RichConsole
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        terminal = RichConsole(file=terminal_stream(sys.stderr))
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(_BAR_WIDTH),
            TextColumn("{task.fields[message]}", markup=False),
        )
        width = terminal.width - len(name) - _BAR_WIDTH - 2 - _ECHO_WIDTH
        with Bar(*columns, console=terminal) as bar:
            task = bar.add_task(visible(name), total=1.0, message="")

            def show(message: str) -> None:
                bar.update(task, message=_fitted(visible(message), width), refresh=True)

            def progress(fraction: float, message: str) -> None:
                bar.update(task, completed=fraction, message=_fitted(visible(self._now(message)), width))

            self._terminal, self._show, self._stop_bar = terminal, show, bar.stop
            try:
                yield progress
            finally:
                self._terminal, self._show, self._stop_bar = None, None, lambda: None
            if self._finishing:
                show("ended early")
            bar.update(task, completed=1.0)

    def _lines(self) -> Progress:
        seconds = _SECONDS_IF_VERBOSE if self.verbose else _SECONDS_BETWEEN_LINES
        last = time.monotonic()

        def progress(fraction: float, message: str) -> None:
            nonlocal last
            if time.monotonic() - last >= seconds:
                last = time.monotonic()
                self.info(f"  {fraction:4.0%}  {self._now(message)}")

        return progress

    def _now(self, message: str) -> str:
        """Return what is going on: after Ctrl-C nothing that a message says of the time left is true."""
        return _FINISHING if self._finishing else message


def _fitted(message: str, width: int) -> str:
    """Return the end of a message, which has the time left, without what does not fit before it.

    >>> _fitted("sweep 3, 120 moves, perplexity 252.0, 131 s left", 30)
    'perplexity 252.0, 131 s left'
    """
    while len(message) > width and ", " in message:
        message = message.partition(", ")[2]
    return message[: max(width, 0)]


class _LogHandler(logging.Handler):
    def __init__(self, console: Console) -> None:
        super().__init__()
        self.console = console

    def emit(self, record: logging.LogRecord) -> None:
        note = "note: " if record.levelno >= logging.WARNING else ""
        self.console.info(f"{_INDENT}{note}{record.getMessage()}")
        if getattr(record, "keyboard", False):
            self.console.leave_to_keyboard()
