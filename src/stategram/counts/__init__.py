"""Ids to sorted counts."""

from stategram.counts.bigrams import BigramCounts, CompressedCounts, cluster_bigrams, count_bigrams

__all__ = ["BigramCounts", "CompressedCounts", "cluster_bigrams", "count_bigrams"]
