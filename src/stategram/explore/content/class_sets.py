"""The sets of word classes that a model has, and how its classes follow each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np
from numpy.typing import NDArray

from stategram.clustering import ClassHierarchy, build_hierarchy
from stategram.models import Model, ModelClasses, ModelStates, NgramModel, word_frequencies
from stategram.text import BEGIN, END, SPECIAL_WORDS, UNKNOWN, Corpus, Vocabulary

# The hierarchy is built on whole numbers: so many events stand for all.
_EVENTS = 1_000_000_000
# Steps of the subspace iteration that finds the two main axes of the map.
_ITERATIONS = 60
# Words that are rarer than this fraction of the most frequent one do not stand for a class.
_TOO_RARE = 0.01


class Data(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A record that is only ever replaced."""


class WordExample(Data, frozen=True):
    """A word, and its probability in its category or after a state."""

    word: str
    probability: float


def word_fractions(model: Model) -> NDArray[np.float64]:
    """Return how frequent each word is in the training text; without its counts, how probable it is."""
    counts = model.vocabulary.counts.astype(np.float64)
    if counts[END] == 0:  # not those of a text, not of all of it at least
        counts = model.distribution(model.start(sentence_start=False))
    counts[BEGIN] = 0.0
    fractions: NDArray[np.float64] = counts / max(counts.sum(), np.finfo(np.float64).tiny)
    return fractions


@dataclass(frozen=True, eq=False)
class ClassSet:
    """Word classes: the class of each word by its id, and how classes follow each other.

    Parameters
    ----------
    title
        What it is, in a few words.
    vocabulary
        The words.
    labels
        The class of each word.
    fractions
        How frequent each word is; they sum to one.
    followers
        ``followers[a, b]``: how often class b follows class a, as a fraction of all events.

    """

    title: str
    vocabulary: Vocabulary
    labels: NDArray[np.int64]
    fractions: NDArray[np.float64]
    followers: NDArray[np.float64]

    @property
    def n(self) -> int:
        """The number of classes."""
        return len(self.followers)

    @cached_property
    def special(self) -> list[int]:
        """The classes that have no words but special words, which count as none in any view."""
        special, words = np.split(self.labels, [len(SPECIAL_WORDS)])
        return list(map(int, np.setdiff1d(special, words)))

    @cached_property
    def tokens(self) -> NDArray[np.float64]:
        """How frequent the words of each class are together."""
        return np.bincount(self.labels, self.fractions, self.n).astype(np.float64)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of words of each class."""
        return np.bincount(self.labels, minlength=self.n)

    @cached_property
    def members(self) -> list[NDArray[np.int64]]:
        """The words of each class, the most frequent first."""
        order = np.lexsort((-self.fractions, self.labels))
        return np.split(order, np.cumsum(self.sizes)[:-1])

    def top(self, number: int, n: int = 3) -> list[str]:
        """Return the most frequent words of a class, without those that are rare beside the first."""
        ids = self.members[number][:n]
        often = self.fractions[ids] >= _TOO_RARE * self.fractions[ids[:1]]
        return [self.vocabulary.word(int(id)) for id in ids[often]]

    @cached_property
    def bits(self) -> NDArray[np.float64]:
        """The mutual information of each class with the next class, in bits per token of the class."""
        frequencies = self.followers.sum(axis=0)
        ratio = np.divide(self.after, frequencies, out=np.ones_like(self.after), where=self.after > 0)
        bits: NDArray[np.float64] = np.sum(self.after * np.log2(ratio), axis=1)
        return bits

    @cached_property
    def after(self) -> NDArray[np.float64]:
        """p(b | a): the probability of each class after each class."""
        return _normalized(self.followers)

    @cached_property
    def before(self) -> NDArray[np.float64]:
        """How often each class stands before a class: the rows are those of the second class."""
        return _normalized(self.followers.T)

    @cached_property
    def places(self) -> NDArray[np.float64]:
        """Places of the classes on a map, both coordinates from 0 to 1: near classes have like followers."""
        return map_places(np.sqrt(self.after))

    def distances(self, number: int) -> NDArray[np.float64]:
        """Return the Hellinger distance of the followers of a class to those of each class, 0 to 1."""
        return hellinger(self.after, self.after[number])

    @cached_property
    def hierarchy(self) -> ClassHierarchy:
        """The tree of classes, by mergers that lose least mutual information of adjacent classes."""
        return build_hierarchy(np.rint(self.followers * _EVENTS).astype(np.int64))

    @cached_property
    def losses(self) -> NDArray[np.float64]:
        """The mutual information that each merger loses, in bits per event."""
        losses: NDArray[np.float64] = self.hierarchy.losses / (_EVENTS * np.log(2.0))
        return losses

    @cached_property
    def bit_paths(self) -> list[str]:
        """The path from the root to each class."""
        return self.hierarchy.bit_paths()


def greatest(row: NDArray[np.float64], n: int) -> list[tuple[int, float]]:
    """Return the greatest values above zero with their places, the greatest first."""
    n = min(n, len(row))
    best = np.argpartition(-row, n - 1)[:n]
    best = best[np.lexsort((best, -row[best]))]
    return [(int(one), round(float(row[one]), 6)) for one in best if row[one] > 0]


def hellinger(rows: NDArray[np.float64], row: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Hellinger distance of each distribution to one of them."""
    overlaps = np.sqrt(rows) @ np.sqrt(row)
    return np.sqrt(np.maximum(1.0 - overlaps, 0.0))


def map_places(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return places in a plane for vectors: their two principal components, spread out.

    Half of a coordinate is the component itself, half its rank, so that a few far vectors do not press all
    others together.
    """
    centred = rows - rows.mean(axis=0)
    axes = np.linalg.qr(np.random.default_rng(0).standard_normal((rows.shape[1], 4)))[0]
    for _ in range(_ITERATIONS):
        axes = np.linalg.qr(centred.T @ (centred @ axes))[0]
    _, _, turned = np.linalg.svd(centred @ axes, full_matrices=False)
    found = (centred @ axes @ turned.T)[:, :2]
    if found.shape[1] < 2:
        found = np.column_stack((found, np.zeros((len(rows), 2 - found.shape[1]))))
    found *= np.where(np.abs(found.max(axis=0)) < np.abs(found.min(axis=0)), -1.0, 1.0)
    width = np.maximum(np.ptp(found, axis=0), np.finfo(np.float64).tiny)
    ranks = found.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable") / max(len(rows) - 1, 1)
    places: NDArray[np.float64] = 0.5 * (found - found.min(axis=0)) / width + 0.5 * ranks
    return places


def class_sources(model: Model) -> dict[str, tuple[Model, ModelClasses]]:
    """Return the sets of classes of a model by their source, each with the part that has it."""
    return {
        f"{place}:{one.name}" if one.name else place: (leaf, one)
        for place, leaf in model.leaves.items()
        for one in leaf.class_sets
    }


def class_set(model: Model, source: str, text: Corpus | None = None) -> ClassSet:
    """Return a set of classes of a model; KeyError if it has none of this name.

    How classes follow each other is known where there are n-grams of them, or states that they follow. Else
    it is counted in a text, in the vocabulary of the model, or predicted after the most frequent word of each
    class.
    """
    leaf, classes = class_sources(model)[source]
    labels, fractions = classes.labels.astype(np.int64), word_fractions(leaf)
    if classes.ngrams is not None:
        followers = _of_ngrams(classes.ngrams)
    elif classes.states is not None and classes.states.counts:
        followers = _of_states(classes.states, leaf.vocabulary, fractions)
    elif text:
        followers = _in_text(labels, classes.n, text)
    else:
        followers = _of_predictions(leaf, labels, fractions, classes.n)
    followers /= max(followers.sum(), np.finfo(np.float64).tiny)
    return ClassSet(classes.title, leaf.vocabulary, labels, fractions, followers)


def _of_ngrams(ngrams: NgramModel) -> NDArray[np.float64]:
    """Return the bigrams of classes."""
    frequencies, words = word_frequencies(ngrams), ngrams.vocabulary
    rows = [ngrams.distribution([words.word(id)], sentence_start=False) for id in range(len(words))]
    return np.array(rows) * frequencies[:, None]


def _of_states(
    states: ModelStates, vocabulary: Vocabulary, fractions: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return which categories follow the states that the words of each category lead to."""
    n_words, counts = len(vocabulary), states.counts[0]
    ids = np.full(2 * n_words, END, np.uint32)
    ids[::2] = np.arange(n_words)
    starts = np.arange(0, 2 * n_words + 1, 2, dtype=np.int64)
    found = states.tree.find(Corpus(ids, starts, vocabulary))[0][0][1::2].astype(np.int64)
    table = np.zeros(counts.shape)
    table[counts.rows, counts.columns] = counts.counts
    places = states.categories.astype(np.int64) * counts.shape[0] + found
    mass = np.bincount(places, fractions, counts.n_categories * counts.shape[0])
    return mass.reshape(counts.n_categories, -1) @ _normalized(table)


def _in_text(labels: NDArray[np.int64], n: int, text: Corpus) -> NDArray[np.float64]:
    ids = text.ids
    first = labels[np.concatenate(([BEGIN], ids[:-1]))]
    first[text.sentence_starts[:-1]] = labels[BEGIN]
    return np.bincount(first * n + labels[ids], minlength=n * n).reshape(n, n).astype(np.float64)


def _of_predictions(
    model: Model, labels: NDArray[np.int64], fractions: NDArray[np.float64], n: int
) -> NDArray[np.float64]:
    order = np.lexsort((-fractions, labels))
    classes, firsts = np.unique(labels[order], return_index=True)
    tokens, rows = np.bincount(labels, fractions, n), np.zeros((n, n))
    for number, id in zip(classes.tolist(), order[firsts].tolist(), strict=True):
        if id not in (BEGIN, UNKNOWN, END):
            after = model.distribution([model.vocabulary.word(id)], sentence_start=False)
            rows[number] = tokens[number] * np.bincount(labels, after, n)
    return rows


def _normalized(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rows that sum to one; an empty row stays empty."""
    sums = rows.sum(axis=1, keepdims=True)
    found: NDArray[np.float64] = np.divide(rows, sums, out=np.zeros_like(rows), where=sums > 0)
    return found
