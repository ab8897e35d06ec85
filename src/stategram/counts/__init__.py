"""Ids to sorted counts."""

from stategram.counts.bigrams import (
    BigramCounts,
    CompressedCounts,
    cluster_bigrams,
    cluster_counts,
    count_bigrams,
)
from stategram.counts.ngrams import NgramCounts, NgramLevel, count_ngrams, ranges_of, trie_numbers
from stategram.counts.workspace import Workspace, peak_memory

__all__ = [
    "BigramCounts",
    "CompressedCounts",
    "NgramCounts",
    "NgramLevel",
    "Workspace",
    "cluster_bigrams",
    "cluster_counts",
    "count_bigrams",
    "count_ngrams",
    "peak_memory",
    "ranges_of",
    "trie_numbers",
]
