"""The contexts of a text as a tree: groups of contexts above, single contexts at its leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.contexts.definition import ContextDefinition
from stategram.contexts.tags import TagMap
from stategram.counts import CompressedCounts, ranges_of
from stategram.errors import UsageError
from stategram.resources import Resources
from stategram.text import BEGIN, Corpus, Vocabulary

# What one kernel call can count: its counters are 32 bits wide.
_MOST_EVENTS = 2**31 - 1
_MOST_AT_A_TIME = 12_000_000


@dataclass(frozen=True, eq=False)
class ContextLevel:
    """The nodes of one level, ordered by their values, v1 first.

    Parameters
    ----------
    values
        The value by which a node differs from its parent's other children.
    counts
        The events after the contexts of each node.
    first_child
        The children of node i are the nodes ``first_child[i]`` to ``first_child[i + 1] - 1`` of the next
        level; empty for the leaves.

    """

    values: NDArray[np.uint32]
    counts: NDArray[np.uint32]
    first_child: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, eq=False)
class ContextTree:
    """All contexts of a text.

    Parameters
    ----------
    definition
        What a context is.
    vocabulary
        The words of the text.
    maps
        For each level, the value of each word: the word itself, its tag or its category.
    levels
        Level 1 first; the last are the contexts themselves.
    events
        How often each word follows each of the contexts: a row for each leaf. See `events_of` for the others.
    word_counts
        The events of each word.
    tag_names
        The name of each tag; empty if contexts have none.

    Examples
    --------
    >>> from stategram.text import corpus_from_sentences
    >>> tree = build_tree(corpus_from_sentences(["a b a", "a b b"]), ContextDefinition.parse("w-2,w-1"))
    >>> [int(np.count_nonzero(level.counts)) for level in tree.levels]  # after <s>, a, b; after <s> <s>, ...
    [3, 5]

    """

    definition: ContextDefinition
    vocabulary: Vocabulary
    maps: tuple[NDArray[np.uint32], ...]
    levels: tuple[ContextLevel, ...]
    events: CompressedCounts
    word_counts: NDArray[np.int64]
    tag_names: tuple[str, ...] = ()

    @property
    def depth(self) -> int:
        """The number of levels."""
        return len(self.levels)

    @property
    def n_events(self) -> int:
        """The number of events."""
        return int(self.word_counts.sum())

    def parents(self, level: int) -> NDArray[np.uint32]:
        """Give the parent of each node of a level, 2 or more, in the level above."""
        children = np.diff(self.levels[level - 2].first_child)
        return np.repeat(np.arange(len(children), dtype=np.uint32), children)

    def on_leaves(self, labels: NDArray[np.uint32], level: int) -> NDArray[np.uint32]:
        """Give each leaf the label that the node above it has on a level."""
        for above in self.levels[level - 1 : -1]:
            labels = np.repeat(labels, np.diff(above.first_child))
        return labels

    def events_of(self, level: int) -> CompressedCounts:
        """Give how often each word follows the contexts of each node of a level.

        They are summed each time: those of all levels together would take more memory than the rest of the
        tree.
        """
        if level == self.depth:
            return self.events
        leaves = np.arange(len(self.levels[-1]), dtype=np.uint32)
        first = self.levels[level - 1].first_child
        for below in self.levels[level:-1]:
            first = below.first_child[first]
        return CompressedCounts(
            *_core.sum_rows(
                *self.events,
                leaves,
                first.astype(np.int64),
                len(self.vocabulary),
                Resources.current().threads,
            )
        )

    def find(self, corpus: Corpus) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """Give for each event the deepest known node of its context, and its level; 0 if there is none.

        The corpus must have the vocabulary of the tree.
        """
        first = np.array([0, len(self.levels[0])], np.uint32)
        return _core.find_contexts(
            corpus.ids,
            corpus.sentence_starts,
            BEGIN,
            list(self.maps),
            [value.distance for value in self.definition.values],
            [first, *(level.first_child for level in self.levels[:-1])],
            [level.values for level in self.levels],
            Resources.current().threads,
        )


def build_tree(
    corpus: Corpus,
    definition: ContextDefinition,
    *,
    tags: TagMap | None = None,
    classes: NDArray[np.integer[Any]] | None = None,
) -> ContextTree:
    """Build the tree of the contexts of a text.

    Parameters
    ----------
    corpus
        The text.
    definition
        What a context is.
    tags
        The tag of each word, if the definition has tags.
    classes
        The category of each word by its id, if the definition has categories.

    """
    if corpus.n_events == 0:
        raise UsageError("the text has no events; give a text with words")
    if corpus.n_events > _MOST_EVENTS:
        raise UsageError(
            f"the text has {corpus.n_events:,} events, more than {_MOST_EVENTS:,}; give a part of it"
        )
    maps = _maps(definition, len(corpus.vocabulary), tags, classes)
    *levels, leaves, words = _count(corpus, definition, maps)
    return ContextTree(
        definition,
        corpus.vocabulary,
        maps,
        (*(ContextLevel(*level) for level in levels), ContextLevel(*leaves[:2], np.empty(0, np.uint32))),
        CompressedCounts(leaves[2].astype(np.int64), *words[:2]),
        corpus.word_counts,
        tags.tags if tags is not None and definition.needs_tags else (),
    )


def _maps(
    definition: ContextDefinition, n_words: int, tags: TagMap | None, classes: NDArray[np.integer[Any]] | None
) -> tuple[NDArray[np.uint32], ...]:
    if definition.needs_tags and tags is None:
        raise UsageError(f"the context {definition} has tags; say where they come from (--tags)")
    if definition.needs_classes and classes is None:
        raise UsageError(f"the context {definition} has categories; give classes, or have them learned")
    kinds = {"w": np.arange(n_words, dtype=np.uint32)}
    if tags is not None:
        kinds["t"] = tags.labels
    if classes is not None:
        # Level 1 has a node for every value up to the largest: there must be no gaps.
        kinds["g"] = np.unique(classes, return_inverse=True)[1].reshape(-1).astype(np.uint32)
    maps = tuple(kinds[value.kind] for value in definition.values)
    if any(len(values) != n_words for values in maps):
        raise UsageError("the tags or classes are not those of the words of the text")
    return maps


_Counted = tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]


def _count(
    corpus: Corpus, definition: ContextDefinition, maps: tuple[NDArray[np.uint32], ...]
) -> list[_Counted]:
    """Count the contexts of ranges of first values, and put them together."""
    n_values = max(len(corpus.vocabulary), *(int(values.max()) + 1 for values in maps))
    distances = [value.distance for value in definition.values]
    # About so many events have each first value: the words at the end of sentences have none after them.
    places = np.bincount(maps[0], corpus.word_counts).astype(np.int64)
    places[maps[0][BEGIN]] += corpus.n_sentences * distances[0]
    parts = [
        _core.count_contexts(
            corpus.ids,
            corpus.sentence_starts,
            BEGIN,
            list(maps),
            distances,
            n_values,
            first,
            last,
            Resources.current().threads,
        )
        for first, last in ranges_of(places, _MOST_AT_A_TIME)
    ]
    levels = []
    for depth in range(len(maps) + 1):
        values = np.concatenate([part[depth][0] for part in parts])
        counts = np.concatenate([part[depth][1] for part in parts])
        first_child = np.empty(0, np.uint32)
        if depth < len(maps):
            sizes = np.cumsum([0] + [len(part[depth + 1][0]) for part in parts]).astype(np.uint32)
            first_child = np.concatenate(
                [part[depth][2][:-1] + size for part, size in zip(parts, sizes, strict=False)] + [sizes[-1:]]
            )
        levels.append((values, counts, first_child))
    return levels
