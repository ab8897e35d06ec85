"""How contexts are clustered: every knob, declared once, and the presets.

The keys of recipes, docs/recipes.md and the options of the command line are made from these fields.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from stategram.clustering.schedule import EXCHANGE_OF_CLASSES, Schedule, shortlists_save_time
from stategram.errors import UsageError
from stategram.storage import check_fields

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
PRESETS = {name: effort.contexts for name, effort in EFFORTS.items()}
