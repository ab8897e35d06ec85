"""Which sweeps to make, and how hot.

Plain exchange moves one element at a time and is stuck as soon as no single move gains. So it may be annealed
first: sweeps in which an element may also move where the criterion loses, with a temperature that falls to
(nearly) nothing. Plain sweeps follow until they gain too little. Then rounds of merge-split may escape
further: each merges some classes and splits others, sweeps, and is kept if the criterion has gained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

# The temperature falls from hot to cold as (1 - t)^1.5: nats for an element seen once. Chosen for 100, 500
# and 2000 classes on texts of one to four million words: hotter starts melt what was found, a colder end only
# repeats the plain sweeps.
_HOT = 0.8
_COLD = 0.1
_FALL = 1.5
# Whether the sweeps of a step are over shortlists, in turn.
_ANNEALING = (False, True, True, True)
_EXCHANGE_OF_CONTEXTS = (False, True, True)
EXCHANGE_OF_CLASSES = (True, False)
# With fewer clusters for each place on a shortlist, scoring all of them is as quick.
_MIN_CLUSTERS_PER_CANDIDATE = 12.5
# Fewer classes than this have half of the annealing, to keep their time: more would still gain.
_FEW_CLASSES = 200
# The fraction of a time limit for the annealing; plain sweeps, and rounds if there are any, have the rest.
_ANNEALING_TIME = 0.85
# Fewer annealing sweeps than this find less than as many plain ones, if time is limited.
_MIN_TIMED_ANNEALING = 8
# Where a sweep takes no time, more of them find nothing more and only fill the history.
_MAX_TIMED_ANNEALING, _MAX_TIMED_SWEEPS, _MAX_TIMED_ROUNDS = 5000, 10_000, 1000


def shortlists_save_time(clusters: int, candidates: int) -> bool:
    """Return whether plain sweeps over shortlists are quicker than those over all clusters.

    >>> shortlists_save_time(199, 16), shortlists_save_time(200, 16)
    (False, True)
    """
    return clusters >= _MIN_CLUSTERS_PER_CANDIDATE * candidates > 0


def annealing_sweeps(classes: int, sweeps: int) -> int:
    """Return how many of the annealing sweeps of an effort so many word classes need.

    >>> annealing_sweeps(199, 48), annealing_sweeps(200, 48)
    (24, 48)
    """
    return sweeps if classes >= _FEW_CLASSES else sweeps // 2


@dataclass(frozen=True)
class Sweep:
    """One entry of a schedule: visit all elements once.

    `step` is ``place`` (the first one: elements without a cluster get one), ``anneal``,
    ``exchange`` or ``merge-split``.
    """

    step: str
    temperature: float = 0.0
    shortlisted: bool = False
    """Whether elements are scored against their shortlists only."""


ROUND = tuple(Sweep("merge-split", shortlisted=shortlisted) for shortlisted in (False, True, False))
"""The sweeps of a round of merge-split."""


@dataclass(frozen=True)
class Schedule:
    """How many sweeps a level has; only the first level is annealed."""

    anneal: int
    max_sweeps: int
    tolerance: float = 0.0
    """Plain sweeps end when one over all clusters moves nothing, or improves the criterion by less than this
    fraction of it."""
    rounds: int = 0
    candidates: int = 8
    """The length of shortlists. Elements are annealed among these clusters only."""
    shortlisted: bool = True
    """Whether there are sweeps over shortlists; else all clusters are scored in every sweep."""
    exchange: tuple[bool, ...] = _EXCHANGE_OF_CONTEXTS
    """Whether the plain sweeps are over shortlists, in turn."""
    time_limit: float | None = None

    def timed(self, seconds: float) -> Schedule:
        """Return a schedule of the same steps that a time limit ends."""
        rounds = _MAX_TIMED_ROUNDS if self.rounds else 0
        return replace(self, max_sweeps=_MAX_TIMED_SWEEPS, rounds=rounds, time_limit=seconds)

    def sweeps(self, is_first_level: bool, seconds: Callable[[], float]) -> Iterator[Sweep]:
        """Yield the sweeps of a level before rounds; `seconds` returns the time since the work began."""
        if is_first_level:
            yield Sweep("place")
            for number, fraction in enumerate(self._annealing(seconds)):
                temperature = _COLD + (_HOT - _COLD) * (1 - fraction) ** _FALL
                yield Sweep("anneal", temperature, self._is_short(_ANNEALING, number))
        for number in range(self.max_sweeps):
            yield Sweep("exchange", shortlisted=self._is_short(self.exchange, number))

    def n_sweeps(self, is_first_level: bool) -> int:
        """Return the number of sweeps of a level, if none of them is left out."""
        return self.max_sweeps + len(ROUND) * self.rounds + (1 + self.anneal if is_first_level else 0)

    def _is_short(self, pattern: tuple[bool, ...], number: int) -> bool:
        return self.shortlisted and pattern[number % len(pattern)]

    def _annealing(self, seconds: Callable[[], float]) -> Iterator[float]:
        """Yield, for each annealing sweep, the fraction of the annealing before it."""
        if self.time_limit is None:
            yield from (number / self.anneal for number in range(self.anneal))
            return
        time = self.time_limit * _ANNEALING_TIME
        # Placing has shown how long a sweep takes.
        if not self.anneal or time / max(seconds(), 1e-3) < _MIN_TIMED_ANNEALING:
            return
        for _ in range(_MAX_TIMED_ANNEALING):
            if (fraction := seconds() / time) >= 1:
                return
            yield fraction
