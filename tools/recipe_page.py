"""Writes docs/recipes.md: the keys of a recipe, and the built-in recipes as files.

Usage: python tools/recipe_page.py [--check]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import msgspec

from stategram.clustering import CONTEXT_EFFORTS
from stategram.recipes import CLUSTERING_KEYS, PARTS, RECIPES, MixturePart, Recipe, RecipeKey, keys_of

PAGE = Path(__file__).parent.parent / "docs" / "recipes.md"
INTRODUCTION = """# Recipes

`stategram train TEXT --heldout FILE -o MODEL --recipe mine.toml` trains the models of a recipe and mixes
them. A recipe is a TOML file with a `[[part]]` for each model, with its `model` and any of the keys below,
and at most one `[mixture]`. A recipe with a single part gives that model itself: so a clustered
model can be had alone. Files that a recipe names are looked for beside it.

This page is made by `make docs`; a test compares it with the program.
"""


def recipe_page() -> str:
    """Return the page."""
    parts = [INTRODUCTION]
    for name, kind in PARTS.items():
        parts.append(f'## [[part]] model = "{name}"\n\n{_summary(kind)}\n\n{_keys(kind.keys())}')
    parts.append(f"### Efforts\n\n{_efforts()}")
    parts.append(f"## [mixture]\n\n{_summary(MixturePart)}\n\n{_keys(keys_of(MixturePart))}")
    for name, recipe in RECIPES.items():
        parts.append(f"## The recipe {name}\n\n```toml\n{_as_toml(recipe)}```\n")
    return "\n".join(parts)


def _summary(kind: type) -> str:
    return (kind.__doc__ or "").strip()


def _keys(keys: dict[str, RecipeKey]) -> str:
    rows = ["| key | meaning | possible | default |", "|---|---|---|---|"]
    for key in keys.values():
        default = "" if key.default is None else f"`{json.dumps(key.default)}`"
        rows.append(f"| `{key.name}` | {key.meaning} | {key.possible} | {default} |")
    return "\n".join(rows) + "\n"


def _efforts() -> str:
    """Return the settings of each effort."""
    rows = [
        "| effort | " + " | ".join(f"`{key}`" for key in CLUSTERING_KEYS) + " |",
        "|---" * (len(CLUSTERING_KEYS) + 1) + "|",
    ]
    for name, effort in CONTEXT_EFFORTS.items():
        rows.append(f"| {name} | " + " | ".join(str(getattr(effort, key)) for key in CLUSTERING_KEYS) + " |")
    return "\n".join(rows) + "\n"


def _as_toml(recipe: Recipe) -> str:
    """Return a recipe as a file; keys with their default are left out."""
    tables = [("[[part]]", part.to_json()) for part in recipe.part]
    lines = []
    for head, values in [*tables, ("[mixture]", msgspec.to_builtins(recipe.mixture))]:
        model = values.pop("model", None)
        keys = PARTS[model].keys() if model is not None else keys_of(MixturePart)
        given = {key: value for key, value in values.items() if value != keys[key].default}
        if model is not None:
            given = {"model": model, **given}
        if given:
            # Strings, numbers and lists of them are the same in JSON and in TOML.
            lines += [head, *(f"{key} = {json.dumps(value)}" for key, value in given.items()), ""]
    return "\n".join(lines[:-1]) + "\n"


if __name__ == "__main__":
    if "--check" not in sys.argv:
        PAGE.write_text(recipe_page(), encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != recipe_page():
        sys.exit("docs/recipes.md is not what the program does; run: make docs")
