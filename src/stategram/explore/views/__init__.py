"""Representative classes, categories and states: what reports and pages show of clusters."""

from stategram.explore.views.class_sets import ClassSet, class_set, class_sources, leaf_models, word_fractions
from stategram.explore.views.gallery import (
    CategoryExample,
    ClusterGallery,
    ContextExample,
    Data,
    StateExample,
    WordExample,
    gallery,
)
from stategram.explore.views.ngram_examples import ExampleGroup, ExampleList, examples
from stategram.explore.views.representative import representative_classes
from stategram.explore.views.state_sets import ContextNode, StateSet, state_set, state_sources

__all__ = [
    "CategoryExample",
    "ClassSet",
    "ClusterGallery",
    "ContextExample",
    "ContextNode",
    "Data",
    "ExampleGroup",
    "ExampleList",
    "StateExample",
    "StateSet",
    "WordExample",
    "class_set",
    "class_sources",
    "examples",
    "gallery",
    "leaf_models",
    "representative_classes",
    "state_set",
    "state_sources",
    "word_fractions",
]
