"""Ids to sorted counts."""

from stategram.counts.bigrams import (
    BigramCounts,
    CompressedCounts,
    cluster_bigrams,
    cluster_counts,
    count_bigrams,
)
from stategram.counts.ngrams import (
    MAX_ORDER,
    NgramCounts,
    NgramLevel,
    count_ngrams,
    given_ngrams,
    trie_numbers,
)
from stategram.counts.ranges import (
    RANGE_SIZE,
    TOO_LARGE_ADVICE,
    CountedLevel,
    GrowingLevels,
    Range,
    ranges_of,
    require_countable,
)
from stategram.counts.workspace import Workspace, peak_memory

__all__ = [
    "MAX_ORDER",
    "RANGE_SIZE",
    "TOO_LARGE_ADVICE",
    "BigramCounts",
    "CompressedCounts",
    "CountedLevel",
    "GrowingLevels",
    "NgramCounts",
    "NgramLevel",
    "Range",
    "Workspace",
    "cluster_bigrams",
    "cluster_counts",
    "count_bigrams",
    "count_ngrams",
    "given_ngrams",
    "peak_memory",
    "ranges_of",
    "require_countable",
    "trie_numbers",
]
