"""A back-off n-gram model: probabilities of texts, of sentences, of the next word."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.counts import NgramCounts
from stategram.errors import BadDataError
from stategram.models.ngram_training import check_options, count, trie_of
from stategram.models.packing import Packed
from stategram.models.protocol import SharedMethods
from stategram.models.sentence_scores import TRIE_ARRAYS, SentenceScores, damage_error
from stategram.models.trie import NgramTrie
from stategram.progress import Progress, subprogress
from stategram.resources import Resources
from stategram.storage import Folder
from stategram.text import BEGIN, UNKNOWN, Corpus, Vocabulary


@dataclass(frozen=True, eq=False)
class EventScores:
    """What a model says of each event of a corpus."""

    log10_probs: NDArray[np.float64]
    orders: NDArray[np.uint8]
    """The number of words of the n-gram that gave the probability."""
    unknown: NDArray[np.bool_]
    """Whether the word is not in the model's vocabulary."""


@dataclass(frozen=True, eq=False)
class NgramModel(SentenceScores, SharedMethods):
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
    folder
        Where it was opened, None if it was not: the name in errors.

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
    folder: Path | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Without what was derived from these: a reader of mapped arrays can be neither pickled nor copied.
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def train(
        cls,
        corpus: Corpus | Iterable[str | Iterable[str]],
        order: int = 3,
        *,
        smoothing: str = "kneser-ney",
        min_counts: Sequence[int] | None = None,
        prune: float = 0.0,
        progress: Progress | None = None,
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
        progress
            Called with the fraction of the work that is done and a short message.

        Examples
        --------
        >>> from stategram import NgramModel
        >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran", "the dog ran"], order=2)
        >>> model.predict("the", top=1)[0][0]
        'dog'

        """
        min_counts = check_options(order, smoothing, min_counts, prune)
        given = [corpus]
        del corpus  # no name holds it here: its memory is free again as soon as it is counted
        counts = count(given, order, progress=subprogress(progress, 0.0, 0.6))
        return cls.from_counts(
            counts,
            smoothing=smoothing,
            min_counts=min_counts,
            prune=prune,
            progress=subprogress(progress, 0.6, 1.0),
        )

    @classmethod
    def from_counts(
        cls,
        counts: NgramCounts,
        *,
        smoothing: str = "kneser-ney",
        min_counts: Sequence[int] | None = None,
        prune: float = 0.0,
        progress: Progress | None = None,
    ) -> NgramModel:
        """Make a model of n-gram counts, which are used up. The parameters are those of `train`."""
        min_counts = check_options(counts.order, smoothing, min_counts, prune)
        vocabulary = counts.vocabulary
        trie, report = trie_of(counts, smoothing, min_counts, prune, progress=progress)
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

    def log_probs(self, corpus: Corpus) -> NDArray[np.float64]:
        """Give the natural logarithm of the probability of each event."""
        return self.log_probs_by_number(corpus, self._numbers_of(corpus.vocabulary))

    def log_probs_by_number(self, corpus: Corpus, numbers: NDArray[np.uint32]) -> NDArray[np.float64]:
        """Give the same for a corpus of anything, where `numbers` has the trie's number of each id."""
        log10_probs, _ = self._score(corpus, numbers)
        log10_probs *= np.log(10.0)
        return log10_probs

    def events(self, corpus: Corpus) -> EventScores:
        """Give the log10 probability of each event, and what it rests on."""
        numbers = self._numbers_of(corpus.vocabulary)
        log10_probs, orders = self._score(corpus, numbers)
        unknown = numbers == self.trie.numbers[UNKNOWN]
        return EventScores(log10_probs, orders, unknown[corpus.ids])

    def history_nodes(self, corpus: Corpus, numbers: NDArray[np.uint32] | None = None) -> NDArray[np.uint32]:
        """Give for each event the node of the state that it was scored in, which its history alone decides.

        `numbers` is for a corpus of anything: the trie's number of each id.
        """
        if numbers is None:
            numbers = self._numbers_of(corpus.vocabulary)
        begin = int(self.trie.numbers[BEGIN])
        try:
            return self._reader.history_nodes(
                corpus.ids, corpus.sentence_starts, numbers, begin, Resources.current().threads
            )
        except _core.DamagedModel as error:
            raise damage_error(self.folder, error) from error

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
        self, corpus: Corpus, names: Collection[str] | None = None
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
        return self.node_features(self.history_nodes(corpus))

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
            {"trie": {name: getattr(self.trie, name) for name in TRIE_ARRAYS}},
        )

    @classmethod
    def unpack(cls, folder: Folder, vocabulary: Vocabulary, parts: tuple[object, ...]) -> NgramModel:
        """Take what `pack` gave."""
        arrays = folder.arrays("trie")
        try:
            model = cls(
                vocabulary,
                NgramTrie(*(arrays[name] for name in TRIE_ARRAYS)),
                str(folder.manifest["smoothing"]),
                dict(folder.manifest["report"]),
                dict(folder.manifest.get("recipe", {})),
                folder.path,
            )
            if len(model.vocabulary) != len(model.trie.numbers):
                raise ValueError("its vocabulary is not that of its n-grams")
            model._reader  # noqa: B018  that refuses arrays which do not fit together
        except (KeyError, TypeError, ValueError) as error:
            raise BadDataError(f"{folder.path}: not an n-gram model ({error}); write it again") from error
        return model

    def check(self) -> None:
        """Look at every n-gram; BadDataError if the model makes no sense."""
        try:
            self._reader.check(Resources.current().threads)
        except ValueError as error:
            raise BadDataError(f"not an n-gram model: {error}; write it again") from error

    def _score(
        self, corpus: Corpus, numbers: NDArray[np.uint32]
    ) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
        begin = int(self.trie.numbers[BEGIN])
        try:
            return self._reader.score_events(
                corpus.ids, corpus.sentence_starts, numbers, begin, Resources.current().threads
            )
        except _core.DamagedModel as error:
            raise damage_error(self.folder, error) from error

    def _numbers_of(self, vocabulary: Vocabulary) -> NDArray[np.uint32]:
        if vocabulary is self.vocabulary or vocabulary == self.vocabulary:
            return self.trie.numbers
        return self.trie.numbers[
            np.fromiter(map(self.vocabulary.id, vocabulary.words), np.int64, len(vocabulary))
        ]
