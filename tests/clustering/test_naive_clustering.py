"""Small clusterings, from beginning to end, are those of the paper's figures in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from naive import clustering
from naive.exchange import Pairs, closed_bigrams, tied_criterion, two_sided_criterion
from stategram import Corpus, corpus_from_sentences
from stategram.clustering import Clustering, WordClasses, cluster

# Words enough for two batches of the kernel.
TYPES = 75


def sentences(seed: int, n: int, types: int = TYPES) -> list[list[str]]:
    """Sentences of a random bigram model: counts differ, so that few gains are equal."""
    rng = np.random.default_rng(seed)
    after = rng.dirichlet(np.full(types, 0.05), types) * 0.7 + 0.3 / np.arange(1, types + 1)
    after /= after.sum(axis=1, keepdims=True)
    found, word = [], 0
    for _ in range(n):
        words = []
        for _ in range(int(rng.integers(2, 12))):
            word = int(rng.choice(types, p=after[word]))
            words.append(f"w{word}")
        found.append(words)
    return found


def text(seed: int, n: int, types: int = TYPES) -> Corpus:
    return corpus_from_sentences(sentences(seed, n, types))


def twin(found: Clustering) -> tuple[list[list[int]], list[list[int]], list[int]]:
    """The twin of a clustering, by its settings."""
    tree, options = found.tree, found.settings
    contexts = len(tree.levels[-1])
    nodes = [list(range(contexts))]
    for level in range(tree.depth, 1, -1):
        parents = tree.parents(level).tolist()
        nodes.insert(0, [parents[node] for node in nodes[0]])
    rows = np.repeat(np.arange(contexts), np.diff(tree.events.offsets)).tolist()
    events = zip(rows, tree.events.columns.tolist(), tree.events.counts.tolist(), strict=True)
    pairs = {(context, word): n for context, word, n in events}
    return clustering.cluster_tree(
        pairs,
        nodes if options.tree else nodes[-1:],
        len(tree.vocabulary),
        (options.states, options.categories),
        (options.min_count, options.min_word_count),
        options.max_sweeps,
        options.tolerance,
        options.free_states,
        batch=64,
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("context", "options"),
    [
        ("w-1", {"effort": "paper"}),
        ("w-2,w-1", {"effort": "paper"}),
        ("w-2,w-1", {"effort": "paper", "tolerance": 0.5}),
        ("w-2,w-1", {"tolerance": 0.0, "min_count": 3, "max_sweeps": 2}),
        ("w-2,w-1", {"free_states": 0.9, "min_count": 5, "max_sweeps": 1}),
        ("w-2,w-1", {"min_count": 1, "max_sweeps": 2}),
        ("w-3,w-2,w-1", {"min_count": 4, "max_sweeps": 1}),
        ("w-3,w-2,w-1", {"min_count": 4, "max_sweeps": 1, "free_states": 0}),
    ],
)
def test_contexts_along_a_tree(context: str, options: dict[str, Any], seed: int) -> None:
    corpus = text(seed, 70, 24)
    found = cluster(corpus, context, states=6, categories=5, **options)
    states, inherited, categories = twin(found)
    assert found.categories.tolist() == categories
    assert [level.tolist() for level in found.states] == states
    assert [level.tolist() for level in found.inherited] == inherited
    # More nodes than states move, on the first level and on a deeper one.
    assert all(level.movable > 6 for level in found.levels[:2])


@pytest.mark.parametrize("seed", range(4))
def test_single_contexts_start_as_a_tree_does(seed: int) -> None:
    found = cluster(text(seed, 70, 24), "w-2,w-1", states=6, categories=5, effort="paper", tree=False)
    (states,), _, categories = twin(found)
    assert found.states[-1].tolist() == states
    assert found.categories.tolist() == categories


def initial(counts: Counter[int], n: int, boundary: int, types: int) -> tuple[list[int], list[int]]:
    """The most frequent words have a class each, the others wait; the boundary is context only."""
    order = [word for word in sorted(counts, key=lambda word: (-counts[word], word)) if word != boundary]
    labels = [n + 1] * types
    for rank, word in enumerate(order[:n]):
        labels[word] = rank
    labels[boundary] = n
    return labels, order


def same_partition(words: WordClasses, corpus: Corpus, labels: Sequence[int]) -> bool:
    pairs = {(label, labels[corpus.vocabulary.id(word)]) for word, label in words.as_dict().items()}
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


@pytest.mark.parametrize(("seed", "batch"), [(0, 64), (1, 64), (2, 4)])
@pytest.mark.parametrize("criterion", ["tied", "predictive", "two-sided"])
def test_word_classes(criterion: str, seed: int, batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The effort "fast": elements are placed, then there are two sweeps."""
    monkeypatch.setattr("stategram.clustering.exchange._MIN_BATCH", batch)
    corpus, n = text(seed, 90), 5
    words = WordClasses(n, criterion=criterion, effort="fast").fit(corpus)
    types, boundary = len(corpus.vocabulary), 2
    pairs: Pairs = closed_bigrams([*corpus.ids.tolist()])
    counts = Counter(corpus.ids.tolist())
    categories, order = initial(counts, n, boundary, types)
    states: list[int] = list(range(types))
    contexts: list[int] = []
    if criterion == "two-sided":
        contexts = sorted(counts, key=lambda word: (-counts[word], word))
        states = clustering.frequent_first(contexts, types, n, n)

    def f(s: list[int], g: list[int]) -> float:
        if criterion == "tied":
            return tied_criterion(pairs, range(types), g)
        return two_sided_criterion(pairs, s, g)

    for _ in range(3):
        clustering.sweep(lambda g: f(states, g), categories, order, n, batch, 0.125)
        clustering.sweep(lambda s: f(s, categories), states, contexts, n, batch, 0.125)
    assert words.criterion_ == pytest.approx(f(states, categories), rel=1e-12)
    assert same_partition(words, corpus, categories)
    if criterion == "two-sided":
        of_words = dict(zip(words.contexts_, words.states_.tolist(), strict=True))
        pairs_of_states = {
            (of_words["<s>" if word == boundary else corpus.vocabulary.word(word)], states[word])
            for word in counts
        }
        assert len(pairs_of_states) == len(set(of_words.values()))
