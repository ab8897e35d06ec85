"""Representative states and categories of a clustered model as plain data, for reports and pages."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from stategram.explore.views.representative import effective_number, information
from stategram.explore.views.state_sets import state_set
from stategram.models import ClusteredModel
from stategram.text import Vocabulary

_CLUSTERS, _EXAMPLES = 12, 8
# Words that are rarer than this fraction of the most likely one are no examples.
_TOO_RARE = 0.01
# A cluster with more members that are alike is no better an example.
_ENOUGH_WORDS, _ENOUGH_CONTEXTS, _ENOUGH_NEXT = 8.0, 4.0, 4.0


class Data(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A record that is only ever replaced."""


class WordExample(Data, frozen=True):
    """A word, and its probability in its category or after a state."""

    word: str
    probability: float


class ContextExample(Data, frozen=True):
    """A context, such as ``of the``, and how often it was seen."""

    context: str
    count: int


class StateExample(Data, frozen=True):
    """A state: its numbers of contexts and events, its most frequent contexts, the words that follow."""

    number: int
    contexts: int
    events: int
    examples: tuple[ContextExample, ...]
    next_words: tuple[WordExample, ...]


class CategoryExample(Data, frozen=True):
    """A category: its numbers of words and events, and its most likely words."""

    number: int
    words: int
    events: int
    examples: tuple[WordExample, ...]


class ClusterGallery(Data, frozen=True):
    """Representative clusters of a model; ``key`` is its name."""

    key: str
    categories: tuple[CategoryExample, ...]
    states: tuple[StateExample, ...]


def gallery(model: ClusteredModel, key: str, *, clusters: int = _CLUSTERS) -> ClusterGallery:
    """Choose representative clusters: distinctive, and of several members that are about as frequent.

    `key` is the name under which they are shown, `clusters` how many states and categories at most.

    Examples
    --------
    >>> from stategram import ClusteredModel, cluster, corpus_from_sentences
    >>> corpus = corpus_from_sentences(["the cat sat", "the dog sat", "a cat ran", "a dog ran"] * 5)
    >>> model = ClusteredModel.train(cluster(corpus, "w-1", states=3, categories=3))
    >>> state = gallery(model, "w-1").states[0]
    >>> [one.context for one in state.examples], [one.word for one in state.next_words]
    (['a', 'the'], ['cat', 'dog'])

    """
    cells = model.counts[-1]
    bits = information(cells.rows, cells.columns, cells.counts)
    n_states, n_categories = cells.shape
    of_categories = np.bincount(cells.columns, bits, n_categories).astype(np.float64)
    of_states = np.bincount(cells.rows, bits, n_states).astype(np.float64)
    return ClusterGallery(
        key=key,
        categories=_categories(model, of_categories, clusters),
        states=_states(model, of_states, clusters),
    )


def _categories(model: ClusteredModel, bits: NDArray[np.float64], n: int) -> tuple[CategoryExample, ...]:
    events = model.counts[-1].of_categories
    words = effective_number(model.categories, model.word_probs, len(events))
    score = bits / np.maximum(events, 1) * np.minimum(words / _ENOUGH_WORDS, 1.0)
    return tuple(
        CategoryExample(
            number=number,
            words=int(np.count_nonzero(model.categories == number)),
            events=int(events[number]),
            examples=likely_words(
                model.vocabulary, np.where(model.categories == number, model.word_probs, 0.0)
            ),
        )
        for number in best_clusters(score, events, words, n)
    )


def _states(model: ClusteredModel, bits: NDArray[np.float64], n: int) -> tuple[StateExample, ...]:
    table, leaves = model.counts[-1], model.tree.levels[-1]
    events = table.of_states
    contexts = effective_number(leaves.states, leaves.counts, len(events))
    following = effective_number(table.rows, table.counts, len(events))
    several = np.minimum(contexts / _ENOUGH_CONTEXTS, 1.0) * np.minimum(following / _ENOUGH_NEXT, 1.0)
    score = bits / np.maximum(events, 1) * several
    states = state_set(model, "0", model.counts[-1].of_categories[model.categories] * model.word_probs)
    found = []
    for number in best_clusters(score, events, contexts, n):
        after = table.row(number) / max(int(events[number]), 1)
        found.append(
            StateExample(
                number=number,
                contexts=int(states.n_contexts[number]),
                events=int(events[number]),
                examples=tuple(
                    ContextExample(context=context, count=count)
                    for context, count in states.contexts(number, _EXAMPLES)
                ),
                next_words=likely_words(model.vocabulary, after[model.categories] * model.word_probs),
            )
        )
    return tuple(found)


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
        WordExample(word=vocabulary.word(int(id)), probability=float(probabilities[id]))
        for id in best
        if probabilities[id] > _TOO_RARE * probabilities[best[0]]
    )
