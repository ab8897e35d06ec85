"""Clusters of words and contexts, and the hierarchy over them."""

from stategram.clustering.hierarchy import ClassHierarchy, build_hierarchy
from stategram.clustering.monitor import Progress, SweepRecord
from stategram.clustering.schedule import EFFORTS
from stategram.clustering.word_classes import CRITERIA, WordClasses

__all__ = [
    "CRITERIA",
    "EFFORTS",
    "ClassHierarchy",
    "Progress",
    "SweepRecord",
    "WordClasses",
    "build_hierarchy",
]
