"""Parts of recipes that are n-gram models: of words, and of word classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from stategram.clustering import EFFORTS
from stategram.models import (
    SMOOTHINGS,
    CategoryNgramModel,
    Model,
    NgramModel,
    check_min_counts,
    default_min_counts,
    prune_model,
)
from stategram.progress import Progress, subprogress
from stategram.recipes.part import (
    SIZES,
    Classes,
    Count,
    Part,
    Trained,
    about_key,
    choice,
    class_file,
    number_of_classes,
)
from stategram.recipes.training import ClassSource, Training
from stategram.text import Corpus

_Order: TypeAlias = Annotated[
    int, Meta(ge=1, le=9, description="number of words, or of classes, of the longest n-grams")
]
_Smoothing: TypeAlias = Annotated[
    Annotated[str, choice(SMOOTHINGS)], Meta(description="how probabilities are estimated")
]


class _PartOfNgrams(Part, frozen=True):
    """What n-gram models of words and of classes have in common."""

    @property
    def has_ngrams(self) -> bool:
        """Whether its model has n-grams."""
        return True

    def shrink(
        self, model: Model, training: Training, max_size: int, progress: Progress | None = None
    ) -> Model:
        """Drop the n-grams that it can best do without."""
        return prune_model(model, max_size=max_size, progress=progress)


class NgramPart(_PartOfNgrams, frozen=True, tag="ngram"):
    """An n-gram model of words; the keys are the parameters of `NgramModel.train`."""

    order: _Order = 5
    smoothing: _Smoothing = "kneser-ney"
    min_counts: Annotated[
        list[Count] | None,
        Meta(
            description="how often an n-gram must occur; by default that of the smoothing",
            extra={"possible": "a list with a number for each length of n-grams"},
        ),
    ] = None
    prune: Annotated[
        float,
        Meta(
            ge=0,
            lt=1,
            description="drop n-grams without which the perplexity rises by less than this fraction",
            extra={"possible": "a fraction from 0 on, such as 1e-8"},
        ),
    ] = 0.0

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return f"{self.order}-gram model ({self.smoothing})"

    def check(self, name: Callable[[str], str] = str) -> None:
        """Refuse values that are inconsistent."""
        if self.min_counts is not None:
            with about_key(name("min_counts")):
                check_min_counts(self.min_counts, self.order)

    def resolve(self, corpus: Corpus) -> NgramPart:
        """Fill in the counts of the smoothing."""
        counts = self.min_counts or list(default_min_counts(self.smoothing, self.order))
        return msgspec.structs.replace(self, min_counts=counts)

    def train(self, training: Training, progress: Progress | None = None) -> Trained:
        """Train the model."""
        training.forget_counts()
        model = NgramModel.train(
            training.counted(self.order),
            self.order,
            smoothing=self.smoothing,
            min_counts=self.min_counts,
            prune=self.prune,
            progress=progress,
        )
        return Trained(replace(model, metadata=self.metadata()))


class CategoryNgramPart(_PartOfNgrams, frozen=True, tag="category-ngram"):
    """An n-gram model of word classes, which are learned with an effort or read from a file."""

    classes: Annotated[
        Classes, Meta(description="the word classes", extra={"possible": f"{SIZES}, or a class file"})
    ] = "size"
    effort: Annotated[
        Annotated[str, choice(EFFORTS)],
        Meta(description="search effort for word classes; paper: the categories of a clustering of w-1"),
    ] = "normal"
    order: _Order = 5
    smoothing: _Smoothing = "kneser-ney"

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        classes = f"{self.classes:,} classes" if isinstance(self.classes, int) else self.classes
        return f"{self.order}-gram model of {classes}"

    def files(self) -> list[tuple[str, str]]:
        """Return the class file, if it needs one."""
        return class_file(self.classes)

    def resolve(self, corpus: Corpus) -> CategoryNgramPart:
        """Fill in the number of classes."""
        return msgspec.structs.replace(self, classes=number_of_classes(self.classes, corpus))

    def efforts(self) -> dict[int, str]:
        """Return with which effort it learns how many word classes."""
        return {self.classes: self.effort} if isinstance(self.classes, int) else {}

    def train(self, training: Training, progress: Progress | None = None) -> Trained:
        """Train the model."""
        training.forget_counts()
        classes, ended_early = training.classes(
            ClassSource(self.classes, self.effort), subprogress(progress, 0.0, 0.7)
        )
        model = CategoryNgramModel.train(
            training.corpus,
            classes,
            self.order,
            smoothing=self.smoothing,
            progress=subprogress(progress, 0.7, 1.0),
        )
        return Trained(replace(model, metadata=self.metadata(ended_early)), ended_early=ended_early)
