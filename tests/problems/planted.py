"""A text whose word classes are known, a small one, and the criterion of what was found in them."""

from __future__ import annotations

from functools import cache

import numpy as np

from naive.exchange import closed_bigrams, tied_criterion, two_sided_criterion
from stategram.clustering import WordClasses

__all__ = ["BOUNDARY", "N_PLANTED", "SMALL", "WORDS_A_CLASS", "criterion_of", "planted_text", "stream"]

BOUNDARY = "</s>"
N_PLANTED = 6
WORDS_A_CLASS = 30  # more words than a batch of the exchange holds
SMALL = ["the cat sat", "the dog sat", "a cat ran", "a dog ran off", "the cat ran", "a a dog sat off"]


@cache
def planted_text() -> list[str]:
    """Return sentences of a class bigram model; the word c3w5 is of the class c3."""
    rng = np.random.default_rng(7)
    # Every class has two followers of its own, so that the classes differ.
    after = [[(c + 1) % N_PLANTED, (2 * c + 3) % N_PLANTED] for c in range(N_PLANTED)]
    frequency = 1 / np.arange(1, WORDS_A_CLASS + 1)
    frequency /= frequency.sum()
    sentences = []
    for _ in range(3000):
        c = int(rng.integers(N_PLANTED))
        words = []
        for w in rng.choice(WORDS_A_CLASS, size=int(rng.integers(3, 9)), p=frequency):
            words.append(f"c{c}w{w}")
            c = after[c][int(rng.random() < 0.3)]
        sentences.append(" ".join(words))
    return sentences


def stream(sentences: list[str]) -> list[str]:
    return [word for sentence in sentences for word in [*sentence.split(), BOUNDARY]]


def criterion_of(fitted: WordClasses, sentences: list[str], criterion: str) -> float:
    """Return the criterion of the classes found, by the formula."""
    names = sorted(set(stream(sentences)))
    number = {word: i for i, word in enumerate(names)}
    pairs = closed_bigrams([number[word] for word in stream(sentences)])
    label = dict(zip(fitted.words_, fitted.labels_.tolist(), strict=True))
    labels = [label.get(word, -1) for word in names]
    if criterion == "tied":
        return tied_criterion(pairs, range(len(names)), labels)
    if criterion == "predictive":
        return two_sided_criterion(pairs, range(len(names)), labels)
    state = dict(zip(fitted.contexts_, fitted.states_.tolist(), strict=True))
    return two_sided_criterion(pairs, [state["<s>" if w == BOUNDARY else w] for w in names], labels)
