"""Recipes: built-in ones, and those that are read from a TOML file."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from stategram.clustering import is_size
from stategram.contexts import ContextDefinition, file_of_tags
from stategram.errors import BadDataError, UsageError
from stategram.experiments.recipe_parts import (
    PARTS,
    CategoryNgramPart,
    ClusteredPart,
    MixturePart,
    NgramPart,
    Part,
    Recipe,
)
from stategram.models import check_min_counts

# What is worth its time was found on held-out text. w-2,w-1 alone is the second level of the first tree, and
# gains nothing beside it. Twice the sweeps, as in the preset normal, gain a thousandth.
_BEST_CLASSES = ("0.3 size", "size", "2 size", "4 size")
_BEST_CLUSTERED = (
    ClusteredPart(context="g-4,g-3,w-2,w-1", context_classes="size", preset="fast"),
    ClusteredPart(context="g-4,g-3,g-2,g-1", context_classes="size", preset="fast"),
    ClusteredPart(context="g-6,g-5,g-4,g-3,g-2,g-1", context_classes="0.3 size", preset="fast"),
)

RECIPES = {
    # A minute or less for millions of words.
    "fast": Recipe(
        name="fast",
        part=[
            NgramPart(),
            CategoryNgramPart(classes="size", effort="fast"),
            ClusteredPart(preset="fast"),
        ],
    ),
    # Ueberla and Gransden (1996): a trigram beside the clustered model of the same two words.
    "paper": Recipe(
        name="paper",
        part=[
            NgramPart(order=3, smoothing="katz", min_counts=[1, 1, 2]),
            ClusteredPart(states=2000, categories=2000, preset="paper"),
        ],
        mixture=MixturePart(buckets="none"),
    ),
    "best": Recipe(
        name="best",
        part=[
            NgramPart(),
            *(CategoryNgramPart(classes=classes, order=7) for classes in _BEST_CLASSES),
            *_BEST_CLUSTERED,
        ],
    ),
}


def read_recipe(name: str | os.PathLike[str]) -> Recipe:
    """Give a built-in recipe by its name, or read one from a TOML file.

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
            raise BadDataError(f"{path}: no such file; expected a recipe in TOML") from error
        raise UsageError(
            f"no recipe {os.fspath(name)!r}: there are {', '.join(RECIPES)}, and files such as recipe.toml"
        ) from error
    except (IsADirectoryError, PermissionError) as error:
        raise BadDataError(f"{path}: {error.strerror}; expected a recipe in TOML") from error
    except UnicodeDecodeError as error:
        raise BadDataError(f"{path}: not UTF-8 ({error.reason}); a recipe is TOML, which is UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise BadDataError(f"{path}: not TOML ({error}); mend it") from error
    return _recipe(path, data)


def recipe_files(recipe: Recipe) -> list[tuple[str, str]]:
    """Give the class files and tag files that a recipe needs: what each is, and its name."""
    found = []
    for part in recipe.part:
        if isinstance(part, NgramPart):
            continue
        classes = part.classes if isinstance(part, CategoryNgramPart) else part.context_classes
        if isinstance(classes, str) and not is_size(classes):
            found.append(("classes", classes))
        if isinstance(part, ClusteredPart) and part.tags and (name := file_of_tags(part.tags)):
            found.append(("tags", name))
    return list(dict.fromkeys(found))


def with_tags(recipe: Recipe, tags: str | None) -> Recipe:
    """Give parts whose context has tags, but does not say which, these ones; UsageError if there are none."""
    parts: list[Part] = []
    for number, part in enumerate(recipe.part, 1):
        changed = part
        if isinstance(part, ClusteredPart) and part.tags is None and _definition(part).needs_tags:
            if tags is None:
                raise UsageError(
                    f"recipe {recipe.name}: part {number} has tags in its context {part.context}, but does "
                    'not say which; add tags = "brill" or a file to the part, or give tags for all of them'
                )
            changed = msgspec.structs.replace(part, tags=tags)
        parts.append(changed)
    return msgspec.structs.replace(recipe, part=parts)


def _definition(part: ClusteredPart) -> ContextDefinition:
    return ContextDefinition.parse(part.context, part.tree_order)


def _recipe(path: Path, data: dict[str, Any]) -> Recipe:
    _check_keys(f"{path}: ", data, ("part", "mixture"))
    given = data.get("part")
    if not isinstance(given, list) or not given or not all(isinstance(one, dict) for one in given):
        raise BadDataError(
            f"{path}: no parts; expected [[part]] with model = "
            f"{' or '.join(map(repr, PARTS))}, once for each model"
        )
    parts = [_part(path, number, one) for number, one in enumerate(given, 1)]
    mixture = data.get("mixture", {})
    if not isinstance(mixture, dict):
        raise BadDataError(f"{path}: mixture is {_shown(mixture)}; expected [mixture] with its keys below")
    where = f"{path}: mixture: "
    return Recipe(name=path.stem, part=parts, mixture=_struct(where, mixture, MixturePart))


def _part(path: Path, number: int, data: dict[str, Any]) -> Part:
    model = data.get("model")
    if not isinstance(model, str) or model not in PARTS:
        found = "has no key model" if model is None else f"model is {_shown(model)}"
        raise BadDataError(f"{path}: part {number}: {found}; possible: {', '.join(PARTS)}")
    where = f"{path}: part {number} ({model}): "
    part: Part = _struct(where, {key: data[key] for key in data if key != "model"}, PARTS[model])
    for key in ("classes", "context_classes", "tags"):
        if value := _beside(path, key, getattr(part, key, None), where):
            part = msgspec.structs.replace(part, **{key: value})
    _check_together(where, part)
    return part


def _struct(where: str, data: dict[str, Any], kind: Any) -> Any:
    """Make a struct of what a file says, each value looked at for itself."""
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    _check_keys(where, data, tuple(fields))
    values = {}
    for key, value in data.items():
        try:
            values[key] = msgspec.convert(value, fields[key].type)
        except msgspec.ValidationError as error:
            possible = fields[key].type.__metadata__[-1].description
            raise BadDataError(f"{where}{key} is {_shown(value)}; possible: {possible}") from error
    return kind(**values)


def _check_keys(where: str, data: Mapping[str, Any], possible: tuple[str, ...]) -> None:
    for key in data:
        if key not in possible:
            raise BadDataError(f"{where}no key {key!r} is possible; there are {', '.join(possible)}")


def _check_together(where: str, part: Part) -> None:
    """Refuse values that do not fit together, and contexts that cannot be read."""
    try:
        if isinstance(part, NgramPart) and part.min_counts is not None:
            key = "min_counts"
            check_min_counts(part.min_counts, part.order)
        if isinstance(part, ClusteredPart):
            key = "context"
            definition = ContextDefinition.parse(part.context)
            key = "tree_order"
            _definition(part)
            if part.tree_order is not None and not part.tree:
                raise UsageError("tree = false has no tree to order; leave the key out")
            for needed, key in (
                (definition.needs_tags, "tags"),
                (definition.needs_classes, "context_classes"),
            ):
                if getattr(part, key) is not None and not needed:
                    raise UsageError(f"the context {part.context} has none; leave the key out")
    except UsageError as error:
        raise BadDataError(f"{where}{key}: {error}") from error


def _beside(path: Path, key: str, value: object, where: str) -> str | None:
    """Give the name of a file that a recipe names, as seen from here; None if it names none."""
    if not isinstance(value, str) or is_size(value):
        return None
    name = file_of_tags(value) if key == "tags" else value
    if name is None:
        return None
    beside = path.parent / name
    if not beside.is_file():
        possible = (
            "brill, or a file of words and tags"
            if key == "tags"
            else 'a number, "size", "0.5 size", or a class file'
        )
        raise BadDataError(f"{where}{key}: there is no file {beside}; possible: {possible}")
    return str(beside) + value[len(name) :]


def _shown(value: object) -> str:
    text = repr(value) if not isinstance(value, bool) else str(value).lower()
    return text if len(text) <= 60 else text[:60] + "..."
