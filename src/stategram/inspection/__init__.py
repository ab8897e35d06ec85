"""Representative classes, categories and states: what reports and pages show of clusters."""

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
    "StateExample",
    "WordExample",
    "gallery",
    "representative_classes",
]
