"""The sets of context states that a model has: contexts of each state, and what follows them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from stategram.explore.content.class_sets import Data, WordExample, hellinger
from stategram.models import Model, ModelStates
from stategram.models.state_counts import StateCounts
from stategram.text import Corpus, Vocabulary

# A class is shown by its most frequent word, and by the next one if it is at least so frequent beside it.
_OFTEN_ENOUGH = 0.1


class ContextExample(Data, frozen=True):
    """A context, such as ``of the``, and how often it was seen."""

    context: str
    count: int


class StateExample(Data, frozen=True, kw_only=True):
    """A state: its numbers of contexts and events, its most frequent contexts, the words that follow."""

    number: int
    contexts: int
    events: int
    examples: tuple[ContextExample, ...]
    next_words: tuple[WordExample, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class StateSet(ModelStates):
    """The states of contexts, and what follows them: those of the last level, if no other one is given.

    Parameters
    ----------
    vocabulary
        The words.
    fractions
        How frequent each word is.
    word_probs
        The probability of each word in its category.
    is_of_text
        Whether what follows states was counted in a text that is not the training text.

    """

    vocabulary: Vocabulary
    fractions: NDArray[np.float64]
    word_probs: NDArray[np.float64]
    is_of_text: bool = False

    @cached_property
    def events(self) -> NDArray[np.int64]:
        """How many events of the training text each state has: those of its contexts."""
        if self.counts and not self.is_of_text:
            return self.counts[-1].of_states
        leaves = self.tree.levels[-1]
        return np.bincount(leaves.states, leaves.counts, self.n).astype(np.int64)

    @cached_property
    def n_contexts(self) -> NDArray[np.int64]:
        """The number of contexts of each state on the deepest level."""
        return np.bincount(self.tree.levels[-1].states, minlength=self.n)

    @cached_property
    def after(self) -> NDArray[np.float64] | None:
        """p(g | s) by relative frequency."""
        if not self.counts:
            return None
        cells, rows = self.counts[-1], self.counts[-1].rows
        after = np.zeros(cells.shape)
        after[rows, cells.columns] = cells.counts / cells.of_states[rows]
        return after

    def contexts(self, number: int, n: int) -> list[ContextExample]:
        """Return the most frequent contexts of a state."""
        leaves = self.tree.levels[-1]
        nodes = self._nodes_of[number]
        often = nodes[np.argsort(-leaves.counts[nodes].astype(np.int64), kind="stable")[:n]]
        return [
            ContextExample(self.context(self.tree.depth, int(node)), int(leaves.counts[node]))
            for node in often
        ]

    @cached_property
    def _nodes_of(self) -> list[NDArray[np.int64]]:
        states = self.tree.levels[-1].states
        order = np.argsort(states, kind="stable")
        return np.split(order, np.cumsum(np.bincount(states, minlength=self.n))[:-1])

    def word_probs_after(self, number: int, level: int = 0) -> NDArray[np.float64]:
        """Return the probability of each word after a state of a level (0: the last)."""
        cells = self.counts[level - 1]
        probs: NDArray[np.float64] = cells.row(number) / max(cells.of_states[number], 1)
        return probs[self.categories] * self.word_probs

    def next_words(self, number: int, n: int, level: int = 0) -> list[WordExample]:
        """Return the likeliest words after a state of a level (0: the last); none if it is not known."""
        if not self.counts:
            return []
        probs = self.word_probs_after(number, level)
        best = np.argpartition(-probs, min(n, len(probs) - 1))[:n]
        best = best[np.argsort(-probs[best], kind="stable")]
        return [WordExample(self.vocabulary.word(int(id)), float(probs[id])) for id in best if probs[id] > 0]

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

    def subtree(self, id: int, per_node: int, per_level: int) -> list[list[tuple[int, int | None]]]:
        """Return the most frequent contexts that end in a word, level by level: their nodes and parents.

        A node is its place in the tree, its parent a place in the list of the level above.
        """
        first = self.tree.levels[0]
        value = int(self.tree.maps[0][id])
        place = int(np.searchsorted(first.values, value))
        if place == len(first.values) or int(first.values[place]) != value:
            return []
        levels: list[list[tuple[int, int | None]]] = [[(place, None)]]
        for above, level in pairwise(self.tree.levels):
            here: list[tuple[int, int | None]] = []
            for index, (parent, _) in enumerate(levels[-1]):
                begin, end = above.first_child[parent : parent + 2].tolist()
                order = np.argsort(-level.counts[begin:end].astype(np.int64), kind="stable")[:per_node]
                here += [(begin + one, index) for one in order.tolist()]
            if not here:
                break
            # Those of a level that are shown are its most frequent, in the order of their parents.
            often_enough = sorted((int(level.counts[one]) for one, _ in here), reverse=True)[:per_level][-1]
            levels.append([one for one in here if int(level.counts[one[0]]) >= often_enough][:per_level])
        return levels

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


def state_sources(model: Model) -> dict[str, tuple[Model, ModelStates]]:
    """Return the sets of states of a model by their source, each with the part that has it."""
    return {
        f"{place}:{one.name}" if one.name else place: (leaf, one)
        for place, leaf in model.leaves.items()
        for one in leaf.state_sets
    }


def state_set(
    model: Model, source: str, fractions: NDArray[np.float64], text: Corpus | None = None
) -> StateSet:
    """Return a set of states of a model; KeyError if it has none of this name.

    Where the model does not keep what follows states, it is counted in a text, in its vocabulary.
    """
    leaf, states = state_sources(model)[source]
    counts, word_probs = states.counts, states.word_probs
    n_categories = int(states.categories.max()) + 1
    if not counts and text is not None:
        counts = tuple(
            StateCounts.from_table(
                np.bincount(
                    of_level.astype(np.int64) * n_categories + states.categories[text.ids],
                    minlength=states.n * n_categories,
                ).reshape(states.n, n_categories)
            )
            for of_level, _ in states.tree.find(text)
        )
    if word_probs is None:
        sums = np.bincount(states.categories, fractions, n_categories)[states.categories]
        word_probs = np.divide(fractions, sums, out=np.zeros_like(fractions), where=sums > 0)
    known = {**vars(states), "word_probs": word_probs, "counts": counts}
    return StateSet(**known, vocabulary=leaf.vocabulary, fractions=fractions, is_of_text=not states.counts)
