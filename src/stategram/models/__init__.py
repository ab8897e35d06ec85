"""Models that give p(w | history), all with one protocol."""

from stategram.counts import trie_numbers
from stategram.models.trie import NgramTrie

__all__ = ["NgramTrie", "trie_numbers"]
