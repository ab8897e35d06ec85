"""Recipes and their training; the demo text."""

from stategram.experiments.recipe_keys import RecipeKey, keys_of
from stategram.experiments.recipe_parts import (
    CLUSTERING_KEYS,
    PARTS,
    CategoryNgramPart,
    ClusteredPart,
    NgramPart,
    Part,
)
from stategram.experiments.recipe_training import train_recipe
from stategram.experiments.recipes import RECIPES, MixturePart, Recipe, read_recipe
from stategram.experiments.training import Interruptible, never_stop

__all__ = [
    "CLUSTERING_KEYS",
    "PARTS",
    "RECIPES",
    "CategoryNgramPart",
    "ClusteredPart",
    "Interruptible",
    "MixturePart",
    "NgramPart",
    "Part",
    "Recipe",
    "RecipeKey",
    "keys_of",
    "never_stop",
    "read_recipe",
    "train_recipe",
]
