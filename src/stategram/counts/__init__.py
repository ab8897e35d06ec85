"""Ids to sorted counts."""

from stategram.counts.bigrams import BigramCounts, CompressedCounts, cluster_bigrams, count_bigrams
from stategram.counts.ngrams import NgramCounts, NgramLevel, Tell, count_ngrams, trie_numbers
from stategram.counts.workspace import Workspace, parse_size

__all__ = [
    "BigramCounts",
    "CompressedCounts",
    "NgramCounts",
    "NgramLevel",
    "Tell",
    "Workspace",
    "cluster_bigrams",
    "count_bigrams",
    "count_ngrams",
    "parse_size",
    "trie_numbers",
]
