"""The distributions that a back-off model should have: those of another model, averaged over histories.

A short history h stands for all longer ones that end in it. Where it is needed, a word was never seen after
the longer one, or the longer one was never seen at all. So parts that are n-gram models know h alone; all
other parts know full histories that end in h, a few of which are averaged over.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.models.approximation.trie_index import TrieIndex
from stategram.models.cache import CacheModel
from stategram.models.category_ngram import CategoryNgramModel
from stategram.models.clustered import ClusteredModel
from stategram.models.gate import Features, Gate
from stategram.models.mixture import Mixture
from stategram.models.model import Model
from stategram.models.ngram import NgramModel
from stategram.resources import Resources
from stategram.text import BEGIN, END, Corpus

Floats = NDArray[np.float32]
Numbers = NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Histories:
    """Short histories, each with full histories that end in it.

    Words are ids, the last one in the last column; of each row, the last `lengths` count.
    """

    words: Numbers
    lengths: NDArray[np.uint8]
    full_words: Numbers
    full_lengths: NDArray[np.uint8]
    first_full: NDArray[np.int64]
    """Where the full histories of each short one begin, and the end."""

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """The short history of each full one."""
        return np.repeat(np.arange(len(self)), np.diff(self.first_full))

    def averages(self, rows: Floats) -> Floats:
        """Return for each short history the average of the rows of its full ones."""
        averages: Floats = np.add.reduceat(rows, self.first_full[:-1], axis=0)
        counts = np.diff(self.first_full).astype(np.float32)
        averages /= counts.reshape(-1, *(1,) * (rows.ndim - 1))
        return averages

    def corpus(self, model: Model, last: Numbers | None = None) -> Corpus:
        """Return the full histories as sentences, each followed by a last word, or by ``</s>``."""
        if last is None:
            last = np.full(len(self.full_words), END, np.uint32)
        width = self.full_words.shape[1]
        columns = np.arange(width)
        # The start of a sentence is no word of it.
        counted = columns >= width - self.full_lengths[:, None]
        counted &= self.full_words != BEGIN
        rows = np.concatenate((self.full_words, last[:, None]), axis=1)
        counted = np.concatenate((counted, np.ones((len(rows), 1), bool)), axis=1)
        starts = np.concatenate(([0], np.cumsum(counted.sum(axis=1))))
        return Corpus(rows[counted], starts, model.vocabulary)


class PartTargets(Protocol):
    """The distributions of one part of a model."""

    def features(self, histories: Histories, names: Collection[str]) -> Features:
        """Return features of each full history."""

    def add_rows(self, histories: Histories, weights: Floats, rows: Floats) -> None:
        """Add the distribution of each short history, where each full one has a weight; in columns."""

    def probs(
        self, histories: Histories, weights: Floats, owners: NDArray[np.int64], words: Numbers
    ) -> NDArray[np.float64]:
        """Return the weighted probability of each word after a short history, given by its place."""


class NgramTargets:
    """An n-gram model knows only the short histories."""

    def __init__(self, model: NgramModel, ids: Numbers) -> None:
        self.index = TrieIndex(model.plain())
        own = self.index.trie.numbers[ids]
        self._own_numbers = None if (own == np.arange(len(own))).all() else own

    def _nodes(self, histories: Histories) -> Numbers:
        return self.index.find(self.index.trie.numbers[histories.words], histories.lengths)

    def features(self, histories: Histories, names: Collection[str]) -> Features:
        """Return features of each full history."""
        return _node_features(self.index, self._nodes(histories)[histories.owners])

    def add_rows(self, histories: Histories, weights: Floats, rows: Floats) -> None:
        """Add the distribution of each short history."""
        own = rows if self._own_numbers is None else np.zeros_like(rows)
        self.index.add_rows(self._nodes(histories), histories.averages(weights), own)
        if self._own_numbers is not None:
            rows += own[:, self._own_numbers]

    def probs(
        self, histories: Histories, weights: Floats, owners: NDArray[np.int64], words: Numbers
    ) -> NDArray[np.float64]:
        """Return the weighted probability of each word after a short history."""
        probs = self.index.probs_after(self._nodes(histories)[owners], self.index.trie.numbers[words])
        return probs * histories.averages(weights)[owners]


class _CategoryTargets:
    """A distribution over categories follows from the full histories, that over words from it."""

    def __init__(self, categories: Numbers, word_probs: NDArray[np.float64], ids: Numbers) -> None:
        self.categories = categories
        self.word_probs = word_probs
        self._categories_by_number = categories[ids].astype(np.int32)
        self._word_probs_by_number = word_probs[ids].astype(np.float32)

    def of_categories(self, histories: Histories, weights: Floats) -> Floats:
        """Return the weighted distribution over categories after each full history."""
        raise NotImplementedError

    def add_rows(self, histories: Histories, weights: Floats, rows: Floats) -> None:
        """Add the distribution of each short history."""
        of_categories = histories.averages(self.of_categories(histories, weights))
        _core.add_category_rows(
            of_categories.reshape(-1),
            self._categories_by_number,
            self._word_probs_by_number,
            of_categories.shape[1],
            rows.reshape(-1),
            Resources.current().threads,
        )

    def probs(
        self, histories: Histories, weights: Floats, owners: NDArray[np.int64], words: Numbers
    ) -> NDArray[np.float64]:
        """Return the weighted probability of each word after a short history."""
        of_categories = histories.averages(self.of_categories(histories, weights))
        return of_categories[owners, self.categories[words]] * self.word_probs[words]


class CategoryNgramTargets(_CategoryTargets):
    """A category n-gram model."""

    def __init__(self, model: CategoryNgramModel, ids: Numbers) -> None:
        self.index = TrieIndex(model.ngram.plain())
        numbers = self.index.trie.numbers[model.categories]
        super().__init__(numbers, model.word_probs, ids)
        self._numbers, self._ids = numbers, model.categories

    def _nodes(self, histories: Histories) -> Numbers:
        return self.index.find(self._numbers[histories.full_words], histories.full_lengths)

    def features(self, histories: Histories, names: Collection[str]) -> Features:
        """Return features of each full history."""
        last = self._ids[histories.full_words[:, -1]].astype(np.float32)
        return {**_node_features(self.index, self._nodes(histories)), "category": last}

    def of_categories(self, histories: Histories, weights: Floats) -> Floats:
        """Return the weighted distribution over categories after each full history."""
        rows = np.zeros((len(weights), self.index.n_words), np.float32)
        self.index.add_rows(self._nodes(histories), weights, rows)
        return rows


class ClusteredTargets(_CategoryTargets):
    """A clustered model."""

    def __init__(self, model: ClusteredModel, ids: Numbers) -> None:
        super().__init__(model.categories, model.word_probs, ids)
        self.model = model

    def features(self, histories: Histories, names: Collection[str]) -> Features:
        """Return features of each full history."""
        return _scored_features(self.model, histories, names)

    def of_categories(self, histories: Histories, weights: Floats) -> Floats:
        """Return the weighted distribution over categories after each full history."""
        corpus = histories.corpus(self.model)
        rows = self.model.category_distributions(corpus, corpus.sentence_starts[1:] - 1)
        rows *= weights[:, None]
        return rows


class AnyTargets:
    """Any other model, one history after the other."""

    def __init__(self, model: Model, ids: Numbers) -> None:
        self.model, self._ids = model, ids

    def features(self, histories: Histories, names: Collection[str]) -> Features:
        """Return features of each full history."""
        return _scored_features(self.model, histories, names)

    def add_rows(self, histories: Histories, weights: Floats, rows: Floats) -> None:
        """Add the distribution of each short history."""
        words = self.model.vocabulary.words
        counts = np.diff(histories.first_full)
        for i, owner in enumerate(histories.owners.tolist()):
            full = histories.full_words[i, histories.full_words.shape[1] - int(histories.full_lengths[i]) :]
            begins = len(full) > 0 and full[0] == BEGIN
            state = self.model.state_after([words[id] for id in full.tolist()], sentence_start=begins)
            rows[owner] += weights[i] / counts[owner] * self.model.distribution_after(state)[self._ids]

    def probs(
        self, histories: Histories, weights: Floats, owners: NDArray[np.int64], words: Numbers
    ) -> NDArray[np.float64]:
        """Return the weighted probability of each word after a short history."""
        # The first full history stands for all.
        full = histories.first_full[owners]
        events = Histories(
            histories.words[owners],
            histories.lengths[owners],
            histories.full_words[full],
            histories.full_lengths[full],
            np.arange(len(owners) + 1),
        )
        corpus = events.corpus(self.model, words)
        log_probs = self.model.score(corpus).log_probs[corpus.sentence_starts[1:] - 1]
        return np.exp(log_probs) * histories.averages(weights)[owners]


def _scored_features(model: Model, histories: Histories, names: Collection[str]) -> Features:
    corpus = histories.corpus(model)
    found = model.score(corpus, features=names).features
    return {name: values[corpus.sentence_starts[1:] - 1] for name, values in found.items()}


def _node_features(index: TrieIndex, nodes: Numbers) -> Features:
    return {"length": index.lengths[nodes].astype(np.float32), "backoff": index.trie.backoffs[nodes]}


class Targets:
    """The distributions of a model, which may be a mixture; `ids` has the word of each column of rows.

    Caches are left out, and other parts take their weight: what a cache knows of a text is not in n-grams.
    """

    def __init__(self, model: Model, ids: Numbers) -> None:
        self._model = model
        parts: tuple[Model, ...] = (model,)
        self._gate = Gate.constant([1.0])
        if isinstance(model, Mixture) and all(part.vocabulary == model.vocabulary for part in model.parts):
            parts, self._gate = model.parts, model.gate
        self._parts = {
            number: _part_targets(part, ids)
            for number, part in enumerate(parts)
            if part is model or not isinstance(part, CacheModel)
        }

    @property
    def is_slow(self) -> bool:
        """Whether a row takes much more than a probability."""
        return any(isinstance(part, AnyTargets) for part in self._parts.values())

    def _weighted(self, histories: Histories) -> Iterator[tuple[PartTargets, Floats]]:
        features = {
            number: self._parts[number].features(histories, names)
            for number, names in self._gate.needs.items()
        }
        weights = self._gate.weights(features, len(histories.full_words))[:, list(self._parts)]
        weights = weights / weights.sum(axis=1, keepdims=True)
        for number, part in enumerate(self._parts.values()):
            yield part, weights[:, number].astype(np.float32)

    def rows(self, histories: Histories) -> Floats:
        """Return the distribution after each short history."""
        rows = np.zeros((len(histories), len(self._model.vocabulary)), np.float32)
        for part, weights in self._weighted(histories):
            part.add_rows(histories, weights, rows)
        return rows

    def probs(self, histories: Histories, owners: NDArray[np.int64], words: Numbers) -> NDArray[np.float64]:
        """Return the probability of each word (id) after a short history, given by its place."""
        probs = np.zeros(len(words))
        for part, weights in self._weighted(histories):
            probs += part.probs(histories, weights, owners, words)
        return probs


def _part_targets(model: Model, ids: Numbers) -> PartTargets:
    if isinstance(model, NgramModel):
        return NgramTargets(model, ids)
    if isinstance(model, CategoryNgramModel):
        return CategoryNgramTargets(model, ids)
    return ClusteredTargets(model, ids) if isinstance(model, ClusteredModel) else AnyTargets(model, ids)
