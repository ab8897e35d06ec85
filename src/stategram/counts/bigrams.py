"""Counts of word bigrams."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stategram import _core
from stategram.counts.ngrams import levels_of_shards
from stategram.counts.ranges import require_countable, trie_numbers
from stategram.counts.sharded_text import ShardedText
from stategram.counts.workspace import Workspace
from stategram.progress import Progress
from stategram.resources import Resources
from stategram.text import BEGIN, END, Corpus

_BLOCK = 2**22


class CompressedCounts(NamedTuple):
    """Counts in compressed rows: those of row r are at ``offsets[r]`` to ``offsets[r + 1]``."""

    offsets: NDArray[np.int64]
    columns: NDArray[np.uint32]
    counts: NDArray[np.uint32]


class BigramCounts(NamedTuple):
    """The bigrams of a corpus, seen from both sides.

    The beginning and the end of a sentence are one symbol, ``boundary``: the stream of words is closed, and
    every word has as many predecessors as successors.
    """

    successors: CompressedCounts
    predecessors: CompressedCounts
    word_counts: NDArray[np.int64]
    n_events: int
    boundary: int


def count_bigrams(corpus: Corpus | ShardedText, progress: Progress | None = None) -> BigramCounts:
    """Count the bigrams of a text; `progress` is called for a text in shards.

    Examples
    --------
    >>> from stategram.text import corpus_from_sentences
    >>> bigrams = count_bigrams(corpus_from_sentences(["a b", "a a b"]))
    >>> bigrams.word_counts.tolist()  # <unk>, <s>, </s>, a, b
    [0, 0, 2, 3, 2]
    >>> bigrams.successors.counts.tolist()  # </s> a, a a, a b, b </s>
    [2, 1, 2, 2]

    """
    types, threads = len(corpus.vocabulary), Resources.current().threads
    if isinstance(corpus, ShardedText):
        numbers = trie_numbers(types)
        _, words, pairs = levels_of_shards(corpus, 2, numbers, Workspace(), progress)
        rows = _core.bigram_rows(words.first_child, pairs.words, pairs.counts, numbers, BEGIN, END, threads)
        del words, pairs
        successors = CompressedCounts(*rows)
    else:
        require_countable(corpus)
        successors = CompressedCounts(*_core.count_bigrams(corpus.ids, END, types, threads))
    predecessors = CompressedCounts(*_core.transpose_counts(*successors, types))
    sums = np.concatenate(([0], np.cumsum(successors.counts, dtype=np.int64)))
    word_counts = np.diff(sums[successors.offsets])
    return BigramCounts(successors, predecessors, word_counts, corpus.n_events, END)


def cluster_bigrams(bigrams: BigramCounts, labels: ArrayLike, n: int) -> NDArray[np.int64]:
    """Count how often a word of cluster b follows one of cluster a: an n by n table."""
    label = np.asarray(labels, dtype=np.int64)
    return cluster_counts(bigrams.successors, label, label, (n, n))


def cluster_counts(
    counts: CompressedCounts,
    row_labels: NDArray[np.integer[Any]],
    column_labels: NDArray[np.integer[Any]],
    shape: tuple[int, int],
) -> NDArray[np.int64]:
    """Sum counts by the clusters of their rows and of their columns."""
    table = np.zeros(shape[0] * shape[1])
    for begin in range(0, len(counts.columns), _BLOCK):  # of which each count becomes many bytes
        end = min(begin + _BLOCK, len(counts.columns))
        rows = np.searchsorted(counts.offsets, np.arange(begin, end), "right") - 1
        cells = row_labels[rows].astype(np.int64) * shape[1] + column_labels[counts.columns[begin:end]]
        table += np.bincount(cells, counts.counts[begin:end], len(table))
    return table.astype(np.int64).reshape(shape)
