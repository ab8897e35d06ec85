"""What happened in an exchange, sweep by sweep."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class SweepRecord:
    """One finished sweep.

    Attributes
    ----------
    step
        ``place`` (words without a class get one), ``anneal``, ``exchange`` or ``merge-split``. What a
        round of the last, three sweeps, has found is dropped if the criterion did not gain.
    temperature
        0 in an exchange; in annealing, how much the criterion may lose, in nats an event.
    moves
        How many elements changed their cluster.
    criterion
        The criterion after the sweep, in nats.
    perplexity
        The perplexity of the training text under the maximum-likelihood model of these clusters.
    seconds
        Since the exchange began.

    """

    step: str
    number: int
    temperature: float
    moves: int
    criterion: float
    perplexity: float
    seconds: float


@dataclass(frozen=True)
class Progress:
    """Where an exchange is; ``fraction`` of the whole work, as far as it can be foreseen."""

    step: str
    sweep: int
    moves: int
    criterion: float
    perplexity: float
    fraction: float
    seconds_left: float | None


@dataclass
class Monitor:
    """Collects the history of an exchange and tells a listener about it.

    Attributes
    ----------
    listener
        Called with a `Progress` several times a second.
    stop
        Asked as often whether to end early, with the best that can be had quickly.

    """

    listener: Callable[[Progress], object] | None = None
    stop: Callable[[], bool] | None = None
    history: list[SweepRecord] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    furthest: float = 0.0
    """The largest fraction told so far."""

    @property
    def seconds(self) -> float:
        """Since the exchange began."""
        return time.monotonic() - self.started

    def stopped(self) -> bool:
        """Whether the user wants an early end."""
        return self.stop is not None and self.stop()

    def tell(
        self, step: str, sweep: int, moves: int, criterion: float, perplexity: float, fraction: float
    ) -> None:
        """Progress the listener where the work is; a sweep that ends an annealing early does not go back."""
        if self.listener is None:
            return
        fraction = self.furthest = max(fraction, self.furthest)
        left = self.seconds * (1 - fraction) / fraction if fraction > 0 else None
        self.listener(Progress(step, sweep, moves, criterion, perplexity, fraction, left))

    def record(self, step: str, temperature: float, moves: int, criterion: float, perplexity: float) -> None:
        """Add a finished sweep to the history."""
        number = len(self.history) + 1
        self.history.append(
            SweepRecord(step, number, temperature, moves, criterion, perplexity, self.seconds)
        )
