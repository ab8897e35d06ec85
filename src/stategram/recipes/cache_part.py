"""Parts of recipes that are caches of the text that is being scored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, TypeAlias

from msgspec import Meta

from stategram.models import CacheModel, check_decays
from stategram.progress import Progress
from stategram.recipes.part import Part, Trained, about_key
from stategram.recipes.training import Training

_Decay: TypeAlias = Annotated[float, Meta(gt=0, le=1)]


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
        return Trained(replace(model, metadata=self.metadata()))
