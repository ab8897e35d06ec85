"""Which state a history has on each level of a context tree, and how much each level counts.

Only the nodes that could move are kept: the others, and contexts that were never seen, inherit the state of
their parent, or the one that took its place on the next level. The more often a context occurs, the greater
is the weight of its state against the level above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.clustering import Clustering
from stategram.contexts import ContextDefinition
from stategram.models.model import scoring_threads
from stategram.text import BEGIN, Corpus

# Count buckets of nodes: 0 for one that is not known, else 1 + log2 of its number of events.
N_COUNT_BUCKETS = 16

# By count bucket. On held-out texts of 2 million and of 40 million words these weights came out nearly alike.
_DEFAULT = (0.3, 0.3, 0.3, 0.35, 0.45, 0.57, 0.67, 0.74, 0.79, 0.83, 0.86, 0.88, 0.9, 0.92, 0.94, 0.95)
# On the first level there is only the frequency of categories to fall back on.
_FIRST_LEVEL = (0.3, 0.4, 0.5, 0.68, 0.76, 0.82, 0.87, 0.91, 0.93, 0.95, 0.96, 0.97, 0.98, 0.99, 0.995, 1.0)
# A weight learned on held-out text counts so many events for the one above.
_PRIOR = 50.0
_EM_STEPS = 30

ContextStates: TypeAlias = tuple[NDArray[np.uint32], NDArray[np.uint8]]
"""The state and the count bucket of each event's context on one level."""


@dataclass(frozen=True, eq=False)
class StateLevel:
    """The nodes of one level: `values`, `first_child`, `counts` as in `ContextLevel`, the state of each.

    `inherited` has the state of contexts without a node here, by their state on the level above; above the
    first level there is one state, 0.
    """

    values: NDArray[np.uint32]
    first_child: NDArray[np.uint32]
    states: NDArray[np.uint32]
    counts: NDArray[np.uint32]
    inherited: NDArray[np.uint32]

    @cached_property
    def count_buckets(self) -> NDArray[np.uint8]:
        """The count bucket of each node."""
        return np.minimum(np.frexp(self.counts)[1], N_COUNT_BUCKETS - 1).astype(np.uint8)

    @cached_property
    def parents(self) -> NDArray[np.uint32]:
        """The parent of each node of the next level."""
        return np.repeat(np.arange(len(self.values), dtype=np.uint32), np.diff(self.first_child))


@dataclass(frozen=True, eq=False)
class StateTree:
    """The states of all contexts; `maps` and `definition` as in `ContextTree`."""

    definition: ContextDefinition
    maps: tuple[NDArray[np.uint32], ...]
    levels: tuple[StateLevel, ...]

    def __repr__(self) -> str:
        nodes = " + ".join(f"{len(level.values):,}" for level in self.levels)
        return f"StateTree({self.definition}, {nodes} contexts)"

    @property
    def depth(self) -> int:
        """The number of levels."""
        return len(self.levels)

    @property
    def n_states(self) -> int:
        """The number of states, empty ones below the last included."""
        labels = (array for level in self.levels for array in (level.states, level.inherited))
        return 1 + max(int(array.max(initial=0)) for array in labels)

    @property
    def rest(self) -> int:
        """The state of contexts unknown on every level."""
        state = 0
        for level in self.levels:
            state = int(level.inherited[state])
        return state

    def is_sound(self, n_words: int, n_states: int) -> bool:
        """Whether every history of words below `n_words` leads to a state below `n_states`."""
        above = 1  # states of the level above
        for number, level in enumerate(self.levels, 1):
            n, values = len(level.values), self.maps[number - 1]
            arrays = (values, *(getattr(level, one.name) for one in fields(level)))
            if not (
                all(array.dtype == np.uint32 and array.ndim == 1 for array in arrays)
                and len(level.inherited) >= above
                and level.values.shape == level.states.shape == level.counts.shape == (n,)
                and (above := 1 + max(int(level.states.max(initial=0)), int(level.inherited.max())))
                <= n_states
                and bool((level.counts > 0).all())
                and level.first_child.shape == ((n + 1 if number < self.depth else 0),)
                and values.shape == (n_words,)
                and (self.definition.values[number - 1].kind != "w" or int(values.max()) < n_words)
                and bool(np.isin(level.values, values).all())
            ):
                return False
            if number > 1 and not _are_children(self.levels[number - 2].first_child, level.values):
                return False
            if number == 1 and not _are_children(np.array([0, n], np.uint32), level.values):
                return False
        return True

    def for_kernel(self) -> _core.StateTree:
        """Return the tree as kernels that go from word to word take it."""
        return _core.StateTree(
            list(self.maps),
            [value.distance for value in self.definition.values],
            [level.values for level in self.levels],
            [level.first_child for level in self.levels[:-1]],
            [level.states for level in self.levels],
            [level.count_buckets for level in self.levels],
            [level.inherited for level in self.levels],
        )

    def find(self, corpus: Corpus) -> list[ContextStates]:
        """Return for each level the state and the count bucket of each event's context."""
        root = np.array([0, len(self.levels[0].values)], np.uint32)
        nodes, known = _core.find_contexts(
            corpus.ids,
            corpus.sentence_starts,
            BEGIN,
            list(self.maps),
            [value.distance for value in self.definition.values],
            [root, *(level.first_child for level in self.levels[:-1])],
            [level.values for level in self.levels],
            scoring_threads(corpus.n_events),
        )
        at: list[NDArray[np.uint32]] = [nodes] * self.depth
        for number in range(self.depth - 1, 0, -1):
            deeper = known > number
            above = at[number].copy()
            above[deeper] = self.levels[number - 1].parents[at[number][deeper]]
            at[number - 1] = above
        found: list[ContextStates] = []
        for number, level in enumerate(self.levels):
            here = known > number
            states = level.inherited[found[-1][0] if found else np.zeros(len(nodes), np.uint32)]
            buckets = np.zeros(len(nodes), np.uint8)
            states[here] = level.states[at[number][here]]
            buckets[here] = level.count_buckets[at[number][here]]
            found.append((states, buckets))
        return found


def _are_children(first_child: NDArray[np.uint32], values: NDArray[np.uint32]) -> bool:
    """Whether the values of the children of every node rise, and no other nodes are there."""
    starts = first_child.astype(np.int64)
    if starts[0] != 0 or starts[-1] != len(values) or (np.diff(starts) < 0).any():
        return False
    rises = np.diff(values.astype(np.int64)) > 0
    inner = starts[(starts > 0) & (starts < len(values))]
    rises[inner - 1] = True  # from the last child of one node to the first of another
    return bool(rises.all())


def state_tree(clustering: Clustering) -> StateTree:
    """Return what the states of a clustering need of its context tree."""
    tree, min_count = clustering.tree, clustering.settings.min_count
    levels: list[StateLevel] = []
    kept_above = np.ones(1, bool)
    for number, (level, states, inherited) in enumerate(
        zip(tree.levels, clustering.states, clustering.inherited, strict=True), 1
    ):
        keep = level.counts >= max(min_count, 1)
        if number > 1:
            keep &= kept_above[tree.parents(number)]
        if levels:
            before = np.concatenate((np.zeros(1, np.uint32), np.cumsum(keep, dtype=np.uint32)))
            first_child = before[tree.levels[number - 2].first_child][np.append(kept_above, True)]
            levels[-1] = replace(levels[-1], first_child=first_child)
        levels.append(
            StateLevel(
                level.values[keep], np.empty(0, np.uint32), states[keep], level.counts[keep], inherited
            )
        )
        kept_above = keep
    return StateTree(tree.definition, tree.maps, tuple(levels))


def default_level_weights(depth: int, *, strict: bool = False) -> NDArray[np.float64]:
    """Return the default weight of each level and count bucket of a tree; `strict`: of the last level only.

    A weight of 0 stays 0 when weights are learned.
    """
    weights = np.array([_FIRST_LEVEL] + [_DEFAULT] * (depth - 1))
    if strict:
        weights[:-1], weights[-1] = 0.0, _FIRST_LEVEL
    return weights


def learn_level_weights(
    default: NDArray[np.float64],
    frequencies: NDArray[np.float64],
    own: Sequence[NDArray[np.float64]],
    buckets: Sequence[NDArray[np.uint8]],
) -> NDArray[np.float64]:
    """Learn the weights of all levels and count buckets together by EM: no step makes the text less likely.

    `default` is where to begin, and counts for some events too; `frequencies` has for each event the
    frequency of its category; `own` and `buckets` have for each level and event the probability of its
    category by the state alone, and the count bucket of its context.
    """
    n_buckets = default.shape[1]
    learned = default.copy()
    learned[0, 0] = 0.0  # nothing is known on the first level: nothing to interpolate with
    for _ in range(_EM_STEPS):
        weights = [of_level[bucket] for of_level, bucket in zip(learned, buckets, strict=True)]
        probs = [frequencies]
        for mine, weight in zip(own, weights, strict=True):
            probs.append(weight * mine + (1 - weight) * probs[-1])
        # The fraction of each event that comes from this level or those above it.
        left = np.ones(len(frequencies))
        for number in range(len(own) - 1, -1, -1):
            taken = left * weights[number] * own[number] / probs[number + 1]
            sums = np.bincount(buckets[number], taken, n_buckets) + _PRIOR * default[number]
            learned[number] = sums / (np.bincount(buckets[number], left, n_buckets) + _PRIOR)
            left = left - taken
        learned[0, 0] = 0.0
    learned[0, 0] = default[0, 0]
    return np.clip(learned, 0.0, 1.0)  # rounding may go beyond
