"""Binary trees of words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.clustering import build_hierarchy, class_labels
from stategram.counts import BigramCounts, cluster_bigrams
from stategram.progress import Progress
from stategram.text import BEGIN, END, Vocabulary


@dataclass(frozen=True, eq=False)
class WordTree:
    """A binary tree whose leaves are words: the path to each, as bits aligned to the left, and its length."""

    codes: NDArray[np.uint32]
    lengths: NDArray[np.uint8]

    def path(self, word: int) -> str:
        """Return the path to a word as a string of bits; ``<s>``, which is never predicted, has none."""
        return f"{int(self.codes[word]):032b}"[: int(self.lengths[word])]


def build_word_tree(
    classes: dict[str, int],
    bigrams: BigramCounts,
    vocabulary: Vocabulary,
    *,
    progress: Progress | None = None,
) -> WordTree:
    """Build the tree of words from word classes.

    The root decides between ``</s>`` and all words; the classes follow by their hierarchy, and the words of
    each class by Huffman's algorithm.

    Examples
    --------
    >>> from stategram import corpus_from_sentences
    >>> from stategram.counts import count_bigrams
    >>> corpus = corpus_from_sentences(["the cat sat", "the dog sat", "a cat ran"])
    >>> classes = {"the": 0, "a": 0, "cat": 1, "dog": 1, "sat": 2, "ran": 2}
    >>> tree = build_word_tree(classes, count_bigrams(corpus), corpus.vocabulary)
    >>> tree.path(corpus.vocabulary.id("</s>")), tree.path(corpus.vocabulary.id("cat"))[:2]
    ('1', '00')

    """
    labels = class_labels(classes, vocabulary).astype(np.int64)
    n_classes = len(set(classes.values()))
    labels[labels >= n_classes] = n_classes
    merges = np.empty(0, np.int64)
    if n_classes > 1:
        table = cluster_bigrams(bigrams, labels, n_classes + 1)
        hierarchy = build_hierarchy(table, n_classes, progress=progress)
        merges = np.ascontiguousarray(hierarchy.merges.reshape(-1), np.int64)
    labels[labels == n_classes] = -1
    counts = bigrams.word_counts.astype(np.int64)
    return WordTree(*_core.word_tree_codes(counts, labels, merges, BEGIN, END))
