"""Representative clusters of a model, as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.explore.content.class_sets import ClassSet, Data, WordExample
from stategram.explore.content.state_sets import StateExample, state_set
from stategram.models import Model, ModelStates
from stategram.text import Vocabulary

_CLUSTERS, _EXAMPLES = 12, 8
# Words that are rarer than this fraction of the most likely one are no examples.
_TOO_RARE = 0.01
# A cluster with more members that are alike, or a state with more likely words, is no better an example.
_ENOUGH_WORDS, _ENOUGH_CONTEXTS, _ENOUGH_NEXT = 8.0, 4.0, 4.0


class CategoryExample(Data, frozen=True, kw_only=True):
    """A category: its numbers of words and events, and its most likely words."""

    number: int
    words: int
    events: int
    examples: tuple[WordExample, ...]


class ClusterGallery(Data, frozen=True, kw_only=True):
    """Representative clusters of a model; ``key`` is its name."""

    key: str
    categories: tuple[CategoryExample, ...]
    states: tuple[StateExample, ...]


def gallery(model: Model, key: str, *, clusters: int = _CLUSTERS) -> ClusterGallery | None:
    """Choose representative clusters: distinctive, and of several members that are about as frequent.

    `key` is the name under which they are shown, `clusters` how many states and categories at most. None for
    models that do not keep what follows the states of contexts.

    Examples
    --------
    >>> from stategram import ClusteredModel, cluster, corpus_from_sentences
    >>> corpus = corpus_from_sentences(["the cat sat", "the dog sat", "a cat ran", "a dog ran"] * 5)
    >>> model = ClusteredModel.train(cluster(corpus, "w-1", states=3, categories=3))
    >>> found = gallery(model, "w-1")
    >>> state = found.states[0]
    >>> [one.context for one in state.examples], [one.word for one in state.next_words]
    (['a', 'the'], ['cat', 'dog'])

    """
    states = next((one for one in model.state_sets if one.counts), None)
    if states is None or states.word_probs is None:
        return None
    return ClusterGallery(
        key=key,
        categories=_categories(model.vocabulary, states, states.word_probs, clusters),
        states=_states(model, states, states.word_probs, clusters),
    )


def _categories(
    vocabulary: Vocabulary, states: ModelStates, word_probs: NDArray[np.float64], n: int
) -> tuple[CategoryExample, ...]:
    table = states.counts[-1]
    bits = information(table.rows, table.columns, table.counts)
    events = table.of_categories
    words = effective_number(states.categories, word_probs, len(events))
    informative = np.bincount(table.columns, bits, len(events)) / np.maximum(events, 1)
    score = informative * np.minimum(words / _ENOUGH_WORDS, 1.0)
    return tuple(
        CategoryExample(
            number=number,
            words=int(np.count_nonzero(states.categories == number)),
            events=int(events[number]),
            examples=likely_words(vocabulary, np.where(states.categories == number, word_probs, 0.0)),
        )
        for number in best_clusters(score, events, words, n)
    )


def _states(
    model: Model, states: ModelStates, word_probs: NDArray[np.float64], n: int
) -> tuple[StateExample, ...]:
    table = states.counts[-1]
    found = state_set(model, "0", table.of_categories[states.categories] * word_probs)
    return tuple(
        StateExample(
            number=number,
            contexts=int(found.n_contexts[number]),
            events=int(table.of_states[number]),
            examples=tuple(found.contexts(number, _EXAMPLES)),
            next_words=likely_words(model.vocabulary, found.word_probs_after(number)),
        )
        for number in representative_states(states, n)
    )


def representative_states(states: ModelStates, n: int) -> list[int]:
    """Return states that say much of what follows, with several contexts and words about as frequent."""
    if not states.counts:
        return []
    table, leaves = states.counts[-1], states.tree.levels[-1]
    bits = np.bincount(
        table.rows, information(table.rows, table.columns, table.counts), table.shape[0]
    ).astype(np.float64)
    events = table.of_states
    contexts = effective_number(leaves.states, leaves.counts, len(events))
    following = effective_number(table.rows, table.counts, len(events))
    several = np.minimum(contexts / _ENOUGH_CONTEXTS, 1.0) * np.minimum(following / _ENOUGH_NEXT, 1.0)
    return best_clusters(bits / np.maximum(events, 1) * several, events, contexts, n)


def representative_members(found: ClassSet, n: int) -> list[int]:
    """Return classes that say much of the next class, with several words about as frequent."""
    words = effective_number(found.labels, found.fractions, found.n)
    return best_clusters(found.bits * np.minimum(words / _ENOUGH_WORDS, 1.0), found.tokens, words, n)


def best_clusters(
    score: NDArray[np.float64], events: NDArray[Any], members: NDArray[np.float64], n: int
) -> list[int]:
    """Return the clusters with the best scores, without rare ones and those of a single member."""
    common = events >= events.sum() / (2 * len(events))
    # An entropy that should be that of one member may be off in its last digits.
    usable = np.flatnonzero(common & (members > 1.01))
    return [int(one) for one in usable[np.argsort(-score[usable], kind="stable")[:n]]]


def likely_words(vocabulary: Vocabulary, probabilities: NDArray[np.float64]) -> tuple[WordExample, ...]:
    """Return the most likely words, without those that are rare beside the first."""
    best = np.argsort(-probabilities, kind="stable")[:_EXAMPLES]
    return tuple(
        WordExample(vocabulary.word(int(id)), float(probabilities[id]))
        for id in best
        if probabilities[id] > _TOO_RARE * probabilities[best[0]]
    )


def information(rows: NDArray[Any], columns: NDArray[Any], counts: NDArray[Any]) -> NDArray[np.float64]:
    """Return what each cell of a table of counts adds to the mutual information of its two sides, in bits.

    >>> information(np.array([0, 1]), np.array([0, 1]), np.array([4, 4])).tolist()
    [4.0, 4.0]
    """
    of_rows, of_columns = np.bincount(rows, counts), np.bincount(columns, counts)
    expected = of_rows[rows] * of_columns[columns] / max(counts.sum(), 1.0)
    bits: NDArray[np.float64] = counts * np.log2(counts / expected)
    return bits


def effective_number(labels: NDArray[Any], weights: NDArray[Any], n_clusters: int) -> NDArray[np.float64]:
    """Return how many members of equal weight each cluster is worth: 2 to their entropy; 1 if it has none.

    >>> effective_number(np.array([0, 0, 1]), np.array([5, 5, 3]), 2).tolist()
    [2.0, 1.0]
    """
    own = weights > 0
    labels, weight = labels[own], weights[own].astype(np.float64)
    fraction = weight / np.bincount(labels, weight, n_clusters)[labels]
    return np.exp2(np.bincount(labels, -fraction * np.log2(fraction), n_clusters))
