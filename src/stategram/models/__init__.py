"""Models that give p(w | history), all with one protocol."""

from stategram.counts import trie_numbers
from stategram.models.loading import load_model
from stategram.models.ngram import EventScores, NgramModel, damage_error
from stategram.models.smoothing import SMOOTHINGS, check_min_counts
from stategram.models.trie import NgramTrie

__all__ = [
    "SMOOTHINGS",
    "EventScores",
    "NgramModel",
    "NgramTrie",
    "check_min_counts",
    "damage_error",
    "load_model",
    "trie_numbers",
]
