"""What `stategram reproduce` says while it works: a live table on a terminal, else numbered lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from stategram.cli.console import Console, Report
from stategram.experiments.reproduction import RowPlan, RowResult, RowSteps, TimeLeft, n_row_steps
from stategram.wording import duration, plural

if TYPE_CHECKING:
    from rich.console import RenderableType


_ROWS_SHOWN = 12


@contextmanager
def progress_of(console: Console) -> Iterator[RowSteps]:
    """Give what shows the steps, on a terminal as a table that stays in its place."""
    if console.quiet or not sys.stderr.isatty():
        yield _Lines(console)
        return
    table = _LiveTable()
    with table.live:
        yield table


class _Lines(RowSteps):
    """Says a line for each step, and one for what a row came to."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.left: TimeLeft | None = None

    @contextmanager
    def step(self, title: str) -> Iterator[Report]:
        with self.console.step(title) as report:
            yield report

    def say(self, message: str) -> None:
        self.console.say(message)

    def planned(self, rows: Sequence[RowPlan], done: Sequence[RowResult], left: TimeLeft) -> None:
        self.left = left
        kept = {row.key for row in done}
        # Reading came first, the report comes last.
        self.console.steps = 2 + n_row_steps([row for row in rows if row.key not in kept])
        self.say(_of_plan(rows, done, left))

    def finished(self, row: RowResult) -> None:
        assert self.left is not None
        left = self.left.seconds()
        self.say(
            f"      perplexity {row.test.perplexity:,.1f}, {duration(row.seconds)}"
            + (f"; about {duration(left)} left" if left > 0 else "")
        )


def _of_plan(rows: Sequence[RowPlan], done: Sequence[RowResult], left: TimeLeft) -> str:
    if done:
        return (
            f"      going on: {len(done)} of {plural(len(rows), 'row')} are done already, "
            f"about {duration(left.seconds())} left"
        )
    return f"      {plural(len(rows), 'row')}, about {duration(left.seconds())}"


class _LiveTable(RowSteps):
    """Shows the last rows that are done, the step under way, and the time that is left."""

    def __init__(self) -> None:
        from rich.console import Console as RichConsole
        from rich.live import Live

        self.rows: Sequence[RowPlan] = ()
        self.done: list[RowResult] = []
        self.left: TimeLeft | None = None
        self.now: tuple[str, float, str] = ("", 0.0, "")
        self.live = Live(
            console=RichConsole(stderr=True),
            get_renderable=self._shown,
            vertical_overflow="ellipsis",
            transient=True,  # the tables follow
        )

    @contextmanager
    def step(self, title: str) -> Iterator[Report]:
        self.now = (title, 0.0, "")

        def report(share: float, words: str) -> None:
            self.now = (title, share, words)

        yield report
        self.now = ("", 0.0, "")

    def say(self, message: str) -> None:
        self.live.console.print(message.strip(), highlight=False)

    def planned(self, rows: Sequence[RowPlan], done: Sequence[RowResult], left: TimeLeft) -> None:
        self.rows, self.done, self.left = rows, list(done), left
        self.say(_of_plan(rows, done, left))

    def finished(self, row: RowResult) -> None:
        self.done.append(row)

    def _shown(self) -> RenderableType:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        parts: list[Any] = []
        if self.done:
            table = Table(box=None, pad_edge=False)
            for name in ("row", "perplexity", "time"):
                table.add_column(name, justify="left" if name == "row" else "right", no_wrap=True)
            if len(self.done) > _ROWS_SHOWN:
                table.add_row(f"... {plural(len(self.done) - _ROWS_SHOWN, 'row')} above", "", "")
            for row in self.done[-_ROWS_SHOWN:]:
                table.add_row(row.title, f"{row.test.perplexity:,.1f}", duration(row.seconds))
            parts.append(table)
        title, share, words = self.now
        if title:
            line = Table.grid(padding=(0, 1))
            line.add_row(Text(title, style="bold"), ProgressBar(total=1.0, completed=share, width=16))
            parts += [line, Text(f"  {words}", style="dim", no_wrap=True, overflow="ellipsis")]
        if self.left is not None:
            under_way = next((row.key for row in self.rows if row.title == title), None)
            left = self.left.seconds(under_way, share)
            time_left = f", about {duration(left)} left" if left > 0 else ""
            parts.append(Text(f"{len(self.done)} of {plural(len(self.rows), 'row')}{time_left}"))
        return Group(*parts)
