"""An n-gram model of categories: p(w | c) = p(g | g-1, ..., g-n+1) p(w | g), where g is the category of w."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.clustering import WordClasses
from stategram.errors import BadDataError
from stategram.models.category_words import Categories, symbols_of, word_probabilities
from stategram.models.ngram import NgramModel
from stategram.models.packing import Packed
from stategram.models.protocol import SharedMethods
from stategram.progress import Progress
from stategram.storage import Folder
from stategram.text import BEGIN, SPECIAL_WORDS, UNKNOWN, Corpus, Vocabulary, corpus_from_sentences


@dataclass(frozen=True, eq=False)
class CategoryNgramModel(SharedMethods):
    """An n-gram model of the categories of words, with the probability of each word in its category.

    Parameters
    ----------
    vocabulary
        The words it knows; all others are ``<unk>``.
    ngram
        The model of categories, whose words are their numbers.
    symbols
        For each word, the id of its category in the vocabulary of `ngram`. ``<s>`` and ``</s>`` are
        themselves; ``<unk>`` there is the category of ``<unk>``.
    word_probs
        For each word, its probability in its category; 0 for ``<s>``.
    report
        How it was trained.
    recipe
        What it was trained with, as far as it is known.

    Notes
    -----
    Brown, Della Pietra, deSouza, Lai and Mercer (1992), "Class-based n-gram models of natural language".
    p(w | g) is discounted within the category by leaving-one-out (Ney, Essen and Kneser 1994), so that words
    of the vocabulary that were never seen have a probability too.

    """

    vocabulary: Vocabulary
    ngram: NgramModel
    symbols: NDArray[np.uint32]
    word_probs: NDArray[np.float64]
    report: Mapping[str, Any] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def train(
        cls,
        corpus: Corpus | Iterable[str],
        categories: Categories | WordClasses,
        order: int = 5,
        *,
        smoothing: str = "kneser-ney",
        progress: Progress | None = None,
    ) -> CategoryNgramModel:
        """Train a model on a text.

        Parameters
        ----------
        corpus
            A corpus, or sentences.
        categories
            `WordClasses` that were fitted, or the category of each word: a mapping, or an array with a number
            for each id of the vocabulary, below 0 where there is none. Words without a category share that
            of ``<unk>``, which is its own if it is given none; ``<s>`` and ``</s>`` are always alone.
        order, smoothing, progress
            As in `NgramModel.train`.

        Examples
        --------
        >>> from stategram import CategoryNgramModel
        >>> text = ["the cat sat", "the dog sat", "a cat ran"]
        >>> classes = {"the": 0, "a": 0, "cat": 1, "dog": 1, "sat": 2, "ran": 2}
        >>> model = CategoryNgramModel.train(text, classes, order=2)
        >>> [word for word, _ in model.predict("a", top=2)]
        ['cat', 'dog']

        """
        if not isinstance(corpus, Corpus):
            corpus = corpus_from_sentences(corpus)
        vocabulary = corpus.vocabulary
        if isinstance(categories, WordClasses):
            categories = dict(zip(categories.words_, categories.labels_.tolist(), strict=True))
        symbols = symbols_of(vocabulary, categories)
        n_categories = int(symbols.max()) + 1
        probs, discount = word_probabilities(corpus.word_counts, symbols)
        ngram = NgramModel.train(
            Corpus(symbols[corpus.ids], corpus.sentence_starts, _category_vocabulary(n_categories)),
            order,
            smoothing=smoothing,
            progress=progress,
        )
        # Of the special words, only <unk> names a category.
        report = {"categories": n_categories - 2, "word_discount": discount}
        return cls(vocabulary, ngram, symbols, probs, report)

    def __repr__(self) -> str:
        return f"CategoryNgramModel(order {self.order}, {self.n_categories} categories)"

    @property
    def order(self) -> int:
        """The number of categories of the longest n-grams."""
        return self.ngram.order

    @property
    def n_categories(self) -> int:
        """The number of categories, those of sentence boundaries left out."""
        return len(self.ngram.vocabulary) - 2

    @property
    def parameters(self) -> int:
        """The number of probabilities and back-off weights of categories, and of probabilities of words."""
        return self.ngram.parameters + int(np.count_nonzero(self.word_probs))

    def log_probs(self, corpus: Corpus) -> NDArray[np.float64]:
        """Give the natural logarithm of the probability of each event."""
        ids = self._ids_of(corpus.vocabulary)
        log_probs = self.ngram.log_probs_by_number(corpus, self._numbers[ids])
        log_probs += self._log_word_probs[ids][corpus.ids]
        return log_probs

    def distribution(
        self, history: str | Sequence[str], *, sentence_start: bool = True
    ) -> NDArray[np.float64]:
        """Give the probability of each word of the vocabulary after a history, by its id."""
        of_categories = self.ngram.distribution(self._names_of(history), sentence_start=sentence_start)
        probabilities: NDArray[np.float64] = of_categories[self.symbols] * self.word_probs
        return probabilities

    def bucket_features(
        self, corpus: Corpus, names: Collection[str] | None = None
    ) -> dict[str, NDArray[np.float32]]:
        """Give the features of the n-gram state before each event, and the ``category`` of the last word."""
        ids = self._ids_of(corpus.vocabulary)
        found: dict[str, NDArray[np.float32]] = {}
        if names is None or {"length", "backoff"} & set(names):
            nodes = self.ngram.history_nodes(corpus, self._numbers[ids])
            found |= self.ngram.node_features(nodes)
        if names is None or "category" in names:
            category = np.empty(corpus.n_events, np.float32)
            category[1:] = self.symbols.astype(np.float32)[ids][corpus.ids[:-1]]
            category[corpus.sentence_starts[:-1]] = BEGIN
            found["category"] = category
        return found

    def history_features(
        self, history: str | Sequence[str], *, sentence_start: bool = True
    ) -> dict[str, float]:
        """Give what `bucket_features` gives, for a single history."""
        names = self._names_of(history)
        features = self.ngram.history_features(names, sentence_start=sentence_start)
        last = self.ngram.vocabulary.id(names[-1]) if names else BEGIN if sentence_start else UNKNOWN
        return {**features, "category": float(last)}

    def check(self) -> None:
        """Look at every n-gram; BadDataError if the model makes no sense."""
        self.ngram.check()
        sums = np.bincount(self.symbols, self.word_probs)
        fine = self.word_probs[BEGIN] == 0 and bool((self.word_probs >= 0).all())
        sums[BEGIN] = 1.0
        if not fine or not np.isclose(sums[self.symbols], 1, rtol=0, atol=1e-9).all():
            raise BadDataError("the probabilities of words in their categories make no sense; write it again")

    def pack(self) -> Packed:
        """Give what a model folder has to hold."""
        return Packed(
            self.vocabulary,
            {"model": "category-ngram", "report": dict(self.report), "recipe": dict(self.recipe)},
            {"words": {"symbols": self.symbols, "word_probs": self.word_probs}},
            parts=(self.ngram.pack(),),
        )

    @classmethod
    def unpack(cls, folder: Folder, vocabulary: Vocabulary, parts: tuple[object, ...]) -> CategoryNgramModel:
        """Take what `pack` gave."""
        arrays = folder.arrays("words")
        try:
            (ngram,) = parts
            symbols, word_probs = arrays["symbols"], arrays["word_probs"]
            if not isinstance(ngram, NgramModel):
                raise TypeError("its categories have no n-gram model")
            if (symbols.shape, word_probs.shape) != ((len(vocabulary),), (len(vocabulary),)):
                raise ValueError("its categories are not those of its vocabulary")
            if symbols.dtype != np.uint32 or int(symbols.max()) >= len(ngram.vocabulary):
                raise ValueError("a category is not in its n-gram model")
            return cls(
                vocabulary,
                ngram,
                symbols,
                word_probs,
                dict(folder.manifest["report"]),
                dict(folder.manifest["recipe"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise BadDataError(
                f"{folder.path}: not a category n-gram model ({error}); write it again"
            ) from error

    @cached_property
    def _numbers(self) -> NDArray[np.uint32]:
        return self.ngram.trie.numbers[self.symbols]

    @cached_property
    def _log_word_probs(self) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            logs: NDArray[np.float64] = np.log(self.word_probs)
        return logs

    def _ids_of(self, vocabulary: Vocabulary) -> NDArray[np.int64]:
        if vocabulary is self.vocabulary or vocabulary == self.vocabulary:
            return np.arange(len(vocabulary))
        return np.fromiter(map(self.vocabulary.id, vocabulary.words), np.int64, len(vocabulary))

    def _names_of(self, history: str | Sequence[str]) -> list[str]:
        words = history.split() if isinstance(history, str) else history
        return [self.ngram.vocabulary.word(int(self.symbols[self.vocabulary.id(word)])) for word in words]


def _category_vocabulary(size: int) -> Vocabulary:
    """Give the names of categories: that of ``<unk>`` is the first, the others are 1, 2, ..."""
    return Vocabulary.from_words(map(str, range(1, size - len(SPECIAL_WORDS) + 1)))
