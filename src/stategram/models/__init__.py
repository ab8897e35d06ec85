"""Models that give p(w | history), all with one protocol."""

from stategram.models.trie import NgramTrie, trie_numbers

__all__ = ["NgramTrie", "trie_numbers"]
