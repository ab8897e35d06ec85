"""How many clusters suit a text.

By its size: 0.35 times the square root of its events suits most texts. Or by trial: every tenth sentence is
set aside and the others are clustered, for numbers around that one; the smallest number with which they
predict the sentences set aside nearly best is taken. The criterion itself, that of leaving-one-out too,
cannot decide: clusters are fitted to the very counts it is made of.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
from numpy.typing import NDArray

from stategram.clustering.context_clustering import Clustering, cluster_tree
from stategram.clustering.settings import ClusteringSettings
from stategram.contexts import ContextDefinition, ValueMap, build_tree
from stategram.counts import cluster_counts
from stategram.display import plural
from stategram.errors import UsageError
from stategram.progress import Progress, subprogress
from stategram.text import Corpus

AUTO = "auto"
SIZE = r"(?:([0-9]*\.?[0-9]+) )?size"
_MIN, _MAX = 25, 4000
_NUMBERS = (5, 10, 25, 50, 100, 200, 350, 500, 750, 1000, 1500, 2000, 3000, 4000)
_DISCOUNT = 0.9
# A perplexity that is higher by this fraction only is as good: more clusters take longer and need more
# memory.
_NEARLY = 0.005
# The fraction of a search that is left after each trial, as nobody knows how many there will be.
_LEFT_AFTER_A_TRIAL = 0.6


def number_for(n_events: int) -> float:
    """Return the number of clusters that suits most texts of so many events.

    >>> round(number_for(2_000_000)), round(number_for(40_000_000))
    (495, 2214)
    """
    # On texts of two million and of 40 million words, about so many predicted held-out text best.
    return 0.35 * math.sqrt(n_events)


def is_size(text: str) -> bool:
    """Whether a text means a number by the size of the text: ``size``, ``0.5 size``."""
    return re.fullmatch(SIZE, text) is not None


def by_size(text: str, events: int) -> int:
    """Return a number of clusters for a text of so many events: a multiple of the number that suits it.

    >>> by_size("size", 2_000_000), by_size("size", 40_000_000), by_size("0.3 size", 2_000_000)
    (500, 2200, 150)
    """
    found = re.fullmatch(SIZE, text)
    assert found is not None
    number = float(found[1] or 1) * number_for(events)
    if number >= 100:  # a round number is as good
        step = 25 if number < 1000 else 100
        number = round(number / step) * step
    return min(max(round(number), _MIN), _MAX)


@dataclass(frozen=True)
class ClusterNumbers:
    """Numbers of clusters, and for each number that was tried the perplexity of the sentences set aside."""

    states: int
    categories: int
    trials: tuple[tuple[int, float], ...] = ()


def choose_numbers(
    corpus: Corpus,
    definition: ContextDefinition,
    states: int | str,
    categories: int | str,
    *,
    values: Mapping[str, ValueMap],
    settings: ClusteringSettings,
    progress: Progress | None = None,
) -> ClusterNumbers:
    """Return the numbers of states and of categories, choosing those that are ``"auto"``: one for both."""
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
    tree = build_tree(kept, definition, values)
    nodes, levels = tree.find(aside)

    trial = count()

    def both(number: int) -> ClusterNumbers:
        return ClusterNumbers(
            number if states == AUTO else int(states), number if categories == AUTO else int(categories)
        )

    def perplexity(number: int) -> float:
        numbers = both(number)
        tried = settings.replace(states=numbers.states, categories=numbers.categories, max_sweeps=2, anneal=0)
        left = _LEFT_AFTER_A_TRIAL ** next(trial)
        step = subprogress(progress, 1 - left, 1 - left * _LEFT_AFTER_A_TRIAL)
        return _perplexity(cluster_tree(tree, tried, progress=step), aside, nodes, levels)

    tried = try_numbers(number_for(corpus.n_events), perplexity)
    return replace(both(smallest_nearly_best(tried)), trials=tuple(sorted(tried.items())))


def try_numbers(start: float, perplexity: Callable[[int], float]) -> dict[int, float]:
    """Try numbers from `start` up as long as the perplexity falls, else down as long as it hardly rises."""
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
    """Return the smallest number that is nearly as good as the best.

    >>> smallest_nearly_best({25: 103.0, 50: 100.4, 100: 100.0, 200: 101.0})
    50
    """
    best = min(tried.values())
    return min(number for number, found in tried.items() if found <= best * (1 + _NEARLY))


def _divide(corpus: Corpus) -> tuple[Corpus, Corpus]:
    """Return the sentences that are kept, and every tenth, which is set aside."""
    lengths = np.diff(corpus.sentence_starts)
    chosen = np.arange(corpus.n_sentences) % 10 == 9
    parts = []
    for these in (~chosen, chosen):
        starts = np.concatenate(([0], np.cumsum(lengths[these])))
        ids = corpus.ids[np.repeat(these, lengths)]
        # A document whose first sentence is not among them starts with the next that is.
        n_before = np.concatenate(([0], np.cumsum(these)))
        documents = np.unique(n_before[corpus.document_starts])
        parts.append(
            replace(corpus, ids=ids, sentence_starts=starts.astype(np.int64), document_starts=documents)
        )
    return parts[0], parts[1]


def _perplexity(
    found: Clustering, aside: Corpus, nodes: NDArray[np.uint32], levels: NDArray[np.uint8]
) -> float:
    """Return the perplexity of the sentences set aside, with absolute discounting."""
    # Words that occur only in sentences set aside have a category beyond the others.
    n_states, n_categories = found.n_states, int(found.categories.max()) + 1
    words = found.tree.word_counts
    table = cluster_counts(found.tree.events, found.states[-1], found.categories, (n_states, n_categories))
    of_categories = table.sum(axis=0) + 0.5
    of_states = np.maximum(table.sum(axis=1), 1.0)
    state = np.zeros(aside.n_events, np.uint32)
    for number, (states, inherited) in enumerate(zip(found.states, found.inherited, strict=True), 1):
        state = inherited[state]
        here = levels == number
        state[here] = states[nodes[here]]
    category = found.categories[aside.ids]
    left = _DISCOUNT * np.count_nonzero(table, axis=1) / of_states
    probs = np.maximum(table[state, category] - _DISCOUNT, 0.0) / of_states[state]
    probs += left[state] * of_categories[category] / of_categories.sum()
    different = np.bincount(found.categories, minlength=n_categories)
    probs *= (words[aside.ids] + 0.5) / (table.sum(axis=0) + 0.5 * different)[category]
    return float(np.exp(-np.log(np.maximum(probs, 1e-30)).mean()))
