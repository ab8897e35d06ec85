"""A part of a recipe: one model, with its keys in a recipe file, and how it is trained."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self, TypeAlias

import msgspec
import numpy as np
from msgspec import Meta

from stategram.clustering import Clustering, by_size, is_size
from stategram.errors import UsageError
from stategram.experiments.recipe_keys import RecipeKey, keys_of
from stategram.experiments.training import Training
from stategram.formats import read_classes
from stategram.models import Model
from stategram.progress import Progress
from stategram.text import Corpus

SIZES = 'a number, "size" (by the size of the text), "0.5 size"'
"""The possible numbers of clusters in words."""
Count: TypeAlias = Annotated[int, Meta(ge=1, le=1_000_000)]
Classes: TypeAlias = Count | Annotated[str, Meta(min_length=1)]


@dataclass(frozen=True)
class Trained:
    """A trained part, and what its clustering found, if it has one."""

    model: Model
    clustering: Clustering | None = None
    ended_early: bool = False


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="model", kw_only=True):
    """One model of a recipe."""

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        raise NotImplementedError

    @property
    def lacks_tags(self) -> bool:
        """Whether its context has tags, but it does not say which."""
        return False

    @classmethod
    def keys(cls) -> dict[str, RecipeKey]:
        """Return its keys in a recipe file."""
        return keys_of(cls)

    @classmethod
    def from_keys(cls, values: Mapping[str, Any]) -> Self:
        """Return the part with these values of its keys."""
        return cls(**values)

    def check(self, name: Callable[[str], str] = str) -> None:
        """Refuse values that are inconsistent: UsageError, beginning with the key, as `name` writes it."""

    def files(self) -> list[tuple[str, str]]:
        """Return the files that it needs: their use, and their name."""
        return []

    def check_files(self) -> None:
        """Look into the files that it needs: an error now, not when they are needed."""
        for use, name in self.files():
            if use == "classes" and name != "-":
                read_classes(name)

    def resolve(self, corpus: Corpus) -> Part:
        """Fill in what follows from the text and from presets; too large numbers are lowered."""
        return self

    def efforts(self) -> dict[int, str]:
        """Return with which effort it learns how many word classes."""
        return {}

    def with_efforts(self, efforts: Mapping[int, str]) -> Part:
        """Learn word classes of a context as other parts learn them, so that they are shared."""
        return self

    def train(self, training: Training, progress: Progress | None = None) -> Trained:
        """Train the model, of a part that is resolved."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """Return its keys and values, as in a recipe file."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found

    def metadata(self, ended_early: bool = False) -> dict[str, Any]:
        """Return what a model says of the part that it is."""
        return self.to_json() | ({"ended_early": True} if ended_early else {})

    def key(self, training: Training) -> str:
        """Return the content key of the part in a training."""
        return training.key(self.to_json(), *(Path(name) for _, name in self.files()))


@contextmanager
def about_key(name: str) -> Iterator[None]:
    """Begin an error with the key that it is about."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from error


def class_file(classes: int | str | None) -> list[tuple[str, str]]:
    """Return the file of classes that come from one, with its use."""
    return [("classes", classes)] if isinstance(classes, str) and not is_size(classes) else []


def number_of_classes(given: int | str, corpus: Corpus) -> int | str:
    """Return a number of clusters of words: never more than half of the different words of the text."""
    most = max(1, int(np.count_nonzero(corpus.word_counts)) // 2)
    if isinstance(given, str):
        return min(by_size(given, corpus.n_events), most) if is_size(given) else given
    return min(given, most)
