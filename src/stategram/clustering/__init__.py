"""Clusters of words and contexts, and the hierarchy over them."""

from stategram.clustering.checkpoint import Checkpoint
from stategram.clustering.context_clustering import (
    CLUSTERING_CRITERIA,
    PRESETS,
    class_labels,
    cluster,
    cluster_tree,
)
from stategram.clustering.hierarchy import ClassHierarchy, build_hierarchy
from stategram.clustering.level_work import LevelResult
from stategram.clustering.monitor import Progress, SweepRecord
from stategram.clustering.schedule import EFFORTS
from stategram.clustering.text_size import SIZE, by_size, is_size
from stategram.clustering.tree_clustering import Clustering, ClusteringSettings, TreeClustering
from stategram.clustering.word_classes import CRITERIA, WordClasses

__all__ = [
    "CLUSTERING_CRITERIA",
    "CRITERIA",
    "EFFORTS",
    "PRESETS",
    "SIZE",
    "Checkpoint",
    "ClassHierarchy",
    "Clustering",
    "ClusteringSettings",
    "LevelResult",
    "Progress",
    "SweepRecord",
    "TreeClustering",
    "WordClasses",
    "build_hierarchy",
    "by_size",
    "class_labels",
    "cluster",
    "cluster_tree",
    "is_size",
]
