"""How long to sweep, and how hot.

Plain exchange moves one element at a time and is stuck as soon as no single move gains. So the exchange is
annealed first: sweeps in which an element may also move where the criterion loses, with a temperature that
falls to (nearly) nothing. A few plain sweeps end it. Then rounds of `merge_split` escape further: each merges
some classes and splits others, sweeps, and is kept if the criterion has gained.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from stategram.clustering.exchange import Exchange
from stategram.clustering.monitor import Monitor

# Nats an event for a word seen once. Chosen for 100 and 500 classes on a text of two million words: hotter
# starts melt what was found, a colder end only repeats the plain sweeps.
HOT = 0.3
COLD = 0.04
# Fewer annealing sweeps than this find less than as many plain ones.
_LEAST_ANNEALING = 8
# Every so many annealing sweeps an element looks at all clusters, in the others at its shortlist.
FULL_EVERY = 4
# The share of a time limit for the annealing; plain sweeps, and rounds if there are any, have the rest.
_ANNEALING_SHARE = 0.85
_ANNEALING_SHARE_WITH_ROUNDS = 0.5
_ENDLESS = 10**6
# Where a sweep takes no time, more of them find nothing more and only fill the history.
_MOST_ANNEALING = 5000
_MOST_ROUNDS = 1000


@dataclass(frozen=True)
class Effort:
    """How many sweeps: annealing ones, then plain ones until nothing moves or ``exchange`` were made.

    Then ``rounds`` of merging and splitting classes, where the criterion has them.
    """

    anneal: int
    exchange: int
    rounds: int


# For a given time, annealing alone is better at first; rounds are better once it has run for a while.
EFFORTS = {
    "fast": Effort(anneal=0, exchange=2, rounds=0),
    "normal": Effort(anneal=20, exchange=4, rounds=0),
    "best": Effort(anneal=100, exchange=10, rounds=25),
}
# The plain sweeps of a round: over the shortlists or over all classes.
_ROUND = (False, True, False)

Merge = Callable[[NDArray[np.uint32], int], Exchange | None]
"""Takes the classes reached and a seed; gives an exchange with some merged and others split, if it can be."""


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
    merge: Merge | None = None,
) -> Exchange:
    """Sweep as the effort says, or for ``time_limit`` seconds; ``warm`` clusters are not annealed.

    When the monitor asks to stop, an annealing is ended by one plain sweep; so is the first one, which
    gives a class to the words that have none.
    """
    run = _Run(exchange, effort, seed, monitor, time_limit, merge)
    try:
        run.place()
        if not warm:
            run.anneal()
        run.exchange_until_stuck()
        run.merge_and_split()
    except _EarlyEnd:
        run.finish()
    return run.exchange


@dataclass
class _Run:
    exchange: Exchange
    effort: Effort
    seed: int
    monitor: Monitor
    time_limit: float | None
    merge: Merge | None
    unfinished: bool = False
    """Whether plain sweeps are still owed, because elements have no cluster or are still hot."""

    def place(self) -> None:
        self.unfinished = True
        self._sweep("place", 0.0)
        self.unfinished = False

    def anneal(self) -> None:
        sweeps: float = self.effort.anneal
        if self.time_limit is not None:
            sweeps = self._annealing_seconds(self.time_limit) / max(self.monitor.seconds, 1e-3)
        if sweeps < _LEAST_ANNEALING or not any(len(side.order) for side in self.exchange.sides):
            return
        self.unfinished = True
        for number in count():
            share = self._annealing_share(number)
            if share >= 1 or number == _MOST_ANNEALING:
                break
            temperature = HOT + (COLD - HOT) * share
            self._sweep("anneal", temperature, shortlisted=number % FULL_EVERY != 0)
        self.unfinished = False

    def exchange_until_stuck(self) -> None:
        """Sweep over the shortlists and over all clusters in turn; stuck is what finds no move among all."""
        sweeps = self.effort.exchange if self.time_limit is None else _ENDLESS
        for left in range(sweeps, 0, -1):
            shortlisted = left % 2 == 0
            if self._sweep("exchange", 0.0, shortlisted=shortlisted) == 0 and not shortlisted:
                break

    def merge_and_split(self) -> None:
        """Shake the classes and sweep; what has gained is kept."""
        rounds = self.effort.rounds if self.time_limit is None else _MOST_ROUNDS
        for number in range(rounds if self.merge else 0):
            labels = self.exchange.sides[0].labels()
            shaken = self.merge(labels, self.seed * 1_000_003 + number) if self.merge else None
            if shaken is None:
                break
            for shortlisted in _ROUND:
                self._sweep("merge-split", 0.0, shortlisted=shortlisted, exchange=shaken)
            if shaken.criterion > self.exchange.criterion:
                self.exchange = shaken

    def finish(self) -> None:
        if self.unfinished:
            self.monitor.stop = None
            self.time_limit = None
            self._sweep("exchange", 0.0)

    def _annealing_seconds(self, time_limit: float) -> float:
        return time_limit * (_ANNEALING_SHARE_WITH_ROUNDS if self.merge else _ANNEALING_SHARE)

    def _annealing_share(self, sweeps_done: int) -> float:
        if self.time_limit is not None:
            return self.monitor.seconds / self._annealing_seconds(self.time_limit)
        return sweeps_done / self.effort.anneal

    def _sweep(
        self, step: str, temperature: float, *, shortlisted: bool = False, exchange: Exchange | None = None
    ) -> int:
        number = len(self.monitor.history)
        now = exchange or self.exchange

        def tick(part: float, moves: int) -> None:
            done = self._fraction(number + part)
            self.monitor.tell(step, number + 1, moves, now.criterion, now.perplexity, done)
            if self.monitor.stopped():
                raise _EarlyEnd
            if self.time_limit is not None and self.monitor.seconds > self.time_limit:
                raise _EarlyEnd

        seed = (self.seed * 1_000_003 + number) % 2**64
        moves = now.sweep(temperature, seed, tick, shortlisted=shortlisted)
        self.monitor.record(step, temperature, moves, now.criterion, now.perplexity)
        return moves

    def _fraction(self, sweeps_done: float) -> float:
        if self.time_limit is not None:
            return min(1.0, self.monitor.seconds / self.time_limit)
        rounds = len(_ROUND) * self.effort.rounds if self.merge else 0
        return min(1.0, sweeps_done / (1 + self.effort.anneal + self.effort.exchange + rounds))
