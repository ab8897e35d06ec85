"""How contexts are clustered: every knob, declared once, the efforts, and the sweeps that follow from them.

The keys of recipes and docs/recipes.md are made from these fields.

Plain exchange moves one element at a time and is stuck as soon as no single move gains. So it may be annealed
first: sweeps in which an element may also move where the criterion loses, with a temperature that falls to
(nearly) nothing. Plain sweeps follow until they gain too little. Then rounds of merge-split may escape
further: each merges some classes and splits others, sweeps, and is kept if the criterion has gained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from stategram.errors import UsageError
from stategram.storage import check_fields

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


_Count = Annotated[int, Meta(ge=0, le=1_000_000)]
_Positive = Annotated[int, Meta(ge=1, le=1_000_000)]


class ClusteringSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How to cluster contexts and words."""

    states: Annotated[int, Meta(ge=1, description="number of clusters of contexts")] = 2000
    categories: Annotated[int, Meta(ge=1, description="number of clusters of words")] = 2000
    tree: Annotated[
        bool,
        Meta(description="whether groups of contexts move first, single ones later; else single ones only"),
    ] = True
    flat_start: Annotated[
        Literal["frequent", "nearest"],
        Meta(
            description="without a tree: the most frequent contexts begin with a state each, the others "
            "share the last; or each begins in the state of its nearest value"
        ),
    ] = "nearest"
    criterion: Annotated[
        Literal["ml", "leave-one-out"], Meta(description="maximum likelihood, or leaving-one-out")
    ] = "ml"
    min_count: Annotated[
        _Positive, Meta(description="contexts with fewer events do not move on their own")
    ] = 6
    min_word_count: Annotated[
        _Positive, Meta(description="words with fewer events stay in the last category")
    ] = 1
    free_states: Annotated[
        float,
        Meta(
            ge=0,
            lt=1,
            description="fraction of states, those with the fewest events, that a deeper level frees and "
            "gives to the contexts that gain most",
            extra={"possible": "a fraction from 0 to 1, such as 0.85"},
        ),
    ] = 0.85
    anneal: Annotated[_Count, Meta(description="annealing sweeps on the first level")] = 0
    tolerance: Annotated[
        float,
        Meta(
            ge=0,
            lt=1,
            description="a level ends when a sweep over all clusters improves the criterion by less than "
            "this fraction of it",
            extra={"possible": "a fraction from 0 to 1, such as 0.0001"},
        ),
    ] = 0.00007
    max_sweeps: Annotated[
        _Positive, Meta(description="maximum number of sweeps on a level, annealing not counted")
    ] = 6
    candidates: Annotated[
        _Count,
        Meta(
            description="shortlist size: in two of every three sweeps score only so many candidate clusters "
            "(0, or fewer clusters than 12.5 times as many: all)"
        ),
    ] = 16
    seed: Annotated[int, Meta(ge=0, description="seed of the annealing")] = 0

    @property
    def schedule(self) -> Schedule:
        """The sweeps of a level."""
        return Schedule(
            self.anneal,
            self.max_sweeps,
            self.tolerance,
            candidates=self.candidates or Schedule.candidates,
            shortlisted=shortlists_save_time(min(self.states, self.categories), self.candidates),
        )

    def __post_init__(self) -> None:
        """Raise a UsageError for a value that is not possible."""
        check_fields(self)

    def replace(self, **knobs: Any) -> ClusteringSettings:
        """Return these settings with other values."""
        names = self.__struct_fields__
        for name in knobs:
            if name not in names:
                raise UsageError(f"there is no option {name!r} of a clustering; there are {', '.join(names)}")
        return ClusteringSettings(**(msgspec.structs.asdict(self) | knobs))


class Effort(msgspec.Struct, frozen=True):
    """The sweeps of one effort, for word classes and for contexts."""

    classes: Schedule
    contexts: ClusteringSettings


def _classes(anneal: int, max_sweeps: int, rounds: int = 0, candidates: int = 8) -> Schedule:
    return Schedule(anneal, max_sweeps, rounds=rounds, candidates=candidates, exchange=EXCHANGE_OF_CLASSES)


EFFORTS = {
    "paper": Effort(
        Schedule(anneal=0, max_sweeps=50, tolerance=0.01, shortlisted=False),
        ClusteringSettings(
            min_count=6,
            min_word_count=6,
            tolerance=0.01,
            max_sweeps=50,
            candidates=0,
            criterion="ml",
            flat_start="frequent",
            free_states=0,
        ),
    ),
    "fast": Effort(_classes(anneal=0, max_sweeps=2, candidates=16), ClusteringSettings(max_sweeps=3)),
    "normal": Effort(_classes(anneal=48, max_sweeps=2), ClusteringSettings()),
    "best": Effort(
        _classes(anneal=240, max_sweeps=10, rounds=5),
        ClusteringSettings(anneal=20, tolerance=0.000014, max_sweeps=12),
    ),
}
"""The search efforts, for word classes and for contexts.

Word classes are few and their sweeps cheap: they are annealed, and plain sweeps settle them; "best" then has
rounds of merge-split. With 240 annealing sweeps and 5 rounds 500 classes have a higher AMI than with 100
and 25 in about the same time; the two numbers were not varied separately.
Contexts are many: a level ends when a sweep over all clusters improves the criterion by less than `tolerance`
of it.

"paper" is the algorithm of Ueberla and Gransden (1996), as far as they describe it: plain exchange from the
initial clustering; every sweep goes over all clusters; a level ends when a sweep over words and contexts,
from the second one on, improves the criterion F by less than 1% of it; words and contexts with fewer than 6
events do not move. Where the paper does not say it, this is the choice: F is that of maximum likelihood
(`criterion` has leaving-one-out) without the constant sum of N(w) log N(w), so that 1% of it is 0.14 to 0.17
nats per event, 13 to 16% of the perplexity; elements are scored in batches of 64 and up to an eighth of
those before them; initially the most frequent words and contexts have a cluster each, and all others share
the last one; on a deeper level, states without contexts are given to the contexts that gain most.
"""
CONTEXT_EFFORTS = {name: effort.contexts for name, effort in EFFORTS.items()}
