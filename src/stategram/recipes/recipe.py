"""Recipes: built-in ones, and those that are read from a TOML file."""

from __future__ import annotations

import logging
import os
import tomllib
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from stategram.clustering import is_size
from stategram.contexts import file_of_tags
from stategram.errors import BadDataError, StategramError, UsageError
from stategram.models import GATE_KINDS, Budget
from stategram.recipes.clustered_part import ClusteredPart
from stategram.recipes.ngram_parts import CachePart, CategoryNgramPart, NgramPart
from stategram.recipes.part import Part, RecipeKey, check_keys, choice, keys_of, shown
from stategram.recipes.training import TrainingText
from stategram.recipes.word_tree_part import WordTreePart

_log = logging.getLogger(__name__)

PARTS: dict[str, type[Part]] = {
    "ngram": NgramPart,
    "category-ngram": CategoryNgramPart,
    "cache": CachePart,
    "word-tree": WordTreePart,
    "clustered": ClusteredPart,
}
"""The kinds of parts by the value of their key ``model``."""


class MixturePart(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the parts are mixed."""

    buckets: Annotated[
        Annotated[str, choice(("auto", *GATE_KINDS))],
        Meta(description="what the weights depend on; auto tries them out"),
    ] = "auto"


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """Which models to train on a text and to mix.

    Examples
    --------
    >>> from stategram import Recipe
    >>> from stategram.recipes import NgramPart
    >>> Recipe(name="one", part=[NgramPart(order=2)]).to_json()["part"][0]["order"]
    2

    """

    part: list[Part]
    mixture: MixturePart = MixturePart()
    name: str = "recipe"

    @property
    def title(self) -> str:
        """What it is, in a few words: its name, or what its only part is."""
        return f"recipe {self.name}" if len(self.part) > 1 else self.part[0].title

    @property
    def needs_corpus(self) -> bool:
        """Whether a part needs the whole text at once, not only its counts."""
        return any(part.needs_corpus for part in self.part)

    @property
    def needs_heldout(self) -> bool:
        """Whether weights are learned: those of several parts, or of a part itself."""
        return len(self.part) > 1 or any(part.needs_heldout for part in self.part)

    def check_budget(self, budget: Budget) -> None:
        """Refuse a budget that no model of the recipe can have."""
        if len(self.part) > 1 and budget.has_limit and budget.max_size is None:
            raise UsageError(
                f"recipe {self.name} has several parts: only the size of their file can be limited; give a "
                "maximum size in bytes"
            )
        if budget.compact and not any(part.has_ngrams for part in self.part):
            raise UsageError(f"recipe {self.name} has no n-grams to round: its model cannot be compact")

    def files(self) -> list[tuple[str, str]]:
        """Return the class files and tag files that it needs: their use, and their name."""
        return list(dict.fromkeys(file for part in self.part for file in part.files()))

    def with_tags(self, tags: str | None) -> Recipe:
        """Return the recipe with these tags for contexts that name none; UsageError if they need some."""
        if tags is None:
            for number, part in enumerate(self.part, 1):
                if part.lacks_tags:
                    raise UsageError(
                        f"recipe {self.name}: part {number} has tags in its context, but does not say which; "
                        'add tags = "brill" or a file to the part, or give tags for all of them'
                    )
            return self
        parts = [msgspec.structs.replace(part, tags=tags) if part.lacks_tags else part for part in self.part]
        return msgspec.structs.replace(self, part=parts)

    def resolve(self, corpus: TrainingText) -> Recipe:
        """Fill in what follows from the text and from efforts.

        There are never more classes than half of the different words of the text; of parts that are then the
        same one is kept. ``auto`` stays: it is known only when the part is trained.

        Examples
        --------
        >>> from stategram import corpus_from_sentences
        >>> from stategram.recipes import RECIPES
        >>> text = corpus_from_sentences(["the cat sat on a mat", "the dog ran to the house"])
        >>> RECIPES["paper"].resolve(text).part[1].categories
        5

        """
        parts = [part.resolve(corpus) for part in self.part]
        for given, part in zip(self.part, parts, strict=True):
            _note_lowered(given, part)
        efforts: dict[int, str] = {}
        for part in parts:
            efforts |= part.efforts()
        parts = [part.with_efforts(efforts) for part in parts]
        different = [part for number, part in enumerate(parts) if part not in parts[:number]]
        return msgspec.structs.replace(self, part=different)

    def to_json(self) -> dict[str, Any]:
        """Return what a manifest says of it."""
        return {
            "part": [part.to_json() for part in self.part],
            "mixture": msgspec.to_builtins(self.mixture),
            "name": self.name,
        }


RECIPES = {
    # A minute or less for millions of words: two chains and a small vector state.
    "fast": Recipe(
        name="fast",
        part=[
            WordTreePart(
                trees=[500],
                classes=["0.3 size"],
                states=["linear 128"],
                chains=["w-1 w-2 w-3 w-4", "w-2 w-3"],
                events=50_000,
                effort="fast",
            )
        ],
    ),
    # Ueberla and Gransden (1996): a trigram beside the clustered model of the same two words.
    "paper": Recipe(
        name="paper",
        part=[
            NgramPart(order=3, smoothing="katz", min_counts=[1, 1, 2]),
            ClusteredPart(states=2000, categories=2000, effort="paper"),
        ],
        mixture=MixturePart(buckets="none"),
    ),
    # Minutes for millions of words.
    "best": Recipe(name="best", part=[WordTreePart()]),
}


def read_recipe(name: str | os.PathLike[str]) -> Recipe:
    """Return a built-in recipe by its name, or read one from a TOML file.

    A file has a ``[[part]]`` for each model and may have a ``[mixture]``. Files that it names are looked for
    beside it.

    Raises
    ------
    BadDataError
        If the file is not TOML, or has a key or a value that is not possible; the message says which are.

    Examples
    --------
    >>> [type(part).__name__ for part in read_recipe("paper").part]
    ['NgramPart', 'ClusteredPart']
    >>> read_recipe("quick")
    Traceback (most recent call last):
    ...
    stategram.errors.UsageError: no recipe 'quick': there are fast, paper, best, and files such as recipe.toml

    """
    if os.fspath(name) in RECIPES:
        return RECIPES[os.fspath(name)]
    path = Path(name)
    try:
        data = tomllib.loads(path.read_bytes().decode())
    except FileNotFoundError as error:
        if path.suffix == ".toml" or path.name != os.fspath(name):
            raise StategramError(f"{path}: no such file; expected a recipe in TOML") from error
        raise UsageError(
            f"no recipe {os.fspath(name)!r}: there are {', '.join(RECIPES)}, and files such as recipe.toml"
        ) from error
    except (IsADirectoryError, PermissionError) as error:
        raise BadDataError(f"{path}: {error.strerror}; expected a recipe in TOML") from error
    except UnicodeDecodeError as error:
        raise BadDataError(f"{path}: not UTF-8 ({error.reason}); a recipe is TOML, which is UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise BadDataError(f"{path}: invalid TOML ({error})") from error
    return _recipe(path, data)


def _note_lowered(given: Part, resolved: Part) -> None:
    for key in ("classes", "categories", "context_classes"):
        number, possible = getattr(given, key, None), getattr(resolved, key, None)
        if isinstance(number, int) and number != possible:
            _log.warning(
                "only %s of %s %s are possible: half of the different words",
                f"{possible:,}",
                f"{number:,}",
                key.replace("_", " "),
            )


def _recipe(path: Path, data: dict[str, Any]) -> Recipe:
    check_keys(f"{path}: ", data, ("part", "mixture"))
    given = data.get("part")
    if not isinstance(given, list) or not given or not all(isinstance(one, dict) for one in given):
        raise BadDataError(
            f"{path}: no parts; expected [[part]] with model = "
            f"{' or '.join(map(repr, PARTS))}, once for each model"
        )
    parts = [_part(path, number, one) for number, one in enumerate(given, 1)]
    mixture = data.get("mixture", {})
    if not isinstance(mixture, dict):
        raise BadDataError(f"{path}: mixture is {shown(mixture)}; expected [mixture] with its keys below")
    where, keys = f"{path}: mixture: ", keys_of(MixturePart)
    check_keys(where, mixture, keys)
    values = {key: keys[key].convert(value, where) for key, value in mixture.items()}
    return Recipe(name=path.stem, part=parts, mixture=MixturePart(**values))


def _part(path: Path, number: int, data: dict[str, Any]) -> Part:
    model = data.get("model")
    if not isinstance(model, str) or model not in PARTS:
        problem = "has no key model" if model is None else f"model is {shown(model)}"
        raise BadDataError(f"{path}: part {number}: {problem}; possible: {', '.join(PARTS)}")
    where, kind = f"{path}: part {number} ({model}): ", PARTS[model]
    keys = kind.keys()
    given = {key: value for key, value in data.items() if key != "model"}
    check_keys(where, given, keys)
    values = {key: keys[key].convert(value, where) for key, value in given.items()}
    for key in ("classes", "context_classes", "tags", "trees"):
        value = values.get(key)
        if isinstance(value, list):
            values[key] = [_beside(path, key, one, where, keys) or one for one in value]
        elif file := _beside(path, key, value, where, keys):
            values[key] = file
    part = kind.from_keys(values)
    try:
        part.check()
    except UsageError as error:
        raise BadDataError(f"{where}{error}") from error
    return part


def _beside(path: Path, key: str, value: object, where: str, keys: dict[str, RecipeKey]) -> str | None:
    """Return the name of a file that a recipe names, as seen from here; None if it names none."""
    if not isinstance(value, str) or is_size(value):
        return None
    name = file_of_tags(value) if key == "tags" else value
    if name is None:
        return None
    beside = path.parent / name
    if not beside.is_file():
        raise BadDataError(f"{where}{key}: there is no file {beside}; possible: {keys[key].possible}")
    return str(beside) + value[len(name) :]
