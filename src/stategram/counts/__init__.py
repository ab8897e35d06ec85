"""Ids to sorted counts."""

from stategram.counts.blobs import Blobs, TemporaryBlobs
from stategram.counts.count_folder import (
    CountedText,
    Counting,
    check_counts,
    count_text,
    is_counts,
    open_counts,
    place_of_counts,
)
from stategram.counts.ngrams import (
    BigramCounts,
    CompressedCounts,
    NgramCounts,
    NgramLevel,
    cluster_bigrams,
    cluster_counts,
    count_bigrams,
    count_ngrams,
    given_ngrams,
)
from stategram.counts.ranges import (
    MAX_ORDER,
    RANGE_SIZE,
    TOO_LARGE_ADVICE,
    CountedLevel,
    GrowingLevels,
    ranges_of,
    require_countable,
    trie_numbers,
)
from stategram.counts.sharded_text import Reading, Shard, ShardedText, shard_text
from stategram.counts.shards import MIN_SHARD_SIZE, default_shard_size
from stategram.counts.workspace import Workspace, peak_memory

__all__ = [
    "MAX_ORDER",
    "MIN_SHARD_SIZE",
    "RANGE_SIZE",
    "TOO_LARGE_ADVICE",
    "BigramCounts",
    "Blobs",
    "CompressedCounts",
    "CountedLevel",
    "CountedText",
    "Counting",
    "GrowingLevels",
    "NgramCounts",
    "NgramLevel",
    "Reading",
    "Shard",
    "ShardedText",
    "TemporaryBlobs",
    "Workspace",
    "check_counts",
    "cluster_bigrams",
    "cluster_counts",
    "count_bigrams",
    "count_ngrams",
    "count_text",
    "default_shard_size",
    "given_ngrams",
    "is_counts",
    "open_counts",
    "peak_memory",
    "place_of_counts",
    "ranges_of",
    "require_countable",
    "shard_text",
    "trie_numbers",
]
