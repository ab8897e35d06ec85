"""A back-off n-gram model: probabilities of texts, of sentences, of the next word."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.errors import BadDataError, UsageError
from stategram.models.trie import NgramTrie
from stategram.processors import thread_count
from stategram.storage import Folder, write_folder
from stategram.text import BEGIN, END, UNKNOWN, Corpus, Vocabulary

__all__ = ["EventScores", "NgramModel"]

_ARRAYS = ("numbers", "begins", "words", "nodes", "leaves")


@dataclass(frozen=True, eq=False)
class EventScores:
    """What a model says of each event of a corpus."""

    log10_probs: NDArray[np.float64]
    orders: NDArray[np.uint8]
    """The number of words of the n-gram that gave the probability."""
    unknown: NDArray[np.bool_]
    """Whether the word is not in the model's vocabulary."""


@dataclass(frozen=True, eq=False)
class NgramModel:
    """A back-off n-gram model.

    Parameters
    ----------
    vocabulary
        The words it knows; all others are ``<unk>``.
    trie
        Its n-grams.
    smoothing
        The name of the way in which its probabilities were estimated.
    report
        How it was trained: anything that JSON can hold.

    Notes
    -----
    Probabilities and weights are stored as float32 logarithms; their sums are float64, so that nothing more
    is lost.

    """

    vocabulary: Vocabulary
    trie: NgramTrie
    smoothing: str = "unknown"
    report: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        sizes = " + ".join(map(str, self.trie.sizes))
        return f"NgramModel(order {self.order}, {sizes} n-grams, {self.smoothing})"

    @property
    def order(self) -> int:
        """The number of words of the longest n-grams."""
        return self.trie.order

    @property
    def parameters(self) -> int:
        """The number of probabilities and back-off weights."""
        return sum(self.trie.sizes) + sum(self.trie.sizes[:-1])

    def log_probs(self, corpus: Corpus, *, threads: int | None = None) -> NDArray[np.float64]:
        """Give the natural logarithm of the probability of each event."""
        log10_probs, _ = self._score(corpus, self._numbers_of(corpus.vocabulary), threads)
        log10_probs *= np.log(10.0)
        return log10_probs

    def events(self, corpus: Corpus, *, threads: int | None = None) -> EventScores:
        """Give the log10 probability of each event, and what it rests on."""
        numbers = self._numbers_of(corpus.vocabulary)
        log10_probs, orders = self._score(corpus, numbers, threads)
        unknown = numbers == self.trie.numbers[UNKNOWN]
        return EventScores(log10_probs, orders, unknown[corpus.ids])

    def distribution(
        self, history: str | Sequence[str], *, sentence_start: bool = True
    ) -> NDArray[np.float64]:
        """Give the probability of each word of the vocabulary after a history, by its id.

        Parameters
        ----------
        history
            The words so far; those that are not in the vocabulary count as ``<unk>``.
        sentence_start
            Whether the history begins a sentence.

        """
        numbers = self._numbers_in(history)
        begin = int(self.trie.numbers[BEGIN])
        if sentence_start and numbers[:1] != [begin]:
            numbers = [begin, *numbers]
        state = self._reader.history_state(np.array(numbers, np.uint32))
        probabilities = self._reader.distribution(state)
        probabilities[BEGIN] = 0.0
        return probabilities

    def predict(
        self, history: str | Sequence[str], top: int = 10, *, sentence_start: bool = True
    ) -> list[tuple[str, float]]:
        """Give the most probable next words with their probabilities, the most probable first."""
        if top < 1:
            raise UsageError(f"top is {top}; it must be at least 1")
        probabilities = self.distribution(history, sentence_start=sentence_start)
        best = np.argsort(-probabilities, kind="stable")[:top]
        return [(self.vocabulary.word(id), float(probabilities[id])) for id in best.tolist()]

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
        return self._reader.advance(state, self._numbers_in([word])[0])

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the model to a folder; `load_model` opens it."""
        write_folder(
            folder,
            kind="model",
            arrays={"trie": {name: getattr(self.trie, name) for name in _ARRAYS}},
            texts={"vocabulary.txt": self.vocabulary.to_bytes()},
            manifest={
                "model": "ngram",
                "order": self.order,
                "smoothing": self.smoothing,
                "report": dict(self.report),
            },
        )

    @classmethod
    def _load(cls, folder: Folder, *, verify: bool) -> NgramModel:
        arrays = folder.arrays("trie")
        try:
            model = cls(
                Vocabulary.from_bytes(folder.text("vocabulary.txt")),
                NgramTrie(*(arrays[name] for name in _ARRAYS)),
                str(folder.manifest["smoothing"]),
                dict(folder.manifest["report"]),
            )
            if len(model.vocabulary) != len(model.trie.numbers):
                raise ValueError("its vocabulary is not that of its n-grams")
            reader = model._reader
            if verify:
                reader.check(thread_count(None))
        except (KeyError, TypeError, ValueError) as error:
            raise BadDataError(f"{folder.path}: not an n-gram model ({error}); write it again") from error
        return model

    @cached_property
    def _reader(self) -> _core.TrieReader:
        return _core.TrieReader(*(getattr(self.trie, name) for name in _ARRAYS))

    def _score(
        self, corpus: Corpus, numbers: NDArray[np.uint32], threads: int | None
    ) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
        begin = int(self.trie.numbers[BEGIN])
        return self._reader.score_events(
            corpus.ids, corpus.sentence_starts, numbers, begin, thread_count(threads)
        )

    def _numbers_of(self, vocabulary: Vocabulary) -> NDArray[np.uint32]:
        if vocabulary is self.vocabulary or vocabulary == self.vocabulary:
            return self.trie.numbers
        return self.trie.numbers[
            np.fromiter(map(self.vocabulary.id, vocabulary.words), np.int64, len(vocabulary))
        ]

    def _score_sentence(
        self, sentence: str | Sequence[str], bos: bool, eos: bool
    ) -> tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.uint8]]:
        listed = self._numbers_in(sentence)
        if eos:
            listed.append(int(self.trie.numbers[END]))
        numbers = np.array(listed, np.uint32)
        return numbers, *self._reader.score_words(self.begin_state if bos else 0, numbers)

    def _numbers_in(self, words: str | Sequence[str]) -> list[int]:
        listed = words.split() if isinstance(words, str) else words
        numbers, unknown = self._numbers_by_word, int(self.trie.numbers[UNKNOWN])
        return [numbers.get(word, unknown) for word in listed]

    @cached_property
    def _numbers_by_word(self) -> dict[str, int]:
        return dict(zip(self.vocabulary.words, self.trie.numbers.tolist(), strict=True))
