"""Recipes and their training; the demo text."""

from stategram.experiments.cache_part import CachePart
from stategram.experiments.clustered_part import CLUSTERING_KEYS, ClusteredPart
from stategram.experiments.ngram_parts import CategoryNgramPart, NgramPart
from stategram.experiments.recipe_part import RecipeKey, keys_of
from stategram.experiments.recipe_training import train_recipe
from stategram.experiments.recipes import PARTS, RECIPES, MixturePart, Recipe, read_recipe
from stategram.experiments.training import Interruptible, never_stop
from stategram.experiments.word_tree_part import WordTreePart

__all__ = [
    "CLUSTERING_KEYS",
    "PARTS",
    "RECIPES",
    "CachePart",
    "CategoryNgramPart",
    "ClusteredPart",
    "Interruptible",
    "MixturePart",
    "NgramPart",
    "Recipe",
    "RecipeKey",
    "WordTreePart",
    "keys_of",
    "never_stop",
    "read_recipe",
    "train_recipe",
]
