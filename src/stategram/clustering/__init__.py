"""Clusters of words and contexts, and the hierarchy over them."""

from stategram.clustering.context_clustering import Checkpoint, Clustering, cluster_tree
from stategram.clustering.hierarchy import ClassHierarchy, build_hierarchy
from stategram.clustering.monitor import LevelResult, SweepRecord
from stategram.clustering.number_of_clusters import (
    AUTO,
    SIZE,
    ClusterNumbers,
    by_size,
    choose_numbers,
    is_size,
)
from stategram.clustering.settings import CONTEXT_EFFORTS, EFFORTS, ClusteringSettings
from stategram.clustering.text_clustering import cluster
from stategram.clustering.word_classes import CRITERIA, WordClasses, class_labels

__all__ = [
    "AUTO",
    "CONTEXT_EFFORTS",
    "CRITERIA",
    "EFFORTS",
    "SIZE",
    "Checkpoint",
    "ClassHierarchy",
    "ClusterNumbers",
    "Clustering",
    "ClusteringSettings",
    "LevelResult",
    "SweepRecord",
    "WordClasses",
    "build_hierarchy",
    "by_size",
    "choose_numbers",
    "class_labels",
    "cluster",
    "cluster_tree",
    "is_size",
]
