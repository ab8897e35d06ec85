"""Models that give p(w | history), all with one protocol."""

from stategram.models.loading import load_model
from stategram.models.ngram import EventScores, NgramModel
from stategram.models.trie import NgramTrie, trie_numbers

__all__ = ["EventScores", "NgramModel", "NgramTrie", "load_model", "trie_numbers"]
