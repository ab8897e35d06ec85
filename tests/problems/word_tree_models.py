"""Small word tree models of any text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from context_problems import classes_of
from planted import planted_text
from stategram import Corpus, cluster, corpus_from_sentences
from stategram.counts import count_bigrams
from stategram.models import Cache, Chain, ValueSources, WordTree, WordTreeModel, build_word_tree
from stategram.models.state_tree import state_tree
from stategram.models.word_tree.vector_states import VectorShape

CHAINS = (
    "w-1 w-2 w-3",
    "counts: g1-1 w-1 g1-2",
    "s1-1 s1-2",
    "counts: w-3",
    "counts: r-1 g2-1",
    "counts: r-2",
)
CACHES = ("0.98", "0.995", "w-1 0.99", "g1-1 0.98", "w-1 w-2 0.995")


def trees_of(corpus: Corpus, numbers_of_classes: Sequence[int]) -> list[WordTree]:
    words = corpus.vocabulary.words[3:]
    return [
        build_word_tree(
            {word: number % classes for number, word in enumerate(words)},
            count_bigrams(corpus),
            corpus.vocabulary,
        )
        for classes in numbers_of_classes
    ]


def sources_of(corpus: Corpus, *, rare: float, with_states: bool = True) -> ValueSources:
    """Two sets of classes; words that are a smaller fraction of the text than `rare` are rare."""
    classes = classes_of(corpus)
    labels = {"g1": classes, "g2": (np.arange(len(classes)) * 3 % 7).astype(np.uint32)}
    is_rare = corpus.word_counts < rare * corpus.n_events
    is_rare[1:3] = False
    states = []
    if with_states:
        found = cluster(corpus, "g-2,w-1", states=8, categories=6, classes=classes)
        states.append(state_tree(found))
    return ValueSources(labels, tuple(states), is_rare)


def train_word_tree(
    corpus: Corpus,
    heldout: Corpus | None = None,
    *,
    chains: Sequence[str] = CHAINS,
    caches: Sequence[str] = CACHES,
    vectors: Sequence[str] = (),
    classes: Sequence[int] = (5, 3),
    rare: float = 0.002,
    n_events: int = 3000,
    seed: int = 0,
) -> WordTreeModel:
    """Train a model with a tree for each number of classes."""
    return WordTreeModel.train(
        corpus,
        heldout,
        trees_of(corpus, classes),
        sources_of(corpus, rare=rare, with_states=any("s1" in chain for chain in chains)),
        list(map(Chain.parse, chains)),
        list(map(Cache.parse, caches)),
        list(map(VectorShape.parse, vectors)),
        n_events=n_events,
        seed=seed,
    )


@cache
def texts() -> tuple[Corpus, Corpus, Corpus]:
    """Training, held-out and test text; a document is twenty sentences."""
    lines = [line for i, one in enumerate(planted_text()[:800]) for line in ([one] if i % 20 else ["", one])]
    whole = corpus_from_sentences(lines)
    assert len(whole.document_starts) == 40
    return whole.sentences(0, 600), whole.sentences(600, 700), whole.sentences(700, 800)


@cache
def model() -> WordTreeModel:
    train, heldout, _ = texts()
    return train_word_tree(train, heldout)
