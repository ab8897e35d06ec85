"""Recipes and their training."""

from stategram.recipes.clustered_part import CLUSTERING_KEYS, ClusteredPart
from stategram.recipes.ngram_parts import CachePart, CategoryNgramPart, NgramPart
from stategram.recipes.part import RecipeKey, keys_of
from stategram.recipes.pipeline import train_recipe
from stategram.recipes.recipe import PARTS, RECIPES, MixturePart, Recipe, read_recipe
from stategram.recipes.training import TrainingText
from stategram.recipes.word_tree_part import WordTreePart

__all__ = [
    "CLUSTERING_KEYS",
    "PARTS",
    "RECIPES",
    "CachePart",
    "CategoryNgramPart",
    "ClusteredPart",
    "MixturePart",
    "NgramPart",
    "Recipe",
    "RecipeKey",
    "TrainingText",
    "WordTreePart",
    "keys_of",
    "read_recipe",
    "train_recipe",
]
