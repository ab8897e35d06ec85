"""The spelling of unknown words, as the formulas have it."""

from __future__ import annotations

import math

from stategram import NgramModel

CODE_POINTS = 1_112_064 - 7  # scalar values of Unicode, without NUL and the white space of ASCII


class NaiveSpelling:
    """Characters are words of a 7-gram model, words its sentences; probabilities one after the other."""

    def __init__(self, words: list[str]) -> None:
        self.characters = NgramModel.train([list(word) for word in words], 7)
        self.seen = {letter for word in words for letter in word}
        self.known = sum(map(self.unscaled, [*words, "<unk>", "<s>", "</s>"]))

    def unscaled(self, word: str) -> float:
        """Return the probability among all words, known ones too, that are not empty."""
        probability = 1.0 / (1.0 - self.after([], "</s>"))
        for i, letter in enumerate(word):
            probability *= self.after(list(word[:i]), letter)
        return probability * self.after(list(word), "</s>")

    def after(self, history: list[str], letter: str) -> float:
        """Return the probability of a character; unseen ones share that of <unk>."""
        characters = self.characters
        among = characters.distribution(history)
        if letter in self.seen or letter == "</s>":
            return float(among[characters.vocabulary.id(letter)])
        return float(among[0]) / (CODE_POINTS - len(self.seen))

    def prefix(self, word: str) -> float:
        """Return the probability, among all words that are not empty, of those that begin so."""
        return self.unscaled(word) / self.after(list(word), "</s>")

    def log_prob(self, word: str) -> float:
        """Return the natural-log probability of an unknown word."""
        return math.log(self.unscaled(word) / (1.0 - self.known))
