"""Single sentences and words of an n-gram model, one state after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.errors import BadDataError, UsageError
from stategram.models.trie import NgramTrie
from stategram.text import BEGIN, END, UNKNOWN, Vocabulary

TRIE_ARRAYS = ("numbers", "begins", "words", "nodes", "leaves")


def damage_error(folder: Path | None, error: _core.DamagedModel) -> BadDataError:
    """Say that a model contradicts itself; it was opened without a look at its checksums."""
    where = f"{folder}: " if folder else ""
    return BadDataError(f"{where}{error}; write it again (stategram verify finds what is damaged)")


class SentenceScores:
    """What an n-gram model says of states, words and sentences. It knows where it was opened, for errors."""

    vocabulary: Vocabulary
    trie: NgramTrie
    folder: Path | None

    def history_state(self, history: str | Sequence[str], *, sentence_start: bool = True) -> int:
        """Give the state after a history, which is that of its longest end that the model knows."""
        numbers = self._numbers_in(history)
        begin = int(self.trie.numbers[BEGIN])
        if sentence_start and numbers[:1] != [begin]:
            numbers = [begin, *numbers]
        try:
            return self._reader.history_state(np.array(numbers, np.uint32))
        except _core.DamagedModel as error:
            raise damage_error(self.folder, error) from error

    def distribution_after(self, state: int) -> NDArray[np.float64]:
        """Give the probability of each word of the vocabulary after a state, by its id."""
        try:
            probabilities = self._reader.distribution(state)
        except _core.DamagedModel as error:
            raise damage_error(self.folder, error) from error
        probabilities[BEGIN] = 0.0
        return probabilities

    def score(self, sentence: str | Sequence[str], bos: bool = True, eos: bool = True) -> float:
        """Give the log10 probability of a sentence, as KenLM does.

        Parameters
        ----------
        sentence
            Words separated by white space, or a sequence of words.
        bos, eos
            Whether it begins a sentence; whether its end is predicted too.

        """
        return float(self._score_sentence(sentence, bos, eos)[1].sum())

    def full_scores(
        self, sentence: str | Sequence[str], bos: bool = True, eos: bool = True
    ) -> Iterator[tuple[float, int, bool]]:
        """Give for each word: its log10 probability, the length of its n-gram, whether it is unknown."""
        numbers, log10_probs, orders = self._score_sentence(sentence, bos, eos)
        unknown = numbers == self.trie.numbers[UNKNOWN]
        yield from zip(log10_probs.tolist(), orders.tolist(), unknown.tolist(), strict=True)

    def perplexity(self, sentence: str | Sequence[str]) -> float:
        """Give the perplexity of a sentence and its end."""
        return float(10.0 ** -self._score_sentence(sentence, True, True)[1].mean())

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.vocabulary.id(word) != UNKNOWN

    @cached_property
    def begin_state(self) -> int:
        """The state at the beginning of a sentence; 0 is the state that knows of no words."""
        return self.advance(0, "<s>")[1]

    def advance(self, state: int, word: str) -> tuple[float, int, int]:
        """Give the log10 probability of a word after a state, the next state, the length of the n-gram."""
        try:
            return self._reader.advance(state, self._numbers_in([word])[0])
        except _core.DamagedModel as error:
            raise damage_error(self.folder, error) from error

    @cached_property
    def _reader(self) -> _core.TrieReader:
        return _core.TrieReader(*(getattr(self.trie, name) for name in TRIE_ARRAYS))

    def _score_sentence(
        self, sentence: str | Sequence[str], bos: bool, eos: bool
    ) -> tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.uint8]]:
        listed = self._numbers_in(sentence)
        if eos:
            listed.append(int(self.trie.numbers[END]))
        numbers = np.array(listed, np.uint32)
        try:
            return numbers, *self._reader.score_words(self.begin_state if bos else 0, numbers)
        except _core.DamagedModel as error:
            raise damage_error(self.folder, error) from error

    def _numbers_in(self, words: str | Sequence[str]) -> list[int]:
        if isinstance(words, bytes) or not isinstance(words, Iterable):
            raise UsageError(f"found {words!r:.40}; expected words: a string, or a list of strings")
        listed = words.split() if isinstance(words, str) else words
        numbers, unknown = self._numbers_by_word, int(self.trie.numbers[UNKNOWN])
        return [numbers.get(word, unknown) for word in listed]

    @cached_property
    def _numbers_by_word(self) -> dict[str, int]:
        return dict(zip(self.vocabulary.words, self.trie.numbers.tolist(), strict=True))
