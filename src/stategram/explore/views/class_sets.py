"""The sets of word classes that a model has, and how its classes follow each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stategram.clustering import ClassHierarchy, build_hierarchy
from stategram.models import CategoryNgramModel, ClusteredModel, Model, WordTreeModel, word_frequencies
from stategram.text import BEGIN, END, UNKNOWN, Corpus, Vocabulary

# The hierarchy is built on whole numbers: so many events stand for all.
_EVENTS = 1_000_000_000
# Steps of the subspace iteration that finds the two main axes of the map.
_ITERATIONS = 60


def leaf_models(model: Model, name: str = "") -> Iterator[tuple[str, Model]]:
    """Return the models that have no parts, each with its place: ``0``, or ``1.2`` in nested mixtures."""
    if not model.parts:
        yield name or "0", model
    for number, part in enumerate(model.parts, 1):
        yield from leaf_models(part, f"{name}.{number}" if name else str(number))


def word_fractions(model: Model) -> NDArray[np.float64]:
    """Return how frequent each word is in the training text; without its counts, how probable it is."""
    counts = model.vocabulary.counts.astype(np.float64)
    if counts[END] == 0:  # not those of a text, not of all of it at least
        counts = model.distribution_after(model.start(sentence_start=False))
    counts[BEGIN] = 0.0
    fractions: NDArray[np.float64] = counts / max(counts.sum(), np.finfo(np.float64).tiny)
    return fractions


@dataclass(frozen=True, eq=False)
class ClassSet:
    """Word classes: the class of each word by its id, and how classes follow each other.

    Parameters
    ----------
    source
        Its name among those of a model.
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

    source: str
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
        """Return the most frequent words of a class."""
        return [self.vocabulary.word(int(id)) for id in self.members[number][:n]]

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


def class_sources(model: Model) -> list[tuple[str, str, int]]:
    """Return the source, the title and the number of classes of each set of classes of a model."""
    found = []
    for place, leaf in leaf_models(model):
        if isinstance(leaf, CategoryNgramModel | ClusteredModel):
            found.append((place, f"categories of the {leaf.title}", int(leaf.categories.max()) + 1))
        elif isinstance(leaf, WordTreeModel):
            found += [
                (f"{place}:{name}", f"classes {name} of the {leaf.title}", int(labels.max()) + 1)
                for name, labels in leaf.evidence.sources.labels.items()
                if name[0] == "g"
            ]
    return found


def class_set(model: Model, source: str, text: Corpus | None = None) -> ClassSet:
    """Return a set of classes of a model; KeyError if it has none of this name.

    How classes follow each other is known to a category n-gram model and to a clustered model. Word tree
    models do not keep it: it is counted in a text, in the vocabulary of the model, or else predicted after
    the most frequent word of each class.
    """
    sources = {name: (title, n) for name, title, n in class_sources(model)}
    title, n = sources[source]
    place, _, name = source.partition(":")
    leaf = dict(leaf_models(model))[place]
    fractions = word_fractions(leaf)
    if isinstance(leaf, CategoryNgramModel):
        labels, followers = leaf.categories.astype(np.int64), _of_category_ngrams(leaf)
    elif isinstance(leaf, ClusteredModel):
        labels = leaf.categories.astype(np.int64)
        followers = _of_states(leaf, fractions)
    else:
        assert isinstance(leaf, WordTreeModel)
        labels = leaf.evidence.sources.labels[name].astype(np.int64)
        followers = _in_text(leaf, labels, n, text) if text else _of_predictions(leaf, labels, fractions, n)
    followers /= max(followers.sum(), np.finfo(np.float64).tiny)
    return ClassSet(source, title, leaf.vocabulary, labels, fractions, followers)


def _of_category_ngrams(model: CategoryNgramModel) -> NDArray[np.float64]:
    """Return the bigrams of categories."""
    frequencies, words = word_frequencies(model.ngram), model.ngram.vocabulary
    rows = [model.ngram.distribution([words.word(id)], sentence_start=False) for id in range(len(words))]
    return np.array(rows) * frequencies[:, None]


def _of_states(model: ClusteredModel, fractions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return which categories follow the states that the words of each category lead to."""
    n_words, counts = len(model.vocabulary), model.counts[0]
    ids = np.full(2 * n_words, END, np.uint32)
    ids[::2] = np.arange(n_words)
    starts = np.arange(0, 2 * n_words + 1, 2, dtype=np.int64)
    states = model.tree.find(Corpus(ids, starts, model.vocabulary))[0][0][1::2].astype(np.int64)
    table = np.zeros(counts.shape)
    table[counts.rows, counts.columns] = counts.counts
    places = model.categories.astype(np.int64) * counts.shape[0] + states
    mass = np.bincount(places, fractions, model.n_categories * counts.shape[0])
    return mass.reshape(model.n_categories, -1) @ _normalized(table)


def _in_text(model: Model, labels: NDArray[np.int64], n: int, text: Corpus) -> NDArray[np.float64]:
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
