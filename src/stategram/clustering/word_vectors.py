"""Word vectors from the classes of the neighbours of words."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from stategram.counts import BigramCounts, CompressedCounts, ShardedText, count_bigrams
from stategram.errors import UsageError
from stategram.progress import Progress, subprogress
from stategram.text import END, Corpus, dense_ids

# A word of few events is taken to have as many more, with the neighbours that its class has.
_PRIOR_EVENTS = 5.0
_CELLS_A_BLOCK = 1 << 23


def word_vectors(
    corpus: Corpus | ShardedText,
    classes: Mapping[str, Hashable],
    dimensions: int = 100,
    *,
    progress: Progress | None = None,
) -> NDArray[np.float32]:
    """Return a vector for each word of the vocabulary, by its id: near each other for words used alike.

    Parameters
    ----------
    corpus
        The text.
    classes
        The class of each word, such as `WordClasses.as_dict` and `read_classes` return them. Words without
        one, and sentence boundaries, are one class more.
    dimensions
        The length of the vectors; shorter if there are fewer than half as many classes.
    progress
        Called with the fraction done and a few words.

    Notes
    -----
    A word w is described by the positive pointwise mutual information, max(0, log p(g | w) / p(g)), with each
    class g of the word before it and of the word after it. p(g | w) is a relative frequency, of which five
    events are those of the class of w: so rare words are near the others of their class. These profiles are
    reduced to their principal components, words weighted by the square roots of their counts.

    Bullinaria and Levy (2007), "Extracting semantic representations from word co-occurrence statistics: a
    computational study", compare such vectors; here classes take the place of context words.

    Examples
    --------
    >>> from stategram import WordClasses, corpus_from_sentences
    >>> corpus = corpus_from_sentences(["the cat sat", "the dog sat", "a cat ran", "a dog ran"] * 3)
    >>> vectors = word_vectors(corpus, WordClasses(3).fit(corpus).as_dict(), 2)
    >>> the, a, cat = (vectors[corpus.vocabulary.id(word)] for word in ("the", "a", "cat"))
    >>> bool(np.linalg.norm(the - a) < np.linalg.norm(the - cat))
    True

    """
    if dimensions < 1:
        raise UsageError(f"dimensions is {dimensions}; it must be at least 1")
    if progress:
        progress(0.0, "counting bigrams")
    profiles = _Profiles(count_bigrams(corpus), *_labels(corpus, classes))
    weights = np.sqrt(profiles.counts)
    weights /= weights.sum()
    mean = np.zeros(profiles.width)
    products = np.zeros((profiles.width, profiles.width))
    for begin, block in profiles.blocks(subprogress(progress, 0.1, 0.5)):
        weighted = block * weights[begin : begin + len(block), None].astype(np.float32)
        mean += weighted.sum(axis=0, dtype=np.float64)
        products += weighted.T @ block
    values, axes = np.linalg.eigh(products - np.outer(mean, mean))
    axes = axes[:, np.argsort(-values, kind="stable")[:dimensions]]
    # An axis has no direction of its own.
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    vectors = np.empty((len(weights), axes.shape[1]), np.float32)
    for begin, block in profiles.blocks(subprogress(progress, 0.6, 1.0)):
        vectors[begin : begin + len(block)] = block @ axes.astype(np.float32) - mean @ axes
    return vectors


def _labels(corpus: Corpus | ShardedText, classes: Mapping[str, Hashable]) -> tuple[NDArray[np.int64], int]:
    """Return the class of each word as a number, and how many there are."""
    words = corpus.vocabulary.words
    numbers = dense_ids(classes[word] for word in words if word in classes)
    if not numbers:
        raise UsageError("no word of the text has a class; give the classes of its words")
    labels = [numbers[classes[word]] if word in classes else len(numbers) for word in words]
    labels[END] = len(numbers)
    return np.array(labels), len(numbers) + 1


class _Profiles:
    """The profile of each word: a column for each class of the next word, then of the word before."""

    def __init__(self, bigrams: BigramCounts, labels: NDArray[np.int64], n_classes: int) -> None:
        self.counts = bigrams.word_counts.astype(np.float64)
        self.width = 2 * n_classes
        self._labels = labels
        self._n_classes = n_classes
        self._sides = (bigrams.successors, bigrams.predecessors)
        self._class_profiles = [self._of_classes(side) for side in self._sides]
        totals = np.bincount(labels, self.counts, n_classes)
        self._class_probs = totals / max(totals.sum(), 1.0)

    def blocks(self, progress: Progress | None) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield the profiles of words in blocks, each after the id of its first word."""
        n_words, size = len(self.counts), max(1, _CELLS_A_BLOCK // self.width)
        for begin in range(0, n_words, size):
            end = min(begin + size, n_words)
            sides = zip(self._sides, self._class_profiles, strict=True)
            yield begin, np.hstack([self._block(side, prior, begin, end) for side, prior in sides])
            if progress:
                progress(end / n_words, f"{end:,} of {n_words:,} words")

    def _block(
        self, side: CompressedCounts, prior: NDArray[np.float64], begin: int, end: int
    ) -> NDArray[np.float32]:
        counts = self._counts(side, begin, end) + _PRIOR_EVENTS * prior[self._labels[begin:end]]
        probs = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            information = np.log(probs / self._class_probs)
        return np.where(information > 0, information, 0.0).astype(np.float32)

    def _counts(self, side: CompressedCounts, begin: int, end: int) -> NDArray[np.float64]:
        """Return how often each class is beside each word."""
        first, last = side.offsets[begin], side.offsets[end]
        rows = np.repeat(np.arange(end - begin), np.diff(side.offsets[begin : end + 1]))
        cells = rows * self._n_classes + self._labels[side.columns[first:last]]
        found = np.bincount(cells, side.counts[first:last], (end - begin) * self._n_classes)
        return found.reshape(end - begin, self._n_classes).astype(np.float64)

    def _of_classes(self, side: CompressedCounts) -> NDArray[np.float64]:
        """Return how probable each class is beside a word of each class."""
        rows = np.repeat(self._labels, np.diff(side.offsets))
        cells = rows * self._n_classes + self._labels[side.columns]
        found = np.bincount(cells, side.counts, self._n_classes**2).reshape(self._n_classes, -1)
        probs: NDArray[np.float64] = found / np.maximum(found.sum(axis=1, keepdims=True), 1.0)
        return probs
