"""How many clusters suit a text: as many as predict best what they were not made of.

Every tenth sentence is set aside and the others are clustered, for numbers around that which is usual for so
much text; the smallest of those with which they predict the sentences set aside nearly best is taken. The
criterion itself, that of leaving-one-out too, cannot tell: clusters are fitted to the very counts it is made
of.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.clustering.monitor import Monitor, Progress
from stategram.clustering.text_size import by_size, is_size, usual_number
from stategram.clustering.tree_clustering import Clustering, ClusteringSettings, TreeClustering
from stategram.contexts import ContextDefinition, TagMap, build_tree
from stategram.counts import cluster_counts
from stategram.errors import UsageError
from stategram.text import Corpus
from stategram.wording import plural

AUTO = "auto"
_EVERY = 10
_NUMBERS = (5, 10, 25, 50, 100, 200, 350, 500, 750, 1000, 1500, 2000, 3000, 4000)
_DISCOUNT = 0.9
_SWEEPS = 2
# A perplexity that is higher by this share only is as good: more clusters take longer and need more memory.
_NEARLY = 0.005


@dataclass(frozen=True)
class ClusterNumbers:
    """Numbers of clusters, and of each number that was tried the perplexity of the sentences set aside."""

    states: int
    categories: int
    trials: tuple[tuple[int, float], ...] = ()


def choose_numbers(
    corpus: Corpus,
    definition: ContextDefinition,
    states: int | str,
    categories: int | str,
    *,
    tags: TagMap | None,
    classes: NDArray[np.integer[Any]] | None,
    settings: ClusteringSettings,
    progress: Callable[[Progress], object] | None = None,
    stop: Callable[[], bool] | None = None,
) -> ClusterNumbers:
    """Give the numbers of states and of categories, choosing those that are ``"auto"``: one for both."""
    words = int(np.count_nonzero(corpus.word_counts))
    if isinstance(states, str) and is_size(states):
        states = by_size(states, corpus.n_events)
    if isinstance(categories, str) and is_size(categories):
        categories = min(by_size(categories, corpus.n_events), max(words // 2, 1))
    for name, number in (("states", states), ("categories", categories)):
        if number != AUTO and not (isinstance(number, int) and number >= 1):
            raise UsageError(f"{name} is {number!r}; it must be at least 1, 'size' or 'auto'")
    if AUTO not in (states, categories):
        return ClusterNumbers(int(states), int(categories))
    kept, aside = _divide(corpus)
    if aside.n_events == 0 or kept.n_events == 0:
        raise UsageError(
            f"a text of {plural(corpus.n_sentences, 'sentence')} is too short to choose numbers of clusters; "
            "give them"
        )
    tree = build_tree(kept, definition, tags=tags, classes=classes)
    nodes, levels = tree.find(aside)

    def both(number: int) -> tuple[int, int]:
        return (number if states == AUTO else int(states)), (
            number if categories == AUTO else int(categories)
        )

    def perplexity(number: int) -> float:
        n_states, n_categories = both(number)
        tried = replace(settings, states=n_states, categories=n_categories, max_sweeps=_SWEEPS, anneal=0)
        found = TreeClustering(tree, tried, Monitor(progress, stop)).run()
        return _perplexity(found, aside, nodes, levels)

    tried = try_numbers(usual_number(corpus.n_events), perplexity)
    return ClusterNumbers(*both(smallest_nearly_best(tried)), tuple(sorted(tried.items())))


def try_numbers(start: float, perplexity: Callable[[int], float]) -> dict[int, float]:
    """Go from a number up as long as the perplexity falls, else down as long as it hardly rises."""
    at = int(np.abs(np.log(np.array(_NUMBERS) / start)).argmin())
    tried = {_NUMBERS[at]: perplexity(_NUMBERS[at])}
    for step, numbers in ((1, _NUMBERS[at + 1 :]), (-1, _NUMBERS[:at][::-1])):
        for number in numbers:
            best = min(tried.values())
            tried[number] = perplexity(number)
            if tried[number] >= (best if step > 0 else best * (1 + _NEARLY)):
                break
        if min(tried.values()) < tried[_NUMBERS[at]]:
            break
    return tried


def smallest_nearly_best(tried: dict[int, float]) -> int:
    """Give the smallest number that is nearly as good as the best.

    >>> smallest_nearly_best({25: 103.0, 50: 100.4, 100: 100.0, 200: 101.0})
    50
    """
    best = min(tried.values())
    return min(number for number, found in tried.items() if found <= best * (1 + _NEARLY))


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
