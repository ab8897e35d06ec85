"""The distributions that a back-off model should have: those of another model, averaged over histories.

A short history h stands for all longer ones that end in it. Where it is needed, a word was never seen after
the longer one, or the longer one was never seen at all. So parts that are n-gram models know h alone; all
other parts know full histories that end in h, a few of which are averaged over.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.models.approximation.histories import Histories
from stategram.models.gate import Features
from stategram.models.ngrams.plain import PlainTrie
from stategram.resources import Resources
from stategram.text import BEGIN

if TYPE_CHECKING:
    from stategram.models.category_ngram import CategoryNgramModel
    from stategram.models.clustered import ClusteredModel
    from stategram.models.mixture import Mixture
    from stategram.models.model import Model

Floats = NDArray[np.float32]
Floats64 = NDArray[np.float64]
Numbers = NDArray[np.uint32]


class Targets:
    """The distributions of a model, for the words of a vocabulary in some order; here one after the other."""

    is_slow = True
    """Whether a row takes much more than a probability."""

    def __init__(self, model: Model, ids: Numbers) -> None:
        self.model, self._ids = model, ids

    def features(self, histories: Histories, names: Collection[str]) -> Features:
        """Return features of each full history."""
        corpus = histories.corpus(self.model.vocabulary)
        found = self.model.score(corpus, features=names).features
        return {name: values[corpus.sentence_starts[1:] - 1] for name, values in found.items()}

    def add_rows(self, histories: Histories, weights: Floats, rows: Floats) -> None:
        """Add the distribution of each short history, where each full one has a weight; in columns."""
        words = self.model.vocabulary.words
        counts = np.diff(histories.first_full)
        for i, owner in enumerate(histories.owners.tolist()):
            full = histories.full_words[i, histories.full_words.shape[1] - int(histories.full_lengths[i]) :]
            begins = len(full) > 0 and full[0] == BEGIN
            history = [words[id] for id in full.tolist()]
            probabilities = self.model.distribution(history, sentence_start=begins)
            rows[owner] += weights[i] / counts[owner] * probabilities[self._ids]

    def probs(
        self, histories: Histories, weights: Floats, owners: NDArray[np.int64], words: Numbers
    ) -> Floats64:
        """Return the weighted probability of each word after a short history, given by its place."""
        # The first full history stands for all.
        full = histories.first_full[owners]
        events = Histories(
            histories.words[owners],
            histories.lengths[owners],
            histories.full_words[full],
            histories.full_lengths[full],
            np.arange(len(owners) + 1),
        )
        corpus = events.corpus(self.model.vocabulary, words)
        log_probs = self.model.score(corpus).log_probs[corpus.sentence_starts[1:] - 1]
        return np.exp(log_probs) * histories.averages(weights)[owners]


class NgramTargets(Targets):
    """An n-gram model knows only the short histories."""

    is_slow = False

    def __init__(self, trie: PlainTrie, ids: Numbers) -> None:
        self.index = trie
        own = self.index.numbers[ids]
        self._own_numbers = None if (own == np.arange(len(own))).all() else own

    def _nodes(self, histories: Histories) -> Numbers:
        return self.index.find(self.index.numbers[histories.words], histories.lengths)

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
    ) -> Floats64:
        """Return the weighted probability of each word after a short history."""
        probs = self.index.probs_after(self._nodes(histories)[owners], self.index.numbers[words])
        return probs * histories.averages(weights)[owners]


class _CategoryTargets(Targets):
    """A distribution over categories follows from the full histories, that over words from it."""

    is_slow = False

    def __init__(self, model: Model, categories: Numbers, word_probs: Floats64, ids: Numbers) -> None:
        super().__init__(model, ids)
        self.categories, self.word_probs = categories, word_probs
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
    ) -> Floats64:
        """Return the weighted probability of each word after a short history."""
        of_categories = histories.averages(self.of_categories(histories, weights))
        return of_categories[owners, self.categories[words]] * self.word_probs[words]


class CategoryNgramTargets(_CategoryTargets):
    """A category n-gram model."""

    def __init__(self, model: CategoryNgramModel, ids: Numbers) -> None:
        self.index = model.ngram.plain()
        numbers = self.index.numbers[model.categories]
        super().__init__(model, numbers, model.word_probs, ids)
        self._last = model.categories

    def _nodes(self, histories: Histories) -> Numbers:
        return self.index.find(self.categories[histories.full_words], histories.full_lengths)

    def features(self, histories: Histories, names: Collection[str]) -> Features:
        """Return features of each full history."""
        last = self._last[histories.full_words[:, -1]].astype(np.float32)
        return {**_node_features(self.index, self._nodes(histories)), "category": last}

    def of_categories(self, histories: Histories, weights: Floats) -> Floats:
        """Return the weighted distribution over categories after each full history."""
        rows = np.zeros((len(weights), self.index.n_words), np.float32)
        self.index.add_rows(self._nodes(histories), weights, rows)
        return rows


class ClusteredTargets(_CategoryTargets):
    """A clustered model."""

    def __init__(self, model: ClusteredModel, ids: Numbers) -> None:
        super().__init__(model, model.categories, model.word_probs, ids)
        self._clustered = model

    def of_categories(self, histories: Histories, weights: Floats) -> Floats:
        """Return the weighted distribution over categories after each full history."""
        corpus = histories.corpus(self._clustered.vocabulary)
        rows = self._clustered.category_distributions(corpus, corpus.sentence_starts[1:] - 1)
        rows *= weights[:, None]
        return rows


class MixtureTargets(Targets):
    """A mixture of parts with its vocabulary.

    Caches are no parts of it, and the others take their weight: what a cache knows of a text is not in
    n-grams.
    """

    def __init__(self, model: Mixture, parts: Mapping[int, Targets]) -> None:
        super().__init__(model, np.empty(0, np.uint32))
        self._gate, self._parts = model.gate, parts
        self.is_slow = any(part.is_slow for part in parts.values())

    def _weighted(self, histories: Histories, weights: Floats) -> Iterator[tuple[Targets, Floats]]:
        gate = self._gate
        features = {
            number: self._parts[number].features(histories, names) for number, names in gate.needs.items()
        }
        of_parts = gate.weights(features, len(histories.full_words))[:, list(self._parts)]
        of_parts = of_parts / of_parts.sum(axis=1, keepdims=True)
        for number, part in enumerate(self._parts.values()):
            yield part, weights * of_parts[:, number].astype(np.float32)

    def add_rows(self, histories: Histories, weights: Floats, rows: Floats) -> None:
        """Add the distribution of each short history."""
        for part, of_part in self._weighted(histories, weights):
            part.add_rows(histories, of_part, rows)

    def probs(
        self, histories: Histories, weights: Floats, owners: NDArray[np.int64], words: Numbers
    ) -> Floats64:
        """Return the weighted probability of each word after a short history."""
        probs = np.zeros(len(words))
        for part, of_part in self._weighted(histories, weights):
            probs += part.probs(histories, of_part, owners, words)
        return probs


def _node_features(index: PlainTrie, nodes: Numbers) -> Features:
    return {"length": index.lengths[nodes].astype(np.float32), "backoff": index.backoffs[nodes]}
