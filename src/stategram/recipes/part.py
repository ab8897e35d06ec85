"""A part of a recipe: one model, with its keys in a recipe file, and how it is trained.

The keys are the fields of the part. A field says in its `Meta` what it is for and what is possible:
constraints, a description, and, where the constraints do not say it well, the possible values in words:
``extra={"possible": ...}``. Errors, docs/recipes.md and options follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self, TypeAlias, get_args

import msgspec
import numpy as np
from msgspec import Meta, inspect

from stategram.clustering import Clustering, by_size, is_size
from stategram.errors import BadDataError, UsageError
from stategram.formats import read_classes
from stategram.models import Budget, Model, size_within
from stategram.progress import Progress
from stategram.recipes.training import Training, TrainingText

SIZES = 'a number, "size" (by the size of the text), "0.5 size"'
"""The possible numbers of clusters in words."""
Count: TypeAlias = Annotated[int, Meta(ge=1, le=1_000_000)]
Classes: TypeAlias = Count | Annotated[str, Meta(min_length=1)]
_LONGEST_SHOWN = 60


class RecipeKey(NamedTuple):
    """A key: its type, default, purpose, and possible values in words."""

    name: str
    type: Any
    default: Any
    meaning: str
    possible: str

    def convert(self, value: object, where: str) -> Any:
        """Return a value of a file, if it is possible; BadDataError else."""
        try:
            return msgspec.convert(value, self.type)
        except msgspec.ValidationError as error:
            raise BadDataError(f"{where}{self.name} is {shown(value)}; possible: {self.possible}") from error


@dataclass(frozen=True)
class Trained:
    """A trained part, and what its clustering found, if it has one."""

    model: Model
    clustering: Clustering | None = None


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

    @property
    def needs_heldout(self) -> bool:
        """Whether it learns something from the held-out text."""
        return False

    @property
    def needs_corpus(self) -> bool:
        """Whether it needs the whole text at once, not only its counts."""
        return True

    @property
    def has_ngrams(self) -> bool:
        """Whether its model has n-grams, of words or of classes."""
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
            if use == "classes" and (Path(name).is_file() or not Path(name).exists()):  # pipes are read once
                read_classes(name)

    def resolve(self, corpus: TrainingText) -> Part:
        """Fill in what follows from the text and from efforts; too large numbers are lowered."""
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

    def train_within(self, training: Training, budget: Budget, progress: Progress | None = None) -> Trained:
        """Train the model so that it is within the limit of a budget; UsageError if impossible."""
        trained = self.train(training, progress)
        return replace(trained, model=self.shrink(trained.model, training, budget, progress))

    def shrink(
        self, model: Model, training: Training, budget: Budget, progress: Progress | None = None
    ) -> Model:
        """Return the model of this part within the limit of a budget, as good as can be had."""
        limit, size = require_max_size(self, budget), size_within(budget)(model)
        if size > limit:
            raise UsageError(
                f"{limit:,} bytes are too few: {model!r} takes {size:,} and cannot be smaller; allow more, "
                "or change the recipe"
            )
        return model

    def to_json(self) -> dict[str, Any]:
        """Return its keys and values, as in a recipe file."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found

    def key(self, training: Training) -> str:
        """Return the content key of the part in a training."""
        return training.key(self.to_json(), *(Path(name) for _, name in self.files()))


def require_max_size(part: Part, budget: Budget) -> int:
    """Return the size that a model without n-grams may have; UsageError if the limit is of n-grams."""
    if budget.max_size is None:
        raise UsageError(f"{part.title}: it has no n-grams to drop; give a maximum size instead")
    return budget.max_size


def choice(names: Iterable[str]) -> Meta:
    """Return the constraint on a string that it is one of some names."""
    names = list(names)
    return Meta(pattern=rf"\A({'|'.join(names)})\Z", extra={"possible": ", ".join(names), "choices": names})


def keys_of(kind: type[msgspec.Struct]) -> dict[str, RecipeKey]:
    """Return the keys of a struct by name; a field that is a struct itself is none.

    >>> from typing import Annotated
    >>> order = Annotated[int, Meta(ge=1, le=9, description="length")]
    >>> keys_of(msgspec.defstruct("Part", [("order", order, 5)]))["order"][2:]
    (5, 'length', '1 to 9')
    """
    return {field.name: _key(field) for field in msgspec.structs.fields(kind) if not _is_struct(field.type)}


def check_keys(where: str, data: Mapping[str, object], possible: Iterable[str]) -> None:
    """Refuse keys that are not possible."""
    possible = tuple(possible)
    for key in data:
        if key not in possible:
            raise BadDataError(f"{where}no key {key!r} is possible; there are {', '.join(possible)}")


def shown(value: object) -> str:
    """Return a value as an error shows it."""
    text = repr(value) if not isinstance(value, bool) else str(value).lower()
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "..."


def _is_struct(kind: object) -> bool:
    return any(isinstance(one, type) and issubclass(one, msgspec.Struct) for one in (kind, *get_args(kind)))


def _key(field: msgspec.structs.FieldInfo) -> RecipeKey:
    metadata = [one for one in getattr(field.type, "__metadata__", ()) if isinstance(one, Meta)]
    meaning = next((one.description for one in reversed(metadata) if one.description), "")
    names = [name for kind in get_args(field.type) for name in get_args(kind) if isinstance(name, str)]
    possible = ", ".join(names) or _possible_values(inspect.type_info(field.type))
    default = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
    return RecipeKey(field.name, field.type, default, meaning, possible)


def _possible_values(info: inspect.Type) -> str:
    """Return the possible values of a type in words."""
    if isinstance(info, inspect.Metadata):
        said = (info.extra or {}).get("possible")
        return said if isinstance(said, str) else _possible_values(info.type)
    if isinstance(info, inspect.UnionType):
        others = [one for one in info.types if not isinstance(one, inspect.NoneType)]
        return " or ".join(map(_possible_values, others))
    if isinstance(info, inspect.BoolType):
        return "true or false"
    if isinstance(info, inspect.IntType | inspect.FloatType):
        least = info.ge if info.ge is not None else info.gt
        most = info.le if info.le is not None else info.lt
        if most is None or most >= 1_000_000:
            return f"a number of at least {least:g}"
        return f"{least:g} to {most:g}"
    raise TypeError(f"say what is possible for {info}: extra={{'possible': ...}}")


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


def number_of_classes(given: int | str, corpus: TrainingText) -> int | str:
    """Return a number of clusters of words: never more than half of the different words of the text."""
    most = max(1, int(np.count_nonzero(corpus.word_counts)) // 2)
    if isinstance(given, str):
        return min(by_size(given, corpus.n_events), most) if is_size(given) else given
    return min(given, most)
