"""Counts of n-grams, and of the different words before them; counts of bigrams seen from both sides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stategram import _core
from stategram.counts.ranges import (
    RANGE_SIZE,
    CountedLevel,
    GrowingLevels,
    Range,
    fitting_range_size,
    positions_by_number,
    ranges_of,
    require_countable,
    require_order,
    trie_numbers,
)
from stategram.counts.runs import count_runs, levels_of_runs
from stategram.counts.sharded_text import ShardedText
from stategram.counts.workspace import Workspace, memory_in_use
from stategram.display import plural
from stategram.errors import BadDataError, UsageError
from stategram.progress import Progress, subprogress
from stategram.resources import Resources
from stategram.text import BEGIN, END, UNKNOWN, Corpus, Vocabulary

_NONE = np.empty(0, np.uint32)

# While a model is estimated from them, whatever the smoothing: measured on texts of 8 and 40 million words,
# n-grams of 3 and 5 words; an upper end.
_BYTES_PER_NGRAM = 48


@dataclass(eq=False)
class NgramLevel:
    """The n-grams of one length, ordered by their words."""

    words: NDArray[np.uint32]
    """The last word of each, as its number in the trie."""
    counts: NDArray[np.uint32]
    first_child: NDArray[np.uint32]
    """Those with one more word that begin with n-gram i are the n-grams ``first_child[i]`` to
    ``first_child[i + 1] - 1`` of the next level. Empty for the last level."""
    suffixes: NDArray[np.uint32]
    """The n-gram without its first word, in the level before."""
    continuations: NDArray[np.uint32]
    """Before how many different words each occurs, the beginning of a sentence included; 0 for n-grams that
    begin with ``<s>``. Empty for the last level."""

    def __len__(self) -> int:
        return len(self.words)


@dataclass(eq=False)
class NgramCounts:
    """The n-grams of a corpus, of 1 to `order` words; ``levels[0]`` is the empty one.

    Examples
    --------
    >>> from stategram.text import corpus_from_sentences
    >>> counts = count_ngrams(corpus_from_sentences(["a b", "a a b"]), 2)
    >>> ngrams, counted, continuations = counts.ngrams(2)
    >>> for ngram, n in sorted(zip(ngrams.tolist(), counted.tolist())):
    ...     print(*(counts.vocabulary.word(id) for id in ngram), n)
    <s> a 2
    a a 1
    a b 2
    b </s> 2

    """

    vocabulary: Vocabulary
    numbers: NDArray[np.uint32]
    levels: list[NgramLevel]
    workspace: Workspace
    report: dict[str, int]

    @property
    def order(self) -> int:
        """The maximum n-gram order; UsageError once a model has used the counts up."""
        if not self.levels:
            raise UsageError("the counts were used up by a model; count again")
        return len(self.levels) - 1

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of different n-grams of 1, 2, ..., `order` words."""
        return tuple(len(level) for level in self.levels[1:])

    @property
    def word_counts(self) -> NDArray[np.int64]:
        """How often each word of the vocabulary occurs, by its id."""
        counts = self.levels[1].counts[self.numbers].astype(np.int64)
        counts[BEGIN] = 0
        return counts

    @property
    def n_events(self) -> int:
        """The number of words and sentence ends of the text."""
        return self.report["events"]

    @property
    def n_sentences(self) -> int:
        """The number of sentences of the text."""
        return self.report["sentences"]

    @property
    def n_unknown(self) -> int:
        """The number of words of the text that are not in the vocabulary."""
        return self.report["unknown"]

    def ngrams(self, n_words: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
        """Return the n-grams of one length as rows of ids, their counts and their continuation counts."""
        if not 1 <= n_words <= self.order:
            raise UsageError(f"there are n-grams of 1 to {self.order} words, not of {n_words}")
        level = self.levels[n_words]
        ids = np.empty(len(self.numbers), np.uint32)
        ids[self.numbers] = np.arange(len(ids), dtype=np.uint32)
        rows = np.empty((len(level), n_words), np.uint32)
        node = np.arange(len(level))
        for length in range(n_words, 0, -1):
            rows[:, length - 1] = ids[self.levels[length].words[node]]
            node = np.searchsorted(self.levels[length - 1].first_child, node, "right") - 1
        seen = level.counts > 0  # the words that the text lacks have a node too
        continuations = level.continuations if len(level.continuations) else np.zeros_like(level.counts)
        return rows[seen], level.counts[seen], continuations[seen]


def count_ngrams(
    corpus: Corpus | ShardedText,
    order: int = 3,
    *,
    workspace: Workspace | None = None,
    range_size: int = RANGE_SIZE,
    progress: Progress | None = None,
) -> NgramCounts:
    """Count the n-grams of 1 to `order` words, ``<s>`` before each sentence and ``</s>`` after it.

    Parameters
    ----------
    corpus
        The text.
    order
        The maximum n-gram order, 1 to 9; where a text in shards has counts, at most theirs.
    workspace
        Where arrays are allocated, here and when a model is estimated from the counts.
    range_size
        The number of positions of the text that are counted at a time. Counts do not depend on it.
    progress
        Called with the fraction of the work that is done, and a message.

    """
    require_order(order)
    workspace = workspace or Workspace()
    vocabulary = corpus.vocabulary
    report = {"events": corpus.n_events, "sentences": corpus.n_sentences, "unknown": corpus.n_unknown}
    numbers = trie_numbers(len(vocabulary))
    counting = subprogress(progress, 0.0, 0.7)
    if isinstance(corpus, ShardedText):
        levels = levels_of_shards(corpus, order, numbers, workspace, counting)
    else:
        require_countable(corpus)
        positions = positions_by_number(corpus.word_counts, corpus.n_sentences, numbers)
        ranges = ranges_of(positions, fitting_range_size(order, len(numbers), range_size))
        text = corpus.ids, corpus.sentence_starts, numbers, int(numbers[BEGIN]), order
        threads = Resources.current().threads
        counted = ((one, _core.count_ngrams(*text, *one, threads)) for one in ranges)
        levels = _join_ranges(counted, order, positions, workspace, counting)
        del text, counted
    del corpus  # which frees its memory, if the caller has no more use for it
    try:
        _link(levels, workspace, subprogress(progress, 0.7, 1.0))
    except ValueError as error:  # of counts that are kept; those of a corpus are consistent
        raise BadDataError(f"the counts are damaged: {error}; count again with --force") from error
    return NgramCounts(vocabulary, numbers, levels, workspace, report)


def given_ngrams(
    vocabulary: Vocabulary, numbers: NDArray[np.uint32], counted: Sequence[CountedLevel]
) -> NgramCounts:
    """Return n-grams that were counted elsewhere; ValueError if one lacks its suffix.

    `counted` are for each length last words, counts and first children, as in `NgramLevel`; `numbers` has the
    trie's number of each id.
    """
    workspace = Workspace()
    levels = [_root(len(numbers)), *(NgramLevel(*arrays, _NONE, _NONE) for arrays in counted)]
    of_words = levels[1].counts[numbers]
    report = {
        "events": int(of_words.sum(dtype=np.int64)) - int(of_words[BEGIN]),
        "sentences": int(of_words[END]),
        "unknown": int(of_words[UNKNOWN]),
    }
    _link(levels, workspace, None)
    return NgramCounts(vocabulary, numbers, levels, workspace, report)


def levels_of_shards(
    text: ShardedText,
    order: int,
    numbers: NDArray[np.uint32],
    workspace: Workspace,
    progress: Progress | None = None,
) -> list[NgramLevel]:
    """Return the n-grams of a text in shards, not linked yet."""
    runs = text.runs
    if runs is not None and order > runs.order:
        raise UsageError(
            f"n-grams of up to {plural(runs.order, 'word')} were counted, not of {order}; count the text "
            f"with --order {order}, or give a lower order"
        )
    counted = 0.0 if runs is not None else 0.6
    runs = runs or count_runs(text, order, subprogress(progress, 0.0, counted))
    levels = levels_of_runs(runs, text.blobs, order)
    positions = positions_by_number(text.word_counts, text.n_sentences, numbers)
    found = _join_ranges(levels, order, positions, workspace, subprogress(progress, counted, 1.0))
    if not np.array_equal(found[1].counts, positions):
        raise BadDataError("the n-grams are not those of the word counts; count again with --force")
    return found


def _join_ranges(
    ranges: Iterable[tuple[Range, list[CountedLevel]]],
    order: int,
    positions: NDArray[np.int64],
    workspace: Workspace,
    progress: Progress | None,
) -> list[NgramLevel]:
    """Put the n-grams of rising ranges of first words one after the other; `positions` begin with each."""
    growing = GrowingLevels(workspace, order)
    in_use = memory_in_use()
    n_positions = int(positions.sum())
    n_done = n_ngrams = 0
    for (first, last), counted in ranges:
        n_done += int(positions[first:last].sum())
        n_ngrams += sum(len(words) for words, _, _ in counted)
        _plan(workspace, in_use, int(n_ngrams * n_positions / max(n_done, 1)))
        growing.append(counted)
        if progress:
            progress(n_done / n_positions, f"{n_done:,} of {n_positions:,} positions")
    del counted  # its memory is needed
    return [_root(len(positions)), *(NgramLevel(*level, _NONE, _NONE) for level in growing.finish())]


def _root(n_words: int) -> NgramLevel:
    """Return the level of the empty n-gram."""
    return NgramLevel(np.zeros(1, np.uint32), _NONE, np.array([0, n_words], np.uint32), _NONE, _NONE)


def _plan(workspace: Workspace, in_use: int, n_ngrams: int) -> None:
    """Continue in files if `n_ngrams`, extrapolated from those counted so far, do not fit beside `in_use`."""
    if workspace.memory is not None and not workspace.spilling:
        needed = n_ngrams * _BYTES_PER_NGRAM
        if in_use + needed > workspace.memory:
            workspace.spill(needed)


def _link(levels: list[NgramLevel], workspace: Workspace, progress: Progress | None) -> None:
    n_words = len(levels[1])
    levels[1].suffixes = np.zeros(n_words, np.uint32)
    for k in range(2, len(levels)):
        level, parent, lower = levels[k], levels[k - 1], levels[k - 2]
        level.suffixes = workspace.empty(len(level), np.uint32)
        parent.continuations = workspace.zeros(len(parent), np.uint32)
        for begin, end in workspace.chunks(len(parent)):
            _core.link_ngrams(
                level.words,
                parent.first_child,
                parent.suffixes,
                lower.first_child,
                parent.words,
                n_words,
                begin,
                end,
                level.suffixes,
                parent.continuations,
                Resources.current().threads,
            )
        if progress:
            progress((k - 1) / (len(levels) - 2), f"n-grams of {k} words linked")


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
    word_counts, before = (
        np.diff(np.concatenate(([0], np.cumsum(rows.counts, dtype=np.int64)))[rows.offsets])
        for rows in (successors, predecessors)
    )
    is_of_text = np.array_equal(word_counts, before) and word_counts.sum() > word_counts[END]
    if isinstance(corpus, ShardedText) and not is_of_text:
        raise BadDataError("the bigrams are not those of a text; count again with --force")
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
