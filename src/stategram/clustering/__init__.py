"""Clusters of words and contexts, and the hierarchy over them."""

from stategram.clustering.hierarchy import ClassHierarchy, build_hierarchy

__all__ = ["ClassHierarchy", "build_hierarchy"]
