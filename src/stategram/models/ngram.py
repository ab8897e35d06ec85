"""A back-off n-gram model: probabilities of texts, of sentences, of the next word."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.counts import NgramCounts, Tell, Workspace, count_ngrams, parse_size
from stategram.errors import BadDataError
from stategram.models.assembly import assemble
from stategram.models.packing import Packed
from stategram.models.protocol import SharedMethods
from stategram.models.pruning import prune as prune_estimates
from stategram.models.smoothing import check_options, estimate
from stategram.models.trie import NgramTrie
from stategram.processors import thread_count
from stategram.storage import Folder
from stategram.text import BEGIN, END, UNKNOWN, Corpus, Vocabulary, corpus_from_sentences

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
class NgramModel(SharedMethods):
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
    recipe
        What it was trained with, as far as it is known; `lowercase` and `digits`: what was done with words.

    Notes
    -----
    Probabilities and weights are stored as float32 logarithms; their sums are float64, so that nothing more
    is lost.

    """

    vocabulary: Vocabulary
    trie: NgramTrie
    smoothing: str = "unknown"
    report: Mapping[str, Any] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def train(
        cls,
        corpus: Corpus | Iterable[str],
        order: int = 3,
        *,
        smoothing: str = "kneser-ney",
        min_counts: Sequence[int] | None = None,
        prune: float = 0.0,
        memory: str | int | None = None,
        tmp: str | os.PathLike[str] | None = None,
        threads: int | None = None,
        tell: Tell | None = None,
    ) -> NgramModel:
        """Train a model on a text.

        Parameters
        ----------
        corpus
            A corpus, or sentences.
        order
            The number of words of the longest n-grams, 1 to 9.
        smoothing
            ``kneser-ney`` (interpolated, modified), ``katz`` (back-off with Good-Turing discounts),
            ``absolute`` (interpolated absolute discounting) or ``witten-bell`` (interpolated).
        min_counts
            For each length of n-grams, how often one must occur to be kept; they do not fall, and the first
            is 1. By default all are kept, but for ``katz`` those of 3 and more words must occur twice.
        prune
            Drop n-grams without which the perplexity rises by less than this share, such as 1e-8 (Stolcke
            1998).
        memory
            How much memory the process may use, such as ``"2G"``. What does not fit goes to files of `tmp`.
        tmp
            The folder of temporary files; the system's by default.
        threads
            All processors by default. The model is always the same.
        tell
            Called with the share of the work that is done and a few words on it.

        Examples
        --------
        >>> from stategram import NgramModel
        >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran", "the dog ran"], order=2)
        >>> model.predict("the", top=1)[0][0]
        'dog'

        """
        min_counts = check_options(order, smoothing, min_counts, prune)
        workspace = Workspace(parse_size(memory) if memory is not None else None, tmp)
        given = [corpus if isinstance(corpus, Corpus) else corpus_from_sentences(corpus)]
        del corpus  # no name holds it here: its memory is free again as soon as it is counted
        counts = count_ngrams(
            given.pop(), order, workspace=workspace, threads=threads, tell=_part(tell, 0.0, 0.6)
        )
        return cls.from_counts(
            counts,
            smoothing=smoothing,
            min_counts=min_counts,
            prune=prune,
            threads=threads,
            tell=_part(tell, 0.6, 1.0),
        )

    @classmethod
    def from_counts(
        cls,
        counts: NgramCounts,
        *,
        smoothing: str = "kneser-ney",
        min_counts: Sequence[int] | None = None,
        prune: float = 0.0,
        threads: int | None = None,
        tell: Tell | None = None,
    ) -> NgramModel:
        """Make a model of n-gram counts, which are used up. The parameters are those of `train`."""
        min_counts = check_options(counts.order, smoothing, min_counts, prune)
        n_threads, workspace, vocabulary = thread_count(threads), counts.workspace, counts.vocabulary
        report = {**counts.report, "min_counts": list(min_counts), "prune": prune}
        estimates = estimate(
            counts, smoothing, min_counts, workspace=workspace, threads=n_threads, tell=_part(tell, 0.0, 0.7)
        )
        if prune > 0:
            prune_estimates(estimates, prune, workspace=workspace, threads=n_threads)
        report |= {"discounts": estimates.discounts, "notes": estimates.notes}
        if tell:
            tell(0.8, "putting the model together")
        trie = assemble(estimates, workspace=workspace, threads=n_threads)
        return cls(vocabulary, trie, smoothing, report)

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
        return self.log_probs_by_number(corpus, self._numbers_of(corpus.vocabulary), threads=threads)

    def log_probs_by_number(
        self, corpus: Corpus, numbers: NDArray[np.uint32], *, threads: int | None = None
    ) -> NDArray[np.float64]:
        """Give the same for a corpus of anything, where `numbers` has the trie's number of each id."""
        log10_probs, _ = self._score(corpus, numbers, threads)
        log10_probs *= np.log(10.0)
        return log10_probs

    def events(self, corpus: Corpus, *, threads: int | None = None) -> EventScores:
        """Give the log10 probability of each event, and what it rests on."""
        numbers = self._numbers_of(corpus.vocabulary)
        log10_probs, orders = self._score(corpus, numbers, threads)
        unknown = numbers == self.trie.numbers[UNKNOWN]
        return EventScores(log10_probs, orders, unknown[corpus.ids])

    def history_nodes(
        self, corpus: Corpus, numbers: NDArray[np.uint32] | None = None, *, threads: int | None = None
    ) -> NDArray[np.uint32]:
        """Give for each event the node of the state that it was scored in, which its history alone decides.

        `numbers` is for a corpus of anything: the trie's number of each id.
        """
        if numbers is None:
            numbers = self._numbers_of(corpus.vocabulary)
        return self._reader.history_nodes(
            corpus.ids, corpus.sentence_starts, numbers, int(self.trie.numbers[BEGIN]), thread_count(threads)
        )

    def node_features(self, nodes: NDArray[np.uint32]) -> dict[str, NDArray[np.float32]]:
        """Give what is known of states: ``length``, their words, and ``backoff``, log10 of their weight.

        The weight is what the words that were never seen after the history have in common: the smaller it
        is, the surer the model is there.
        """
        lengths = np.zeros(len(nodes), np.float32)
        for begin in self.trie.begins[1 : self.order].astype(np.uint32):  # quicker than a search of each
            lengths += nodes >= begin
        return {"length": lengths, "backoff": self._backoffs[nodes]}

    def bucket_features(
        self, corpus: Corpus, names: Collection[str] | None = None, *, threads: int | None = None
    ) -> dict[str, NDArray[np.float32]]:
        """Give the features of the state before each event (see `node_features`).

        Examples
        --------
        >>> from stategram import NgramModel, corpus_from_sentences
        >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran"], order=3)
        >>> model.bucket_features(corpus_from_sentences(["the cat slept"]))["length"]
        array([1., 2., 2., 0.], dtype=float32)

        """
        if names is not None and not {"length", "backoff"} & set(names):
            return {}
        return self.node_features(self.history_nodes(corpus, threads=threads))

    def history_features(
        self, history: str | Sequence[str], *, sentence_start: bool = True
    ) -> dict[str, float]:
        """Give what `bucket_features` gives, for a single history."""
        state = self.history_state(history, sentence_start=sentence_start)
        features = self.node_features(np.array([state], np.uint32))
        return {name: float(values[0]) for name, values in features.items()}

    @cached_property
    def _backoffs(self) -> NDArray[np.float32]:
        return self.trie.nodes.view(np.float32)[:, 1]

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
        return self.distribution_after(self.history_state(history, sentence_start=sentence_start))

    def history_state(self, history: str | Sequence[str], *, sentence_start: bool = True) -> int:
        """Give the state after a history, which is that of its longest end that the model knows."""
        numbers = self._numbers_in(history)
        begin = int(self.trie.numbers[BEGIN])
        if sentence_start and numbers[:1] != [begin]:
            numbers = [begin, *numbers]
        return self._reader.history_state(np.array(numbers, np.uint32))

    def distribution_after(self, state: int) -> NDArray[np.float64]:
        """Give the probability of each word of the vocabulary after a state, by its id."""
        probabilities = self._reader.distribution(state)
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
        return self._reader.advance(state, self._numbers_in([word])[0])

    def pack(self) -> Packed:
        """Give what a model folder has to hold."""
        return Packed(
            self.vocabulary,
            {
                "model": "ngram",
                "order": self.order,
                "smoothing": self.smoothing,
                "report": dict(self.report),
                "recipe": dict(self.recipe),
            },
            {"trie": {name: getattr(self.trie, name) for name in _ARRAYS}},
        )

    @classmethod
    def unpack(cls, folder: Folder, vocabulary: Vocabulary, parts: tuple[object, ...]) -> NgramModel:
        """Take what `pack` gave."""
        arrays = folder.arrays("trie")
        try:
            model = cls(
                vocabulary,
                NgramTrie(*(arrays[name] for name in _ARRAYS)),
                str(folder.manifest["smoothing"]),
                dict(folder.manifest["report"]),
                dict(folder.manifest.get("recipe", {})),
            )
            if len(model.vocabulary) != len(model.trie.numbers):
                raise ValueError("its vocabulary is not that of its n-grams")
            model._reader  # noqa: B018  that refuses arrays which do not fit together
        except (KeyError, TypeError, ValueError) as error:
            raise BadDataError(f"{folder.path}: not an n-gram model ({error}); write it again") from error
        return model

    def check(self, *, threads: int | None = None) -> None:
        """Look at every n-gram; BadDataError if the model makes no sense."""
        try:
            self._reader.check(thread_count(threads))
        except ValueError as error:
            raise BadDataError(f"not an n-gram model: {error}; write it again") from error

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


def _part(tell: Tell | None, begin: float, end: float) -> Tell | None:
    """Take the share of a step for that of the whole work."""
    if tell is None:
        return None
    return lambda share, words: tell(begin + (end - begin) * share, words)
