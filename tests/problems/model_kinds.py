"""A small model of every kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from hypothesis import strategies as st

from context_problems import classes_of, tags_of
from stategram import (
    CacheModel,
    CategoryNgramModel,
    ClusteredModel,
    Corpus,
    Mixture,
    Model,
    NgramModel,
    Vocabulary,
    cluster,
)
from stategram.models import Gate
from stategram.text import BEGIN, END
from texts import long_text, make_corpus
from word_tree_models import CHAINS as WORD_TREE_CHAINS
from word_tree_models import train_word_tree

KINDS = ("ngram", "unigram", "category", "clustered", "wide", "mixture", "nested", "aligned", "word-tree")
# These know more of the words so far than the sentence.
CACHES = ("cache", "cached")
DOCUMENT = "document"
ALL_KINDS = KINDS + CACHES


@cache
def corpora() -> tuple[Corpus, Corpus]:
    whole = make_corpus(*long_text(3000, 25))
    cut = whole.n_sentences // 2
    return whole.sentences(0, cut), whole.sentences(cut, whole.n_sentences)


@cache
def model_of(kind: str) -> Model:
    train, heldout = corpora()
    makers: dict[str, Callable[[], Model]] = {
        "ngram": lambda: NgramModel.train(train, 3, prune=1e-4),
        "unigram": lambda: NgramModel.train(train, 1),
        "category": lambda: CategoryNgramModel.train(train, np.arange(len(train.vocabulary)) % 5, 4),
        "clustered": lambda: _clustered(train, "w-2,w-1"),
        "wide": lambda: _clustered(train, "t-3,g-4,w-1"),
        "mixture": lambda: Mixture.fit(map(model_of, KINDS[:1] + KINDS[2:5]), heldout, buckets="all"),
        "nested": lambda: Mixture.fit(map(model_of, ("mixture", "unigram")), heldout, buckets="length"),
        "aligned": lambda: _aligned(heldout),
        "cache": lambda: CacheModel.train(train),
        "word-tree": lambda: train_word_tree(train, heldout, chains=WORD_TREE_CHAINS[:4], rare=0),
        # All words are rare: each sentence is remembered.
        DOCUMENT: lambda: train_word_tree(train, heldout, rare=2).with_history("document"),
        "cached": lambda: Mixture.fit(map(model_of, ("ngram", "cache")), heldout, buckets="length"),
    }
    return makers[kind]()


def _clustered(train: Corpus, context: str) -> ClusteredModel:
    tags, classes = tags_of(train), classes_of(train)
    return ClusteredModel.train(cluster(train, context, states=8, categories=6, tags=tags, classes=classes))


def _aligned(heldout: Corpus) -> Mixture:
    """A mixture with a part that lacks words, and has others."""
    other = NgramModel.train(["w3 w4 w5", "w9 stranger w4", "w5 w3"], 2)
    parts = model_of("ngram"), model_of("category")
    gate = Mixture.fit(parts, heldout, buckets="all").gate
    return Mixture((*parts, other), _widened(gate))


def _widened(gate: Gate) -> Gate:
    """Give a third part a share of every bucket."""
    tables = [np.column_stack((table, np.full(len(table), 0.25))) for table in gate.tables]
    return Gate(gate.kind, gate.buckets, tuple(table / table.sum(axis=1, keepdims=True) for table in tables))


def texts_of(vocabulary: Vocabulary) -> st.SearchStrategy[list[list[int]]]:
    words = st.sampled_from([id for id in range(len(vocabulary)) if id not in (BEGIN, END)])
    return st.lists(st.lists(words, min_size=1, max_size=9), min_size=1, max_size=6)


def corpus_of(ids: Sequence[int], starts: Sequence[int], vocabulary: Vocabulary) -> Corpus:
    """A piece of a text, which may begin and end within a sentence."""
    return Corpus(np.array(ids, np.uint32), np.array(starts, np.int64), vocabulary)
