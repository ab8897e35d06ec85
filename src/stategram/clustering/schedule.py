"""How long to sweep, and how hot.

Plain exchange moves one element at a time and is stuck as soon as no single move gains. So the exchange is
annealed first: sweeps in which an element may also move where the criterion loses, with a temperature that
falls to (nearly) nothing. A few plain sweeps end it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from stategram.clustering.exchange import Exchange
from stategram.clustering.monitor import Monitor

__all__ = ["EFFORTS", "Effort", "run_exchange"]

# Nats an event for a word seen once. Chosen for 100 and 500 classes on a text of two million words: hotter
# starts melt what was found, a colder end only repeats the plain sweeps.
_HOT = 0.3
_COLD = 0.04
# From given clusters: enough to mend them, too little to melt them.
_WARM = 0.08
# Fewer annealing sweeps than this find less than as many plain ones.
_LEAST_ANNEALING = 8
# Every so many annealing sweeps an element looks at all clusters, in the others at its shortlist.
_FULL_EVERY = 4
# The share of a time limit after which plain sweeps must end the annealing.
_ANNEALING_SHARE = 0.85
_ENDLESS = 10**6
# Where a sweep takes no time, more of them find nothing more and only fill the history.
_MOST_ANNEALING = 5000


@dataclass(frozen=True)
class Effort:
    """How many sweeps: annealing ones, then plain ones until nothing moves or ``exchange`` were made."""

    anneal: int
    exchange: int


EFFORTS = {
    "fast": Effort(anneal=0, exchange=2),
    "normal": Effort(anneal=20, exchange=4),
    "best": Effort(anneal=250, exchange=50),
}


class _EarlyEnd(Exception):  # noqa: N818 -- an end, not an error
    """The user's stop, or the end of the time limit."""


def run_exchange(
    exchange: Exchange,
    effort: Effort,
    *,
    seed: int,
    monitor: Monitor,
    time_limit: float | None = None,
    warm: bool = False,
) -> None:
    """Sweep as the effort says, or for ``time_limit`` seconds; ``warm`` if the clusters are good already.

    When the monitor asks to stop, an annealing is ended by one plain sweep; so is the first one, which
    gives a class to the words that have none.
    """
    run = _Run(exchange, effort, seed, monitor, time_limit, _WARM if warm else _HOT)
    try:
        run.place()
        run.anneal()
        run.exchange_until_stuck()
    except _EarlyEnd:
        run.finish()


@dataclass
class _Run:
    exchange: Exchange
    effort: Effort
    seed: int
    monitor: Monitor
    time_limit: float | None
    hot: float
    unfinished: bool = False
    """Whether plain sweeps are still owed, because elements have no cluster or are still hot."""

    def place(self) -> None:
        self.unfinished = True
        self._sweep("place", 0.0)
        self.unfinished = False

    def anneal(self) -> None:
        sweeps: float = self.effort.anneal
        if self.time_limit is not None:
            sweeps = self.time_limit * _ANNEALING_SHARE / max(self.monitor.seconds, 1e-3)
        if sweeps < _LEAST_ANNEALING or not any(len(side.order) for side in self.exchange.sides):
            return
        self.unfinished = True
        for number in count():
            share = self._annealing_share(number)
            if share >= 1 or number == _MOST_ANNEALING:
                break
            temperature = self.hot + (_COLD - self.hot) * share
            self._sweep("anneal", temperature, shortlisted=number % _FULL_EVERY != 0)
        self.unfinished = False

    def exchange_until_stuck(self) -> None:
        """Sweep over the shortlists and over all clusters in turn; stuck is what finds no move among all."""
        sweeps = self.effort.exchange if self.time_limit is None else _ENDLESS
        for left in range(sweeps, 0, -1):
            shortlisted = left % 2 == 0
            if self._sweep("exchange", 0.0, shortlisted=shortlisted) == 0 and not shortlisted:
                break

    def finish(self) -> None:
        if self.unfinished:
            self.monitor.stop = None
            self.time_limit = None
            self._sweep("exchange", 0.0)

    def _annealing_share(self, sweeps_done: int) -> float:
        if self.time_limit is not None:
            return self.monitor.seconds / (self.time_limit * _ANNEALING_SHARE)
        return sweeps_done / self.effort.anneal

    def _sweep(self, step: str, temperature: float, *, shortlisted: bool = False) -> int:
        number = len(self.monitor.history)

        def tick(part: float, moves: int) -> None:
            now = self.exchange
            done = self._fraction(number + part)
            self.monitor.tell(step, number + 1, moves, now.criterion, now.perplexity, done)
            if self.monitor.stopped():
                raise _EarlyEnd
            if self.time_limit is not None and self.monitor.seconds > self.time_limit:
                raise _EarlyEnd

        seed = (self.seed * 1_000_003 + number) % 2**64
        moves = self.exchange.sweep(temperature, seed, tick, shortlisted=shortlisted)
        self.monitor.record(step, temperature, moves, self.exchange.criterion, self.exchange.perplexity)
        return moves

    def _fraction(self, sweeps_done: float) -> float:
        if self.time_limit is not None:
            return min(1.0, self.monitor.seconds / self.time_limit)
        return min(1.0, sweeps_done / (1 + self.effort.anneal + self.effort.exchange))
