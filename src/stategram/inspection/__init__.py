"""Representative classes, categories and states: what reports and pages show of clusters."""

from stategram.inspection.examples import ExampleGroup, ExampleList, examples
from stategram.inspection.gallery import (
    CategoryExample,
    ClusterGallery,
    ContextExample,
    Data,
    StateExample,
    WordExample,
    gallery,
)
from stategram.inspection.representative import representative_classes

__all__ = [
    "CategoryExample",
    "ClusterGallery",
    "ContextExample",
    "Data",
    "ExampleGroup",
    "ExampleList",
    "StateExample",
    "WordExample",
    "examples",
    "gallery",
    "representative_classes",
]
