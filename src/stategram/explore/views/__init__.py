"""Representative classes, categories and states: what reports and pages show of clusters."""

from stategram.explore.views.class_sets import ClassSet, class_set, class_sources, word_fractions
from stategram.explore.views.examples import (
    CategoryExample,
    ClusterGallery,
    ExampleGroup,
    ExampleList,
    StateExample,
    examples,
    gallery,
    representative_classes,
)
from stategram.explore.views.state_sets import (
    ContextExample,
    ContextNode,
    Data,
    StateSet,
    WordExample,
    state_set,
    state_sources,
)

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
    "representative_classes",
    "state_set",
    "state_sources",
    "word_fractions",
]
