"""Back-off models by the recursion of the ARPA format, over dictionaries of n-grams.

    p(w | h) = p(h w)                      if the model has the n-gram h w
               backoff(h) * p(w | h')      else, h' being h without its first word

An n-gram is a tuple of ids. A history without a weight has the weight 1. All logarithms are to base 10.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stategram.counts import trie_numbers
from stategram.models import NgramTrie, PlainTrie

Ngram = tuple[int, ...]


@dataclass(frozen=True)
class Ngrams:
    """A model: each unigram, and each n-gram's prefix, has to be there; a suffix need not be."""

    n_words: int
    order: int
    log_probs: Mapping[Ngram, float]
    backoffs: Mapping[Ngram, float]
    """Of histories that have a longer n-gram."""

    def log_prob(self, history: Ngram, word: int) -> tuple[float, int]:
        """The log probability, and the length of the n-gram that gave it."""
        if (*history, word) in self.log_probs:
            return self.log_probs[*history, word], len(history) + 1
        log_prob, length = self.log_prob(history[1:], word)
        return self.backoffs.get(history, 0.0) + log_prob, length

    def score(self, sentence: Sequence[int], begin: int) -> list[tuple[float, int]]:
        words = (begin, *sentence)
        return [self.log_prob(words[max(0, i - self.order + 1) : i], words[i]) for i in range(1, len(words))]

    def plain(self) -> PlainTrie:
        numbers = trie_numbers(self.n_words)

        def place(ngram: Ngram) -> tuple[int, list[int]]:
            return len(ngram), [int(numbers[word]) for word in ngram]

        ngrams = sorted([(), *self.log_probs], key=place)
        node = {ngram: i for i, ngram in enumerate(ngrams)}
        first_child: dict[Ngram, int] = {}
        for ngram in ngrams[1:]:
            first_child.setdefault(ngram[:-1], node[ngram])
        begins = [sum(len(ngram) < k for ngram in ngrams) for k in range(self.order + 2)]
        inner = begins[self.order]
        children = np.zeros(inner + 1, np.uint32)
        children[inner] = len(ngrams)
        for i in reversed(range(inner)):
            children[i] = first_child.get(ngrams[i], children[i + 1])
        return PlainTrie(
            numbers,
            np.array(begins, np.int64),
            np.array([numbers[ngram[-1]] if ngram else 0 for ngram in ngrams], np.uint32),
            np.array([self.log_probs.get(ngram, 0.0) for ngram in ngrams], np.float32),
            np.array([self.backoffs.get(ngram, 0.0) for ngram in ngrams[:inner]], np.float32),
            children,
        )

    def trie(self) -> NgramTrie:
        return NgramTrie.from_plain(self.plain())
