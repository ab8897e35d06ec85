"""What a recipe may say: the keys of each kind of part, and what is possible for each.

The types say it all: the text of a `Meta` is what an error tells of a key.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from stategram.clustering import CLUSTERING_CRITERIA, EFFORTS, PRESETS, SIZE
from stategram.models import GATE_KINDS, SMOOTHINGS

_Count: TypeAlias = Annotated[int, Meta(ge=1, le=1_000_000)]


def one_of(names: Iterable[str]) -> str:
    """Give a pattern for one of these names, or patterns, and nothing before or after it."""
    return rf"\A({'|'.join(names)})\Z"


_Order: TypeAlias = Annotated[Annotated[int, Meta(ge=1, le=9)], Meta(description="1 to 9")]
_Smoothing: TypeAlias = Annotated[
    Annotated[str, Meta(pattern=one_of(SMOOTHINGS))], Meta(description=", ".join(SMOOTHINGS))
]
_Effort: TypeAlias = Annotated[
    Annotated[str, Meta(pattern=one_of(EFFORTS))], Meta(description=", ".join(EFFORTS))
]
_Clusters: TypeAlias = Annotated[
    _Count | Annotated[str, Meta(pattern=one_of((SIZE, "auto")))],
    Meta(description='a number, "size" (by the size of the text), "0.5 size", or "auto" (tried out)'),
]
_Classes: TypeAlias = Annotated[
    _Count | Annotated[str, Meta(min_length=1)],
    Meta(description='a number, "size" (by the size of the text), "0.5 size", or a class file'),
]
_AtLeastOne: TypeAlias = Annotated[_Count | None, Meta(description="a number of at least 1")]
_AtLeastZero: TypeAlias = Annotated[
    Annotated[int, Meta(ge=0, le=1_000_000)] | None, Meta(description="a number of at least 0")
]


class NgramPart(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="model", tag="ngram", kw_only=True
):
    """An n-gram model of words; the keys are the parameters of `NgramModel.train`."""

    order: _Order = 5
    smoothing: _Smoothing = "kneser-ney"
    min_counts: Annotated[
        list[_Count] | None, Meta(description="a list with a number for each length of n-grams")
    ] = None
    prune: Annotated[
        Annotated[float, Meta(ge=0, lt=1)], Meta(description="a share from 0 on, such as 1e-8")
    ] = 0.0


class CategoryNgramPart(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    tag_field="model",
    tag="category-ngram",
    kw_only=True,
):
    """An n-gram model of word classes, which are learned with an effort or read from a file."""

    classes: _Classes = "size"
    effort: _Effort = "normal"
    order: _Order = 5
    smoothing: _Smoothing = "kneser-ney"


class ClusteredPart(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="model", tag="clustered", kw_only=True
):
    """A clustered model; the keys are the parameters of `cluster`, those of its preset where not given."""

    context: Annotated[str, Meta(description="values such as w-2,w-1 or g-3,g-2,w-1")] = "w-2,w-1"
    tree_order: Annotated[str | None, Meta(description="the values of the context in another order")] = None
    tree: Annotated[bool, Meta(description="true or false")] = True
    states: _Clusters = "size"
    categories: _Clusters = "size"
    preset: Annotated[Annotated[str, Meta(pattern=one_of(PRESETS))], Meta(description=", ".join(PRESETS))] = (
        "normal"
    )
    criterion: Annotated[
        Annotated[str, Meta(pattern=one_of(CLUSTERING_CRITERIA))] | None,
        Meta(description=", ".join(CLUSTERING_CRITERIA)),
    ] = None
    min_count: _AtLeastOne = None
    tolerance: Annotated[
        Annotated[float, Meta(ge=0, lt=1)] | None, Meta(description="a share from 0 to 1, such as 0.001")
    ] = None
    max_sweeps: _AtLeastOne = None
    anneal: _AtLeastZero = None
    candidates: _AtLeastZero = None
    tags: Annotated[str | None, Meta(description="brill, or a file of words and tags")] = None
    guess_tags: Annotated[bool, Meta(description="true or false")] = True
    context_classes: Annotated[
        _Classes | None,
        Meta(description='a number, "size" (by the size of the text), "0.5 size", or a class file'),
    ] = None
    effort: Annotated[
        Annotated[str, Meta(pattern=one_of(EFFORTS))] | None, Meta(description=", ".join(EFFORTS))
    ] = None
    """That of the classes of the context, if they are learned."""


class MixturePart(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the parts are mixed."""

    buckets: Annotated[
        Annotated[str, Meta(pattern=one_of(("auto", *GATE_KINDS)))],
        Meta(description=", ".join(("auto", *GATE_KINDS))),
    ] = "auto"


Part: TypeAlias = NgramPart | CategoryNgramPart | ClusteredPart

PARTS: dict[str, type[Part]] = {
    "ngram": NgramPart,
    "category-ngram": CategoryNgramPart,
    "clustered": ClusteredPart,
}


MEANINGS = {
    "order": "number of words, or of classes, of the longest n-grams",
    "smoothing": "how probabilities are estimated",
    "min_counts": "how often an n-gram must occur; by default what is usual for the smoothing",
    "prune": "drop n-grams without which the perplexity rises by less than this share",
    "classes": "the word classes",
    "effort": "how hard to look for word classes; for those of a context as another part does, or normal",
    "context": "what is known of the words before: words w, tags t, classes g, 1 being the nearest",
    "tree_order": "the values in the order in which they part groups of contexts; by default nearest first",
    "tree": "whether groups of contexts move first, single ones later; else single ones from the start",
    "states": "how many clusters of contexts",
    "categories": "how many clusters of words",
    "preset": "how hard to look; gives the keys of the table below that are not given",
    "criterion": "maximum likelihood, or leaving-one-out",
    "min_count": "contexts with fewer events do not move on their own",
    "tolerance": "a level ends when a sweep lowers the perplexity by less than this share",
    "max_sweeps": "a level ends after so many sweeps at most",
    "anneal": "annealing sweeps on the first level",
    "candidates": "look at so many clusters only in two of three sweeps; 0: always at all",
    "tags": "tags of a context that has some; --tags where not given",
    "guess_tags": "whether words that a file of tags lacks have the tag of words that end alike",
    "context_classes": "word classes of a context that has some; by the size of the text where not given",
    "buckets": "of what the weights depend; auto tries them out",
}
"""What each key is for."""


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """Which models to train on a text and to mix.

    Examples
    --------
    >>> from stategram.experiments.recipe_parts import NgramPart
    >>> Recipe(name="one", part=[NgramPart(order=2)]).to_json()["part"][0]["order"]
    2

    """

    part: list[Part]
    mixture: MixturePart = MixturePart()
    name: str = "recipe"

    def to_json(self) -> dict[str, object]:
        """Give what a manifest says of it."""
        found: dict[str, object] = msgspec.to_builtins(self)
        return found
