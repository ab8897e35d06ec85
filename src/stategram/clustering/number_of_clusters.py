"""How many clusters suit a text: as many as predict best what they were not made of.

Every tenth sentence is set aside. The others are clustered by the nearest value of the context alone, which
takes a moment, for rising numbers of clusters; the number with which they predict the sentences set aside
best is taken. The criterion itself, leaving-one-out too, cannot tell: clusters are fitted to the very counts
it is made of.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stategram.clustering.monitor import Monitor
from stategram.clustering.tree_clustering import Clustering, ClusteringSettings, TreeClustering
from stategram.contexts import ContextDefinition, TagMap, build_tree
from stategram.errors import UsageError
from stategram.text import Corpus

__all__ = ["AUTO", "choose_numbers"]

AUTO = "auto"
_EVERY = 10
_NUMBERS = (25, 50, 100, 200, 350, 500, 750, 1000, 1500, 2000, 3000, 4000)
_DISCOUNT = 0.9
_SETTINGS = ClusteringSettings(max_sweeps=2)


def choose_numbers(
    corpus: Corpus,
    definition: ContextDefinition,
    states: int | str,
    categories: int | str,
    *,
    tags: TagMap | None,
    classes: NDArray[np.uint32] | None,
    threads: int,
) -> tuple[int, int]:
    """Give the numbers of states and of categories, choosing those that are ``"auto"``."""
    for name, number in (("states", states), ("categories", categories)):
        if number != AUTO and not (isinstance(number, int) and number >= 1):
            raise UsageError(f"{name} is {number!r}; it must be at least 1, or 'auto'")
    if AUTO not in (states, categories):
        return int(states), int(categories)
    kept, aside = _divide(corpus)
    if aside.n_events == 0 or kept.n_events == 0:
        raise UsageError(
            f"a text of {corpus.n_sentences} sentences is too short to choose numbers of clusters; give them"
        )
    tree = build_tree(
        kept, ContextDefinition(definition.values[:1]), tags=tags, classes=classes, threads=threads
    )
    nodes, _ = tree.find(aside, threads=threads)
    best = (np.inf, 1)
    for number in _NUMBERS:
        settings = ClusteringSettings(
            states=number if states == AUTO else int(states),
            categories=number if categories == AUTO else int(categories),
            max_sweeps=_SETTINGS.max_sweeps,
        )
        found = TreeClustering(tree, settings, threads, Monitor()).run()
        perplexity = _perplexity(found, aside, nodes)
        if perplexity > best[0]:
            break
        best = (perplexity, number)
    return (
        best[1] if states == AUTO else int(states),
        best[1] if categories == AUTO else int(categories),
    )


def _divide(corpus: Corpus) -> tuple[Corpus, Corpus]:
    lengths = np.diff(corpus.sentence_starts)
    chosen = np.arange(corpus.n_sentences) % _EVERY == _EVERY - 1
    parts = []
    for these in (~chosen, chosen):
        starts = np.concatenate(([0], np.cumsum(lengths[these])))
        ids = corpus.ids[np.repeat(these, lengths)]
        parts.append(Corpus(ids, starts.astype(np.int64), corpus.vocabulary))
    return parts[0], parts[1]


def _perplexity(found: Clustering, aside: Corpus, nodes: NDArray[np.uint32]) -> float:
    """Give that of the sentences set aside, with absolute discounting."""
    events = found.tree.levels[0].events
    n_words = len(found.tree.vocabulary)
    n_states, n_categories = int(found.states[0].max()) + 1, int(found.categories.max()) + 1
    words = np.bincount(events.columns, events.counts, n_words)
    cells = np.repeat(found.states[0].astype(np.int64), np.diff(events.offsets)) * n_categories
    table = np.bincount(cells + found.categories[events.columns], events.counts, n_states * n_categories)
    table = table.reshape(n_states, n_categories)
    of_categories = table.sum(axis=0) + 0.5
    of_states = np.maximum(table.sum(axis=1), 1.0)
    category, state = found.categories[aside.ids], found.states[0][nodes]
    left = _DISCOUNT * np.count_nonzero(table, axis=1) / of_states
    probs = np.maximum(table[state, category] - _DISCOUNT, 0.0) / of_states[state]
    probs += left[state] * of_categories[category] / of_categories.sum()
    probs *= (words[aside.ids] + 0.5) / (of_categories[category] + 0.5 * n_words)
    return float(np.exp(-np.log(np.maximum(probs, 1e-30)).mean()))
