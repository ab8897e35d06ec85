"""How many clusters suit a text: as many as predict best what they were not made of.

Every tenth sentence is set aside and the others are clustered, for numbers around that which is usual for so
much text; the one with which they predict the sentences set aside best is taken. The criterion itself, that
of leaving-one-out too, cannot tell: clusters are fitted to the very counts it is made of.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.clustering.monitor import Monitor, Progress
from stategram.clustering.tree_clustering import Clustering, ClusteringSettings, TreeClustering
from stategram.contexts import ContextDefinition, TagMap, build_tree
from stategram.counts import cluster_counts
from stategram.errors import UsageError
from stategram.text import Corpus

__all__ = ["AUTO", "choose_numbers", "usual_number"]

AUTO = "auto"
_EVERY = 10
_NUMBERS = (5, 10, 25, 50, 100, 200, 350, 500, 750, 1000, 1500, 2000, 3000, 4000)
_DISCOUNT = 0.9
_SWEEPS = 2
# On texts of two million and of 40 million words, about so many clusters predicted held-out text best.
_OF_THE_ROOT = 0.35


def usual_number(n_events: int) -> float:
    """Give the number of clusters that suits most texts of so many events: 0.35 of the square root.

    >>> round(usual_number(2_000_000)), round(usual_number(40_000_000))
    (495, 2214)
    """
    return _OF_THE_ROOT * math.sqrt(n_events)


def choose_numbers(
    corpus: Corpus,
    definition: ContextDefinition,
    states: int | str,
    categories: int | str,
    *,
    tags: TagMap | None,
    classes: NDArray[np.integer[Any]] | None,
    settings: ClusteringSettings,
    threads: int,
    progress: Callable[[Progress], object] | None = None,
    stop: Callable[[], bool] | None = None,
) -> tuple[int, int]:
    """Give the numbers of states and of categories, choosing those that are ``"auto"``: one for both."""
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
    tree = build_tree(kept, definition, tags=tags, classes=classes, threads=threads)
    nodes, levels = tree.find(aside, threads=threads)

    def both(number: int) -> tuple[int, int]:
        return (number if states == AUTO else int(states)), (
            number if categories == AUTO else int(categories)
        )

    def perplexity(number: int) -> float:
        n_states, n_categories = both(number)
        tried = replace(settings, states=n_states, categories=n_categories, max_sweeps=_SWEEPS, anneal=0)
        found = TreeClustering(tree, tried, threads, Monitor(progress, stop)).run()
        return _perplexity(found, aside, nodes, levels)

    return both(_best_number(usual_number(corpus.n_events), perplexity))


def _best_number(start: float, perplexity: Callable[[int], float]) -> int:
    """Go from a number up or down as long as the perplexity falls."""
    at = int(np.abs(np.log(np.array(_NUMBERS) / start)).argmin())
    best = perplexity(_NUMBERS[at])
    for step in (1, -1):
        moved = False
        while 0 <= at + step < len(_NUMBERS) and (found := perplexity(_NUMBERS[at + step])) < best:
            at, best, moved = at + step, found, True
        if moved:
            break
    return _NUMBERS[at]


def _divide(corpus: Corpus) -> tuple[Corpus, Corpus]:
    lengths = np.diff(corpus.sentence_starts)
    chosen = np.arange(corpus.n_sentences) % _EVERY == _EVERY - 1
    parts = []
    for these in (~chosen, chosen):
        starts = np.concatenate(([0], np.cumsum(lengths[these])))
        ids = corpus.ids[np.repeat(these, lengths)]
        parts.append(Corpus(ids, starts.astype(np.int64), corpus.vocabulary))
    return parts[0], parts[1]


def _perplexity(
    found: Clustering, aside: Corpus, nodes: NDArray[np.uint32], levels: NDArray[np.uint8]
) -> float:
    """Give that of the sentences set aside, with absolute discounting."""
    # Words that occur only in sentences set aside have a category beyond the others.
    n_states, n_categories = found.n_states, int(found.categories.max()) + 1
    words = found.tree.word_counts
    table = cluster_counts(found.tree.events, found.states[-1], found.categories, (n_states, n_categories))
    of_categories = table.sum(axis=0) + 0.5
    of_states = np.maximum(table.sum(axis=1), 1.0)
    state = np.full(aside.n_events, n_states - 1, np.uint32)
    for number, states in enumerate(found.states, 1):
        here = levels == number
        state[here] = states[nodes[here]]
    category = found.categories[aside.ids]
    left = _DISCOUNT * np.count_nonzero(table, axis=1) / of_states
    probs = np.maximum(table[state, category] - _DISCOUNT, 0.0) / of_states[state]
    probs += left[state] * of_categories[category] / of_categories.sum()
    different = np.bincount(found.categories, minlength=n_categories)
    probs *= (words[aside.ids] + 0.5) / (table.sum(axis=0) + 0.5 * different)[category]
    return float(np.exp(-np.log(np.maximum(probs, 1e-30)).mean()))
