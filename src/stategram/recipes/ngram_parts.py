"""Parts of recipes that count n-grams: models of words, of word classes, and caches of the words so far."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from stategram.clustering import EFFORTS
from stategram.display import plural
from stategram.models import (
    SMOOTHINGS,
    Budget,
    CacheModel,
    CategoryNgramModel,
    Model,
    NgramModel,
    check_decays,
    check_min_counts,
    default_min_counts,
    drop_ngrams,
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
from stategram.recipes.training import ClassSource, Training, TrainingText

_log = logging.getLogger(__name__)
_Order: TypeAlias = Annotated[
    int, Meta(ge=1, le=9, description="maximum order of n-grams, of words or of classes")
]
_Smoothing: TypeAlias = Annotated[
    Annotated[str, choice(SMOOTHINGS)],
    Meta(
        description="estimation of probabilities: kneser-ney is modified and interpolated, katz backs off "
        "with Good-Turing discounts"
    ),
]
_Decay: TypeAlias = Annotated[float, Meta(gt=0, le=1)]


class _PartOfNgrams(Part, frozen=True):
    """What n-gram models of words and of classes have in common."""

    @property
    def has_ngrams(self) -> bool:
        """Whether its model has n-grams."""
        return True

    def shrink(
        self, model: Model, training: Training, budget: Budget, progress: Progress | None = None
    ) -> Model:
        """Drop the n-grams that it can best do without."""
        return drop_ngrams(model, budget, progress=progress)


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

    @property
    def needs_corpus(self) -> bool:
        """Whether it needs the whole text at once: n-grams are counted shard by shard."""
        return False

    def check(self, name: Callable[[str], str] = str) -> None:
        """Refuse values that are inconsistent."""
        if self.min_counts is not None:
            with about_key(name("min_counts")):
                check_min_counts(self.min_counts, self.order)

    def resolve(self, corpus: TrainingText) -> NgramPart:
        """Fill in the counts of the smoothing."""
        counts = self.min_counts or list(default_min_counts(self.smoothing, self.order))
        return msgspec.structs.replace(self, min_counts=counts)

    def train(self, training: Training, progress: Progress | None = None) -> Trained:
        """Train the model."""
        training.forget_counts()
        model = NgramModel.from_counts(
            training.ngrams(self.order, subprogress(progress, 0.0, 0.6)),
            smoothing=self.smoothing,
            min_counts=self.min_counts,
            prune=self.prune,
            progress=subprogress(progress, 0.6, 1.0),
        )
        for note in model.training_info["notes"]:
            _log.info("note: %s", note)
        for length, discounts in enumerate(model.training_info["discounts"], 1):
            values = " ".join(f"{discount:.4f}" for discount in discounts)
            _log.debug("discounts of n-grams of %s: %s", plural(length, "word"), values)
        model = model.fit_unknown(training.heldout) if training.fits_unknown else model
        return Trained(replace(model, metadata=self.to_json()))


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

    def resolve(self, corpus: TrainingText) -> CategoryNgramPart:
        """Fill in the number of classes."""
        return msgspec.structs.replace(self, classes=number_of_classes(self.classes, corpus))

    def efforts(self) -> dict[int, str]:
        """Return with which effort it learns how many word classes."""
        return {self.classes: self.effort} if isinstance(self.classes, int) else {}

    def train(self, training: Training, progress: Progress | None = None) -> Trained:
        """Train the model."""
        training.forget_counts()
        classes = training.classes(ClassSource(self.classes, self.effort), subprogress(progress, 0.0, 0.7))
        model = CategoryNgramModel.train(
            training.corpus,
            classes,
            self.order,
            smoothing=self.smoothing,
            progress=subprogress(progress, 0.7, 1.0),
        )
        return Trained(replace(model, metadata=self.to_json()))


class CachePart(Part, frozen=True, tag="cache"):
    """A cache of the text that is being scored; the keys are the parameters of `CacheModel.train`."""

    order: Annotated[
        int, Meta(ge=1, le=3, description="count words (1), bigrams too (2), or trigrams too (3)")
    ] = 3
    decays: Annotated[
        list[_Decay] | None,
        Meta(
            description="by how much each further word reduces what earlier n-grams count",
            extra={"possible": "a list with a number above 0 and up to 1 for each length of n-grams"},
        ),
    ] = None

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return f"cache of order {self.order}"

    def check(self, name: Callable[[str], str] = str) -> None:
        """Refuse values that are inconsistent."""
        if self.decays is not None:
            with about_key(name("decays")):
                check_decays(self.decays, self.order)

    def train(self, training: Training, progress: Progress | None = None) -> Trained:
        """Train the model."""
        model = CacheModel.train(training.corpus, self.order, decays=self.decays)
        return Trained(replace(model, metadata=self.to_json()))
