"""The clustered model by its formulas, one event at a time.

    p(w | c)   = p_L(G(w) | c) p(w | G(w))
    p_l(g | c) = t p(g | S_l(c)) + (1 - t) p_{l-1}(g | c)       t: trust of level l in contexts of this size
    p_0(g)     = N(g) / N
    p(g | s)   = (N(s,g) - D(N(s,g))) / N(s) + q_l(g) sum_g' D(N(s,g')) / N(s)
    q_l(g)     = the number of states of level l after which g was seen, divided by the sum of these numbers

A node of the tree is known if it and all above it have `min_count` events or more. What is not known has the
size 0 and, by its state on the level above, the state that `inherited` has for it; above the first level all
have state 0. A known node of n events has
the size 1 + floor(log2 n), at most 15. The first level of what is not known is not trusted at all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from naive.category_ngram import word_probs
from naive.contexts import Context, Node, count_contexts

DISCOUNTS = (0.0, 0.7, 1.1, 1.5)
Sentences = Sequence[Sequence[int]]


@dataclass(frozen=True)
class NaiveClusteredModel:
    context: Context
    sizes: Sequence[Mapping[Node, int]]
    states: Sequence[Mapping[Node, int]]
    inherited: Sequence[Sequence[int]]
    categories: Sequence[int]
    frequencies: Mapping[int, float]
    tables: Sequence[Mapping[int, Counter[int]]]
    words: Sequence[float]
    trust: Sequence[Sequence[float]]

    def state_and_size(self, values: Node, level: int) -> tuple[int, int]:
        """On level `level`, 1 or more."""
        if all(values[:depth] in self.sizes[depth - 1] for depth in range(1, level + 1)):
            return self.states[level - 1][values[:level]], self.sizes[level - 1][values[:level]]
        above = self.state_and_size(values, level - 1)[0] if level > 1 else 0
        return self.inherited[level - 1][above], 0

    def category_prob(self, category: int, state: int, level: int) -> float:
        """p(g | s) by the counts of a level."""
        row = self.tables[level - 1].get(state, Counter())
        total = row.total()
        seen_after = Counter(g for of_state in self.tables[level - 1].values() for g in of_state)
        share = _shares(seen_after, self.categories)[category]
        if total == 0:
            return share
        taken = sum(DISCOUNTS[min(n, 3)] for n in row.values()) / total
        own = row[category] - DISCOUNTS[min(row[category], 3)]
        return own / total + taken * share

    def prob(self, sentence: Sequence[int], place: int, word: int) -> float:
        values = self.context.values(sentence, place)
        category = self.categories[word]
        p = self.frequencies[category]
        for level in range(1, len(self.tables) + 1):
            state, size = self.state_and_size(values, level)
            trust = 0.0 if level == 1 and size == 0 else self.trust[level - 1][size]
            p = trust * self.category_prob(category, state, level) + (1 - trust) * p
        return p * self.words[word]


def _shares(counts: Counter[int], categories: Sequence[int]) -> dict[int, float]:
    """Give the share of each category; one without a count that has words counts for a half."""
    weights: dict[int, float] = {g: counts[g] or 0.5 for g in set(categories)}
    return {g: weight / sum(weights.values()) for g, weight in weights.items()}


def train(
    sentences: Sentences,
    context: Context,
    states: Sequence[Mapping[Node, int]],
    inherited: Sequence[Sequence[int]],
    categories: Sequence[int],
    *,
    min_count: int,
    trust: Sequence[Sequence[float]],
) -> NaiveClusteredModel:
    """Make the model of the states of all nodes of each level and of a category for each word."""
    levels = count_contexts(sentences, context)
    tables: list[dict[int, Counter[int]]] = []
    for level, of_level in zip(levels, states, strict=True):
        table: dict[int, Counter[int]] = {}
        for node, words in level.items():
            for word, n in words.items():
                table.setdefault(of_level[node], Counter())[categories[word]] += n
        tables.append(table)
    events = Counter(categories[word] for sentence in sentences for word in sentence)
    probs = word_probs(sentences, categories)
    sums: Counter[int] = Counter()
    for word, p in enumerate(probs):
        sums[categories[word]] += p  # type: ignore[assignment]
    return NaiveClusteredModel(
        context,
        [
            {
                node: min(1 + int(math.log2(words.total())), 15)
                for node, words in level.items()
                if words.total() >= min_count
            }
            for level in levels
        ],
        states,
        inherited,
        categories,
        _shares(events, categories),
        tables,
        [p / sums[categories[word]] for word, p in enumerate(probs)],
        trust,
    )
