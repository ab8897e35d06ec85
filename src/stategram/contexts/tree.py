"""The contexts of a text as a tree: groups of contexts above, single contexts at its leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.contexts.definition import VALUE_KINDS, ContextDefinition
from stategram.contexts.tags import TagMap
from stategram.counts import (
    RANGE_SIZE,
    CompressedCounts,
    CountedLevel,
    GrowingLevels,
    Workspace,
    ranges_of,
    require_countable,
)
from stategram.errors import UsageError
from stategram.resources import Resources
from stategram.text import BEGIN, Corpus, Vocabulary


@dataclass(frozen=True, eq=False)
class ValueMap:
    """The number of the value of each word, by its id, for one kind of context values, such as tags."""

    labels: NDArray[np.integer[Any]]
    names: tuple[str, ...] = ()
    """The name of each value, by its number; empty if they have none."""


@dataclass(frozen=True, eq=False)
class ContextLevel:
    """The nodes of one level, ordered by their values, v1 first."""

    values: NDArray[np.uint32]
    """The value that distinguishes a node from its siblings."""
    counts: NDArray[np.uint32]
    """The events after the contexts of each node."""
    first_child: NDArray[np.uint32]
    """The children of node i are the nodes ``first_child[i]`` to ``first_child[i + 1] - 1`` of the next
    level; empty for the leaves."""

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
        How often each word follows each context: one row per leaf. See `sum_events` for the other levels.
    word_counts
        The events of each word.
    value_names
        For each kind of values but words, the names of the values; empty where they have none.

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
    value_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """The number of levels."""
        return len(self.levels)

    @property
    def n_events(self) -> int:
        """The number of events."""
        return int(self.word_counts.sum())

    @property
    def tag_names(self) -> tuple[str, ...]:
        """The name of each tag; empty if contexts have none."""
        return self.value_names.get("t", ())

    def parents(self, level: int) -> NDArray[np.uint32]:
        """Return the parent of each node of a level, 2 or more, in the level above."""
        children = np.diff(self.levels[level - 2].first_child)
        return np.repeat(np.arange(len(children), dtype=np.uint32), children)

    def on_leaves(self, labels: NDArray[np.uint32], level: int) -> NDArray[np.uint32]:
        """Return for each leaf the label of its ancestor on a level."""
        for above in self.levels[level - 1 : -1]:
            labels = np.repeat(labels, np.diff(above.first_child))
        return labels

    def sum_events(
        self, level: int, nodes: NDArray[np.uint32], group_offsets: NDArray[np.int64]
    ) -> CompressedCounts:
        """Return how often each word follows the contexts of groups of nodes of a level.

        Group i are the nodes at ``group_offsets[i]`` to ``group_offsets[i + 1] - 1`` of `nodes`. They are
        summed for each call: those of all levels would take more memory than the rest of the tree.
        """
        offsets, words, counts = self.events
        if level < self.depth:  # the leaves below a node follow each other, and so do their events
            first = self.levels[level - 1].first_child
            for below in self.levels[level:-1]:
                first = below.first_child[first]
            offsets = offsets[first]
        n_words, threads = len(self.vocabulary), Resources.current().threads
        return CompressedCounts(
            *_core.sum_rows(offsets, words, counts, nodes, group_offsets, n_words, threads)
        )

    def find(self, corpus: Corpus) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """Return for each event the deepest known node of its context, and its level; 0 if there is none.

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
    values: Mapping[str, ValueMap] | None = None,
    *,
    tags: TagMap | None = None,
    classes: NDArray[np.integer[Any]] | None = None,
    range_size: int = RANGE_SIZE,
) -> ContextTree:
    """Build the tree of the contexts of a text.

    Parameters
    ----------
    corpus
        The text.
    definition
        What a context is.
    values
        The values of words, for each kind of values in the definition but ``w``.
    tags, classes
        The same for tags ``t``, and for categories ``g``: the category of each word, by its id.
    range_size
        The number of events that are counted at a time. The tree does not depend on it.

    """
    if corpus.n_events == 0:
        raise UsageError("the text has no events; give a text with words")
    require_countable(corpus)
    given = {**(values or {}), **context_values(tags=tags, classes=classes)}
    maps = _maps(definition, len(corpus.vocabulary), given)
    *levels, leaves, words = _count(corpus, definition, maps, range_size)
    return ContextTree(
        definition,
        corpus.vocabulary,
        maps,
        (*(ContextLevel(*level) for level in levels), ContextLevel(*leaves[:2], np.empty(0, np.uint32))),
        CompressedCounts(leaves[2].astype(np.int64), *words[:2]),
        corpus.word_counts,
        {kind: given[kind].names for kind in definition.kinds if kind in given},
    )


def context_values(
    *, tags: TagMap | None = None, classes: NDArray[np.integer[Any]] | None = None
) -> dict[str, ValueMap]:
    """Return tags and classes, where there are any, as values of contexts."""
    values = {}
    if tags is not None:
        values["t"] = ValueMap(tags.labels, tags.tags)
    if classes is not None:
        values["g"] = ValueMap(classes)
    return values


def _maps(
    definition: ContextDefinition, n_words: int, values: Mapping[str, ValueMap]
) -> tuple[NDArray[np.uint32], ...]:
    maps = {"w": np.arange(n_words, dtype=np.uint32)}
    for kind in definition.kinds:
        if kind == "w":
            continue
        if kind not in values:
            what = VALUE_KINDS[kind]
            raise UsageError(f"the context {definition} has {what.plural}; {what.advice}")
        labels = values[kind].labels
        if len(labels) != n_words:
            raise UsageError(f"the {VALUE_KINDS[kind].plural} are not those of the words of the text")
        if not values[kind].names:  # without gaps: level 1 has a node for every value up to the largest
            labels = np.unique(labels, return_inverse=True)[1].reshape(-1)
        maps[kind] = labels.astype(np.uint32, copy=False)
    return tuple(maps[value.kind] for value in definition.values)


def _count(
    corpus: Corpus, definition: ContextDefinition, maps: tuple[NDArray[np.uint32], ...], range_size: int
) -> list[CountedLevel]:
    """Count the contexts of ranges of first values, and concatenate them."""
    n_values = max(len(corpus.vocabulary), *(int(values.max()) + 1 for values in maps))
    distances = [value.distance for value in definition.values]
    # Approximately the events of each first value: none follows the words at the end of sentences.
    positions = np.bincount(maps[0], corpus.word_counts).astype(np.int64)
    positions[maps[0][BEGIN]] += corpus.n_sentences * distances[0]
    workspace = Workspace()
    levels = GrowingLevels(workspace, len(maps) + 1)
    text = corpus.ids, corpus.sentence_starts, BEGIN, list(maps), distances, n_values
    threads = Resources.current().threads
    for first_values in ranges_of(positions, range_size):
        part = _core.count_contexts(*text, *first_values, threads)
        workspace.spill_when_scarce(sum(array.nbytes for level in part for array in level))
        levels.append(part)
    del part  # its memory is needed
    return levels.finish()
