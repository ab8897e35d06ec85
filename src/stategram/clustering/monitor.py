"""What happened in a clustering, sweep by sweep; its clock, its progress, and its early end."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from stategram.clustering.settings import Sweep
from stategram.progress import Progress, Stop


@dataclass(frozen=True)
class SweepRecord:
    """One finished sweep.

    Attributes
    ----------
    step
        ``place`` (the first one: elements without a cluster get one), ``anneal``, ``exchange`` or
        ``merge-split``. A round of the last has three sweeps and is dropped if the criterion did not gain.
    number
        Counted from 1, over all levels.
    temperature
        0 in an exchange; in annealing, how much the criterion may lose, in nats per event.
    moves
        How many elements changed their cluster.
    criterion
        The criterion after the sweep, in nats.
    perplexity
        The perplexity of the training text under the maximum-likelihood model of these clusters.
    seconds
        Since the clustering began.
    level
        The level of the context tree; 1 for word classes.

    """

    step: str
    number: int
    temperature: float
    moves: int
    criterion: float
    perplexity: float
    seconds: float
    level: int = 1


@dataclass(frozen=True)
class LevelResult:
    """What a level of the tree came to."""

    level: int
    nodes: int
    movable: int
    sweeps: int
    criterion: float
    perplexity: float
    seconds: float


class StopEarly(Exception):  # noqa: N818 -- an end, not an error
    """The caller's stop, or the end of the time limit."""


@dataclass
class Monitor:
    """Keeps the history of a clustering, reports progress, and ends the clustering early.

    `progress` and `stop` are called several times per second. When `stop` returns true, or after `time_limit`
    seconds, the clustering ends with the best that can be had quickly.
    """

    progress: Progress | None = None
    stop: Stop | None = None
    time_limit: float | None = None
    history: list[SweepRecord] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    furthest: float = 0.0
    """The largest fraction reported so far."""
    stopped: bool = False
    """Whether the clustering was ended early."""

    def seconds(self) -> float:
        """Return the seconds since the clustering began."""
        return time.monotonic() - self.started

    def report(self, fraction: float, message: str) -> None:
        """Report progress and the time left; a sweep that ends an annealing early does not go back."""
        seconds = self.seconds()
        if self.time_limit is not None:
            fraction = min(1.0, seconds / self.time_limit)
        done = self.furthest = max(fraction, self.furthest)
        if self.progress is not None:
            left = f", {seconds * (1 - done) / done:,.0f} s left" if done > 0 else ""
            self.progress(done, message + left)

    def check_stop(self) -> None:
        """Raise `StopEarly` if it is time to end; only once, as a plain sweep may have to follow."""
        if self.stopped:
            return
        is_over = self.time_limit is not None and self.seconds() > self.time_limit
        if is_over or (self.stop is not None and self.stop()):
            self.stopped = True
            raise StopEarly

    def record(self, level: int, sweep: Sweep, moves: int, criterion: float, perplexity: float) -> None:
        """Add a finished sweep to the history."""
        number, seconds = len(self.history) + 1, self.seconds()
        self.history.append(
            SweepRecord(sweep.step, number, sweep.temperature, moves, criterion, perplexity, seconds, level)
        )

    def resume(self, history: tuple[SweepRecord, ...]) -> None:
        """Continue the history of a clustering that was interrupted."""
        self.history[:] = history
        self.started -= max((sweep.seconds for sweep in history), default=0.0)
