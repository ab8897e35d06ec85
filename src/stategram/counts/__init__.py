"""Ids to sorted counts."""

from stategram.counts.bigrams import (
    BigramCounts,
    CompressedCounts,
    cluster_bigrams,
    cluster_counts,
    count_bigrams,
)
from stategram.counts.ngrams import MAX_ORDER, NgramCounts, NgramLevel, count_ngrams, trie_numbers
from stategram.counts.ranges import MAX_EVENTS, RANGE_SIZE, Range, map_ranges, ranges_of, require_countable
from stategram.counts.workspace import Workspace, peak_memory

__all__ = [
    "MAX_EVENTS",
    "MAX_ORDER",
    "RANGE_SIZE",
    "BigramCounts",
    "CompressedCounts",
    "NgramCounts",
    "NgramLevel",
    "Range",
    "Workspace",
    "cluster_bigrams",
    "cluster_counts",
    "count_bigrams",
    "count_ngrams",
    "map_ranges",
    "peak_memory",
    "ranges_of",
    "require_countable",
    "trie_numbers",
]
