"""Counts of n-grams, and of the different words before them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.counts.ranges import (
    RANGE_SIZE,
    CountedLevel,
    GrowingLevels,
    Range,
    ranges_of,
    require_countable,
)
from stategram.counts.workspace import Workspace, format_size, memory_in_use
from stategram.errors import UsageError
from stategram.progress import Progress, subprogress
from stategram.resources import Resources
from stategram.text import BEGIN, END, UNKNOWN, Corpus, Vocabulary

MAX_ORDER = 9

_NONE = np.empty(0, np.uint32)

# Measured on texts of 8 and 40 million words, n-grams of 3 and 5 words; upper ends.
_BYTES_PER_POSITION = 40  # while the n-grams of a range of first words are counted,
_BYTES_PER_LIMB = 24  # and for each 64 bits of their words
_BYTES_PER_NGRAM = 48  # while a model is estimated from them, whatever the smoothing
_MIN_RANGE_SIZE = 500_000


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
        """The number of words of the longest n-grams."""
        return len(self.levels) - 1

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of different n-grams of 1, 2, ..., `order` words."""
        return tuple(len(level) for level in self.levels[1:])

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


def trie_numbers(n_words: int) -> NDArray[np.uint32]:
    """Return the number in a trie of each id: the ids 0 to n_words - 1, always shuffled in the same way."""
    # The finalizer of SplitMix64 (Steele, Lea and Flood 2014): a bijection, so that no two ids tie.
    mixed = np.arange(1, n_words + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    numbers = np.empty(n_words, np.uint32)
    numbers[np.argsort(mixed)] = np.arange(n_words, dtype=np.uint32)
    return numbers


def count_ngrams(
    corpus: Corpus,
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
        The number of words of the longest n-grams, 1 to 9.
    workspace
        Where arrays are allocated, here and when a model is estimated from the counts.
    range_size
        The number of positions of the text that are counted at a time. Counts do not depend on it.
    progress
        Called with the fraction of the work that is done, and a message.

    """
    if not 1 <= order <= MAX_ORDER:
        raise UsageError(f"n-grams of {order} words: 1 to {MAX_ORDER} can be counted")
    require_countable(corpus)
    workspace = workspace or Workspace()
    vocabulary = corpus.vocabulary
    report = {"events": corpus.n_events, "sentences": corpus.n_sentences, "unknown": corpus.n_unknown}
    numbers = trie_numbers(len(vocabulary))
    levels = _count_levels(corpus, order, numbers, workspace, range_size, subprogress(progress, 0.0, 0.7))
    del corpus  # which frees its memory, if the caller has no more use for it
    _link(levels, workspace, subprogress(progress, 0.7, 1.0))
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


def _count_levels(
    corpus: Corpus,
    order: int,
    numbers: NDArray[np.uint32],
    workspace: Workspace,
    range_size: int,
    progress: Progress | None,
) -> list[NgramLevel]:
    positions = np.zeros(len(numbers), np.int64)  # that begin with each word
    positions[numbers] = corpus.word_counts
    positions[numbers[BEGIN]] = corpus.n_sentences
    n_positions = int(positions.sum())
    limbs = -(-order * len(numbers).bit_length() // 64)
    in_use = memory_in_use()
    fitting = _fitting_range_size(
        workspace, in_use, range_size, _BYTES_PER_POSITION + _BYTES_PER_LIMB * limbs
    )
    ranges = ranges_of(positions, fitting)
    growing = GrowingLevels(workspace, order)
    resources = Resources.current()
    count = partial(_count_range, corpus.ids, corpus.sentence_starts, numbers, order, resources.threads)
    n_done = n_ngrams = 0
    for (first, last), counted in zip(ranges, resources.map(count, ranges), strict=True):
        n_done += int(positions[first:last].sum())
        n_ngrams += sum(len(words) for words, _, _ in counted)
        _plan(workspace, in_use, int(n_ngrams * n_positions / max(n_done, 1)))
        growing.append(counted)
        if progress:
            progress(n_done / n_positions, f"{n_done:,} of {n_positions:,} positions")
    del counted  # its memory is needed
    return [_root(len(numbers)), *(NgramLevel(*level, _NONE, _NONE) for level in growing.finish())]


def _root(n_words: int) -> NgramLevel:
    """Return the level of the empty n-gram."""
    return NgramLevel(np.zeros(1, np.uint32), _NONE, np.array([0, n_words], np.uint32), _NONE, _NONE)


def _count_range(
    ids: NDArray[np.uint32],
    sentence_starts: NDArray[np.int64],
    numbers: NDArray[np.uint32],
    order: int,
    threads: int,
    first_words: Range,
) -> list[CountedLevel]:
    """Count the n-grams whose first word is in a range: last words, counts and first children by length."""
    return _core.count_ngrams(
        ids, sentence_starts, numbers, int(numbers[BEGIN]), order, *first_words, threads
    )


def _fitting_range_size(workspace: Workspace, in_use: int, range_size: int, bytes_per_position: int) -> int:
    if workspace.memory is None:
        return range_size
    # The other half is for the n-grams that are counted already, as long as they are not in files.
    needed = 2 * min(_MIN_RANGE_SIZE, range_size) * bytes_per_position
    if in_use + needed > workspace.memory:
        raise UsageError(
            f"{format_size(workspace.memory)} of memory are too little: {format_size(in_use)} are in use "
            f"already; give {format_size(in_use + needed)} or more"
        )
    return min(range_size, (workspace.memory - in_use) // (2 * bytes_per_position))


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
