"""Random back-off models for tests."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import strategies as st

from naive.trie import Ngram, Ngrams
from stategram.models import NgramModel
from stategram.text import Vocabulary

__all__ = ["BEGIN", "model_of", "models", "random_model"]

BEGIN = 0
"""The id of the word that stands before each sentence."""


def random_model(seed: int, n_words: int, order: int, fan_out: int) -> Ngrams:
    """Return a model whose n-grams have their prefixes, but by no means all suffixes."""
    chance = random.Random(seed)

    def weight(low: float, high: float) -> float:
        return float(np.float32(chance.uniform(low, high)))

    log_probs: dict[Ngram, float] = {(word,): weight(-8, 0) for word in range(n_words)}
    backoffs: dict[Ngram, float] = {}
    histories: list[Ngram] = list(log_probs)
    for _ in range(order - 1):
        longer: list[Ngram] = []
        for history in chance.sample(histories, chance.randint(0, min(len(histories), 40))):
            words = chance.sample(range(n_words), chance.randint(1, min(n_words, fan_out)))
            longer += [(*history, word) for word in words]
            backoffs[history] = weight(-3, 0.5)
        log_probs |= {ngram: weight(-8, 0) for ngram in longer}
        # Some tools leave weights to n-grams that begin no other.
        backoffs |= {ngram: weight(-1, 0) for ngram in histories if chance.random() < 0.1}
        histories = longer
    return Ngrams(n_words, order, log_probs, backoffs)


def models() -> st.SearchStrategy[Ngrams]:
    return st.builds(
        random_model, st.integers(0, 2**32), st.integers(1, 30), st.integers(1, 5), st.integers(1, 8)
    )


def model_of(ngrams: Ngrams) -> NgramModel:
    """Return a model of at least three words, of which the first are the special words."""
    vocabulary = Vocabulary.from_words(f"w{id}" for id in range(3, ngrams.n_words))
    return NgramModel.from_plain(vocabulary, ngrams.plain())
