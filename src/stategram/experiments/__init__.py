"""Recipes, and the texts they are tried on."""

from stategram.experiments.cluster_examples import CategoryExample, ClusterGallery, StateExample, WordExample
from stategram.experiments.gallery import gallery
from stategram.experiments.recipe_parts import (
    MEANINGS,
    PARTS,
    CategoryNgramPart,
    ClusteredPart,
    MixturePart,
    NgramPart,
    Recipe,
)
from stategram.experiments.recipes import RECIPES, read_recipe, recipe_files, with_tags
from stategram.experiments.run_folder import check_run_folder
from stategram.experiments.steps import Report, Steps, Stop, sweeps_to
from stategram.experiments.training import n_steps, train_recipe

__all__ = [
    "MEANINGS",
    "PARTS",
    "RECIPES",
    "CategoryExample",
    "CategoryNgramPart",
    "ClusterGallery",
    "ClusteredPart",
    "MixturePart",
    "NgramPart",
    "Recipe",
    "Report",
    "StateExample",
    "Steps",
    "Stop",
    "WordExample",
    "check_run_folder",
    "gallery",
    "n_steps",
    "read_recipe",
    "recipe_files",
    "sweeps_to",
    "train_recipe",
    "with_tags",
]
