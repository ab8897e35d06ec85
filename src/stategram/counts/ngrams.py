"""How often each n-gram occurs, and after how many different words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.counts.workspace import Workspace, format_size, memory_in_use
from stategram.errors import UsageError
from stategram.progress import Progress
from stategram.resources import Resources
from stategram.text import BEGIN, Corpus, Vocabulary

MOST_WORDS = 9
_MOST_EVENTS = 2**31 - 1

# Measured on texts of 8 and 40 million words, n-grams of 3 and 5 words; upper ends.
_BYTES_PER_PLACE = 40  # while the n-grams of a range of first words are counted,
_BYTES_PER_LIMB = 24  # and for each 64 bits of their words
_BYTES_PER_NGRAM = 48  # while a model is made of them, whatever the smoothing
_MOST_PLACES = 12_000_000  # more at a time gain nothing
_LEAST_PLACES = 500_000


@dataclass(eq=False)
class NgramLevel:
    """The n-grams of one length, ordered by their words.

    Parameters
    ----------
    words
        The last word of each, as its number in the trie.
    counts
        How often each occurs.
    first_child
        Those with one more word that begin with n-gram i are the n-grams ``first_child[i]`` to
        ``first_child[i + 1] - 1`` of the next level. Empty for the last level.
    suffixes
        The n-gram without its first word, in the level before.
    continuations
        Before how many different words each occurs, the beginning of a sentence included; 0 for n-grams that
        begin with ``<s>``. Empty for the last level.

    """

    words: NDArray[np.uint32]
    counts: NDArray[np.uint32]
    first_child: NDArray[np.uint32]
    suffixes: NDArray[np.uint32]
    continuations: NDArray[np.uint32]

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
        """Give the n-grams of one length as rows of ids, their counts and their continuation counts."""
        if not 1 <= n_words <= self.order:
            raise UsageError(f"there are n-grams of 1 to {self.order} words, not of {n_words}")
        level = self.levels[n_words]
        ids = np.empty(len(self.numbers), np.uint32)
        ids[self.numbers] = np.arange(len(ids), dtype=np.uint32)
        rows = np.empty((len(level), n_words), np.uint32)
        node = np.arange(len(level))
        for place in range(n_words, 0, -1):
            rows[:, place - 1] = ids[self.levels[place].words[node]]
            node = np.searchsorted(self.levels[place - 1].first_child, node, "right") - 1
        seen = level.counts > 0  # the words that the text lacks have a node too
        continuations = level.continuations if len(level.continuations) else np.zeros_like(level.counts)
        return rows[seen], level.counts[seen], continuations[seen]


def trie_numbers(n_words: int) -> NDArray[np.uint32]:
    """Shuffle the ids 0 .. n_words - 1, always in the same way: for each id its number in a trie."""
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
        Where arrays are made, here and when a model is made of the counts; in memory by default.
    progress
        Called with the share of the work that is done.

    """
    if not 1 <= order <= MOST_WORDS:
        raise UsageError(f"n-grams of {order} words: 1 to {MOST_WORDS} can be counted")
    if corpus.n_events > _MOST_EVENTS:
        raise UsageError(
            f"the text has {corpus.n_events:,} events; n-grams of at most {_MOST_EVENTS:,} can be counted: "
            "give a part of the text"
        )
    workspace = workspace or Workspace()
    vocabulary, report = corpus.vocabulary, _report(corpus)
    numbers = trie_numbers(len(vocabulary))
    levels = _count_levels(corpus, order, numbers, workspace, progress)
    del corpus  # which frees its memory, if the caller has no more use for it
    _link(levels, workspace, progress)
    return NgramCounts(vocabulary, numbers, levels, workspace, report)


def _report(corpus: Corpus) -> dict[str, int]:
    return {"events": corpus.n_events, "sentences": corpus.n_sentences, "unknown": corpus.n_unknown}


def _count_levels(
    corpus: Corpus,
    order: int,
    numbers: NDArray[np.uint32],
    workspace: Workspace,
    progress: Progress | None,
) -> list[NgramLevel]:
    places = np.zeros(len(numbers), np.int64)  # that begin with each word
    places[numbers] = corpus.word_counts
    places[numbers[BEGIN]] = corpus.n_sentences
    n_places = int(places.sum())
    limbs = -(-order * len(numbers).bit_length() // 64)
    in_use = memory_in_use()
    most = _places_at_a_time(workspace, in_use, _BYTES_PER_PLACE + _BYTES_PER_LIMB * limbs)
    growing = [tuple(workspace.growing(np.uint32) for _ in range(3)) for _ in range(order)]
    done = made = 0
    for first, last in ranges_of(places, most):
        found = _core.count_ngrams(
            corpus.ids,
            corpus.sentence_starts,
            numbers,
            int(numbers[BEGIN]),
            order,
            first,
            last,
            Resources.current().threads,
        )
        done += int(places[first:last].sum())
        made += sum(len(words) for words, _, _ in found)
        _plan(workspace, in_use, int(made * n_places / max(done, 1)))
        for (words, counts, first_child), arrays, following in zip(
            found, growing, [*growing[1:], None], strict=True
        ):
            if following is not None:
                np.add(first_child, np.uint32(following[0].size), out=first_child)
            for array, part in zip(arrays, (words, counts, first_child[:-1]), strict=True):
                array.append(part)
        if progress:
            progress(0.7 * done / n_places, f"{done:,} of {n_places:,} places")
    empty = np.empty(0, np.uint32)
    levels = [NgramLevel(np.zeros(1, np.uint32), empty, np.array([0, len(numbers)], np.uint32), empty, empty)]
    for arrays, following in zip(growing, [*growing[1:], None], strict=True):
        if following is not None:
            arrays[2].append(np.array([following[0].size], np.uint32))
        words, counts, first_child = (array.finish() for array in arrays)
        levels.append(NgramLevel(words, counts, first_child, empty, empty))
    return levels


def _places_at_a_time(workspace: Workspace, in_use: int, bytes_per_place: int) -> int:
    if workspace.memory is None:
        return _MOST_PLACES
    # The other half is for the n-grams that are counted already, as long as they are not in files.
    least = 2 * _LEAST_PLACES * bytes_per_place
    if in_use + least > workspace.memory:
        raise UsageError(
            f"{format_size(workspace.memory)} of memory are too little: {format_size(in_use)} are in use "
            f"already; give {format_size(in_use + least)} or more"
        )
    return min(_MOST_PLACES, (workspace.memory - in_use) // (2 * bytes_per_place))


def ranges_of(places: NDArray[np.int64], most: int) -> list[tuple[int, int]]:
    """Divide first symbols into ranges of at most so many places, or of one symbol."""
    before = np.concatenate(([0], np.cumsum(places)))
    ranges = []
    first = 0
    while first < len(places):
        last = max(first + 1, int(np.searchsorted(before, before[first] + most, "right")) - 1)
        ranges.append((first, last))
        first = last
    return ranges


def _plan(workspace: Workspace, in_use: int, n_ngrams: int) -> None:
    """Go on in files if so many n-grams, foreseen from those counted so far, will not fit beside `in_use`."""
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
            progress(0.7 + 0.3 * k / len(levels), f"n-grams of {k} words linked")
