"""The sets of context states that a model has: contexts of each state, and what follows them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stategram.inspection.class_sets import hellinger, leaf_models
from stategram.models import ClusteredModel, Model, WordTreeModel
from stategram.models.state_tree import StateTree
from stategram.text import Corpus, Vocabulary

# A class is shown by its most frequent word, and by the next one if it is at least so frequent beside it.
_OFTEN_ENOUGH = 0.1


@dataclass(frozen=True, eq=False)
class ContextNode:
    """A node of a context tree: its place, its parent's place, the context in words, its state and count."""

    place: int
    parent: int | None
    context: str
    state: int
    count: int
    has_moved: bool
    """Whether its state is another than its parent's."""


@dataclass(frozen=True, eq=False)
class StateSet:
    """The states of contexts, and what follows them.

    Parameters
    ----------
    source
        Its name among those of a model.
    title
        What it is, in a few words.
    vocabulary
        The words.
    tree
        The states of all contexts.
    n
        The number of states.
    fractions
        How frequent each word is.
    categories, word_probs
        The category of each word, and its probability in it; each word is its own category if None.
    followers
        How often each category follows each state; None if it is not known.
    tag_names
        The names of tags.

    """

    source: str
    title: str
    vocabulary: Vocabulary
    tree: StateTree
    n: int
    fractions: NDArray[np.float64]
    categories: NDArray[np.uint32] | None = None
    word_probs: NDArray[np.float64] | None = None
    followers: NDArray[np.float64] | None = None
    tag_names: tuple[str, ...] = ()
    is_of_text: bool = False
    """Whether followers were counted in a text that is not the training text."""

    @cached_property
    def events(self) -> NDArray[np.int64]:
        """How many events of the training text each state has: those of its contexts."""
        if self.followers is not None and not self.is_of_text:
            events: NDArray[np.int64] = self.followers.sum(axis=1).astype(np.int64)
            return events
        leaves = self.tree.levels[-1]
        return np.bincount(leaves.states, leaves.counts, self.n).astype(np.int64)

    @cached_property
    def n_contexts(self) -> NDArray[np.int64]:
        """The number of contexts of each state on the deepest level."""
        return np.bincount(self.tree.levels[-1].states, minlength=self.n)

    @cached_property
    def after(self) -> NDArray[np.float64] | None:
        """p(g | s) by relative frequency."""
        if self.followers is None:
            return None
        sums = np.maximum(self.followers.sum(axis=1, keepdims=True), 1.0)
        after: NDArray[np.float64] = self.followers / sums
        return after

    def contexts(self, number: int, n: int) -> list[tuple[str, int]]:
        """Return the most frequent contexts of a state with their counts."""
        leaves = self.tree.levels[-1]
        nodes = self._nodes_of[number]
        often = nodes[np.argsort(-leaves.counts[nodes].astype(np.int64), kind="stable")[:n]]
        return [(self.context(self.tree.depth, int(node)), int(leaves.counts[node])) for node in often]

    @cached_property
    def _nodes_of(self) -> list[NDArray[np.int64]]:
        states = self.tree.levels[-1].states
        order = np.argsort(states, kind="stable")
        return np.split(order, np.cumsum(np.bincount(states, minlength=self.n))[:-1])

    def next_words(self, number: int, n: int) -> list[tuple[str, float]]:
        """Return the likeliest words after a state; none if it is not known what follows."""
        if self.after is None or self.categories is None or self.word_probs is None:
            return []
        probs = self.after[number][self.categories] * self.word_probs
        best = np.argpartition(-probs, min(n, len(probs) - 1))[:n]
        best = best[np.argsort(-probs[best], kind="stable")]
        return [(self.vocabulary.word(int(id)), float(probs[id])) for id in best if probs[id] > 0]

    def nearest(self, number: int, n: int) -> list[tuple[int, float]]:
        """Return the states after which most nearly the same follows, with their Hellinger distances."""
        if self.after is None:
            return []
        distances = hellinger(self.after, self.after[number])
        used = self.events > 0
        order = [one for one in np.argsort(distances, kind="stable").tolist() if one != number and used[one]]
        return [(one, float(distances[one])) for one in order[:n]]

    def of_events(self, text: Corpus) -> NDArray[np.uint32]:
        """Return the state of the context of each event of a text, in the vocabulary of the model."""
        return self.tree.find(text)[-1][0]

    def levels_after(self, text: Corpus) -> list[int]:
        """Return the state on each level before the last event of a text."""
        return [int(states[-1]) for states, _ in self.tree.find(text)]

    def subtree(self, id: int, per_node: int, per_level: int) -> list[list[ContextNode]]:
        """Return the contexts that end in a word, level by level: the most frequent of each node."""
        first = self.tree.levels[0]
        value = int(self.tree.maps[0][id])
        place = int(np.searchsorted(first.values, value))
        if place == len(first.values) or int(first.values[place]) != value:
            return []
        found = [[self._node(1, place, None, 0)]]
        for number in range(2, self.tree.depth + 1):
            above, level = self.tree.levels[number - 2], self.tree.levels[number - 1]
            here: list[ContextNode] = []
            for index, parent in enumerate(found[-1]):
                begin, end = above.first_child[parent.place : parent.place + 2].tolist()
                order = np.argsort(-level.counts[begin:end].astype(np.int64), kind="stable")[:per_node]
                here += [self._node(number, begin + place, index, parent.state) for place in order.tolist()]
            if not here:
                break
            # Those of a level that are shown are its most frequent, in the order of their parents.
            often_enough = sorted((one.count for one in here), reverse=True)[:per_level][-1]
            found.append([one for one in here if one.count >= often_enough][:per_level])
        return found

    def _node(self, level: int, place: int, parent: int | None, parent_state: int) -> ContextNode:
        nodes = self.tree.levels[level - 1]
        state = int(nodes.states[place])
        return ContextNode(
            place,
            parent,
            self.context(level, place),
            state,
            int(nodes.counts[place]),
            parent is not None and state != int(nodes.inherited[parent_state]),
        )

    def context(self, level: int, place: int) -> str:
        """Return a context in reading order; an ellipsis stands for positions that are no part of it."""
        at: dict[int, list[str]] = {}
        for number in range(level - 1, -1, -1):
            value = self.tree.definition.values[number]
            shown = self._value(number, int(self.tree.levels[number].values[place]), value.kind)
            at.setdefault(value.distance, []).append(shown)
            if number:
                place = int(self.tree.levels[number - 1].parents[place])
        return " ".join("/".join(at.get(distance, ["…"])) for distance in range(max(at), 0, -1))

    def _value(self, number: int, value: int, kind: str) -> str:
        if kind == "w":
            return self.vocabulary.word(value)
        if kind == "t" and self.tag_names:
            return self.tag_names[value]
        names = self._class_names.setdefault(number, {})
        if value not in names:
            words = np.flatnonzero(self.tree.maps[number] == value)
            names[value] = shown_class(self.vocabulary, words, self.fractions[words])
        return names[value]

    @cached_property
    def _class_names(self) -> dict[int, dict[int, str]]:
        return {}


def shown_class(vocabulary: Vocabulary, words: NDArray[np.int64], frequency: NDArray[np.float64]) -> str:
    """Return a class as its one or two most frequent words in braces; the word itself if it has but one."""
    first, *others = np.argsort(-frequency, kind="stable")[:2].tolist()
    often = [first, *(one for one in others if frequency[one] >= _OFTEN_ENOUGH * frequency[first])]
    shown = "|".join(vocabulary.word(int(words[one])) for one in often)
    if len(words) == 1:
        return shown
    return f"{{{shown}{'|…' if len(words) > len(often) else ''}}}"


def state_sources(model: Model) -> list[tuple[str, str, StateTree, int]]:
    """Return the source, the title, the tree and the number of states of each set of states of a model."""
    found = []
    for place, leaf in leaf_models(model):
        if isinstance(leaf, ClusteredModel):
            found.append((place, f"states of the {leaf.title}", leaf.tree, leaf.n_states))
        elif isinstance(leaf, WordTreeModel):
            for number, tree in enumerate(leaf.evidence.sources.states, 1):
                title = f"states s{number} of the {leaf.title}"
                found.append((f"{place}:s{number}", title, tree, tree.n_states))
    return found


def state_set(
    model: Model, source: str, fractions: NDArray[np.float64], text: Corpus | None = None
) -> StateSet:
    """Return a set of states of a model; KeyError if it has none of this name.

    What follows the states of a word tree model is not kept in it: it is counted in a text, in the vocabulary
    of the model, with each word as a category of its own.
    """
    title, tree, n = {name: (title, tree, n) for name, title, tree, n in state_sources(model)}[source]
    leaf = dict(leaf_models(model))[source.partition(":")[0]]
    if isinstance(leaf, ClusteredModel):
        counts = leaf.counts[-1]
        followers = np.zeros(counts.shape)
        followers[counts.rows, counts.columns] = counts.counts
        return StateSet(
            source,
            title,
            leaf.vocabulary,
            tree,
            n,
            fractions,
            leaf.categories,
            leaf.word_probs,
            followers,
            leaf.tag_names,
        )
    assert isinstance(leaf, WordTreeModel)
    labels = leaf.evidence.sources.labels["g1"]  # which is always there
    found = StateSet(source, title, leaf.vocabulary, tree, n, fractions, labels)
    if text is None:
        return found
    n_classes = int(labels.max()) + 1
    cells = found.of_events(text).astype(np.int64) * n_classes + labels[text.ids]
    followers = np.bincount(cells, minlength=n * n_classes).reshape(n, n_classes).astype(np.float64)
    sums = np.bincount(labels, fractions, n_classes)[labels]
    probs = np.divide(fractions, sums, out=np.zeros_like(fractions), where=sums > 0)
    return StateSet(
        source, title, leaf.vocabulary, tree, n, fractions, labels, probs, followers, is_of_text=True
    )
