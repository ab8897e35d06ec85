"""Writes docs/recipes.md: the keys of a recipe, and the built-in recipes as files.

Usage: python tools/recipe_page.py [--check]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from stategram.clustering import PRESETS
from stategram.experiments import MEANINGS, PARTS, RECIPES, ClusteredPart, MixturePart, Recipe

PAGE = Path(__file__).parent.parent / "docs" / "recipes.md"
INTRODUCTION = """# Recipes

`stategram train TEXT --heldout FILE -o MODEL --recipe mine.toml` trains the models of a recipe and mixes
them. A recipe is a TOML file with a `[[part]]` for each model, which says its `model` and may give the keys
below, and at most one `[mixture]`. A recipe with a single part gives that model, as a mixture of one: so a
clustered model can be had alone. Files that a recipe names are looked for beside it.

This page is made by `make docs`; a test compares it with the program.
"""


def recipe_page() -> str:
    """Give the whole page."""
    parts = [INTRODUCTION]
    for name, kind in PARTS.items():
        parts.append(f'## [[part]] model = "{name}"\n\n{_summary(kind)}\n\n{_keys(kind)}')
    parts.append(f"### Presets\n\n{_presets()}")
    parts.append(f"## [mixture]\n\n{_summary(MixturePart)}\n\n{_keys(MixturePart)}")
    for name, recipe in RECIPES.items():
        parts.append(f"## The recipe {name}\n\n```toml\n{_as_toml(recipe)}```\n")
    return "\n".join(parts)


def _summary(kind: type) -> str:
    return (kind.__doc__ or "").strip()


def _keys(kind: Any) -> str:
    rows = ["| key | meaning | possible | default |", "|---|---|---|---|"]
    for field in msgspec.structs.fields(kind):
        possible = field.type.__metadata__[-1].description
        default = "" if field.default is None else f"`{json.dumps(field.default)}`"
        rows.append(f"| `{field.name}` | {MEANINGS[field.name]} | {possible} | {default} |")
    return "\n".join(rows) + "\n"


def _presets() -> str:
    """Give what each preset stands for."""
    keys = [
        key
        for key in msgspec.structs.asdict(PRESETS["normal"])
        if _fields(ClusteredPart).get(key, "") is None
    ]
    rows = ["| preset | " + " | ".join(f"`{key}`" for key in keys) + " |", "|---" * (len(keys) + 1) + "|"]
    for name, preset in PRESETS.items():
        rows.append(f"| {name} | " + " | ".join(str(getattr(preset, key)) for key in keys) + " |")
    return "\n".join(rows) + "\n"


def _fields(kind: Any) -> dict[str, Any]:
    return {field.name: field.default for field in msgspec.structs.fields(kind)}


def _as_toml(recipe: Recipe) -> str:
    """Give a recipe as a file; keys with their default are left out."""
    models = {kind: name for name, kind in PARTS.items()}
    tables = [("[[part]]", part, {"model": models[type(part)]}) for part in recipe.part]
    lines = []
    for head, table, first in [*tables, ("[mixture]", recipe.mixture, {})]:
        given = {
            field.name: getattr(table, field.name)
            for field in msgspec.structs.fields(table)
            if getattr(table, field.name) != field.default
        }
        if first or given:
            # Strings, numbers and lists of them are the same in JSON and in TOML.
            lines += [
                head,
                *(f"{key} = {json.dumps(value)}" for key, value in {**first, **given}.items()),
                "",
            ]
    return "\n".join(lines[:-1]) + "\n"


if __name__ == "__main__":
    if "--check" not in sys.argv:
        PAGE.write_text(recipe_page(), encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != recipe_page():
        sys.exit("docs/recipes.md is not what the program does; run: make docs")
