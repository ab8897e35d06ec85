"""Ids to sorted counts."""

from stategram.counts.bigrams import BigramCounts, CompressedCounts, count_bigrams

__all__ = ["BigramCounts", "CompressedCounts", "count_bigrams"]
