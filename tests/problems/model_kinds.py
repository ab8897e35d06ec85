"""A small model of every kind."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Collection
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from command_line import WITHOUT_UNKNOWN
from context_problems import classes_of, tags_of
from stategram.clustering import cluster
from stategram.display import Description
from stategram.formats import read_arpa, write_arpa
from stategram.models import (
    GATE_KINDS,
    Budget,
    CacheModel,
    CategoryNgramModel,
    ClusteredModel,
    Gate,
    Mixture,
    Model,
    NgramModel,
    Scores,
    State,
    approximate,
    compact_model,
    merge_ngrams,
    open_sentence,
    prune_model,
    state_after,
)
from stategram.models.distributions import Distributions
from stategram.models.model_files import ModelFiles
from stategram.storage import Archive
from stategram.text import BEGIN, Corpus, Vocabulary
from texts import long_text, make_corpus
from word_tree_models import CHAINS as WORD_TREE_CHAINS
from word_tree_models import train_word_tree

KINDS = ("ngram", "unigram", "category", "clustered", "wide", "mixture", "nested", "aligned", "word-tree")
# These know more of the words so far than the sentence.
CACHES = ("cache", "cached")
DOCUMENT = "document"
ALL_KINDS = KINDS + CACHES
# Word trees with vector states, in the history of their names.
VECTORS = ("linear sentence", "recurrent document", "vectors document", "vectors adaptive")
MIXTURES = tuple(f"mixture by {gate}" for gate in GATE_KINDS)
# What else must do what `checks.py` asks of every model.
CHANGED = (
    "arpa",
    "no <unk>",
    "compact",
    "pruned",
    "filtered",
    "merged",
    "approximated",
    "caches",
    "one word",
    "uniform",
)
# Their files hold what those of others do: damage need not be tried again.
SAME_FILES = (*MIXTURES, "adaptive", "caches", "arpa", "pruned", "filtered", "merged", "approximated")
CONTRACT = (*ALL_KINDS, DOCUMENT, "adaptive", *VECTORS, *MIXTURES, *CHANGED)


@cache
def corpora() -> tuple[Corpus, Corpus]:
    whole = make_corpus(*long_text(3000, 25))
    cut = whole.n_sentences // 2
    return whole.sentences(0, cut), whole.sentences(cut, whole.n_sentences)


@cache
def model_of(kind: str) -> Model:
    train, heldout = corpora()
    makers: dict[str, Callable[[], Model]] = {
        "ngram": _ngram,
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
        "adaptive": lambda: train_word_tree(train, heldout, rare=0.03).with_history("adaptive"),
        "arpa": lambda: read_arpa(_arpa()),
        "no <unk>": lambda: read_arpa(io.BytesIO(WITHOUT_UNKNOWN)),
        "compact": lambda: compact_model(model_of("mixture")),
        "pruned": lambda: prune_model(model_of("ngram"), Budget(max_ngrams=60)),
        "filtered": lambda: model_of("ngram").filter(Vocabulary.from_words(f"w{i}" for i in range(9, 40))),
        "merged": lambda: merge_ngrams([_ngram(), NgramModel.train(["w3 w4 a", "b w9"], 2)], [0.6, 0.4]),
        "approximated": lambda: approximate(model_of("mixture"), Budget(max_ngrams=400)),
        "caches": lambda: Mixture((model_of("cached"), model_of(DOCUMENT)), Gate.constant([0.7, 0.3])),
        "uniform": lambda: Uniform(Vocabulary.from_words(["a", "b"])),
        "one word": lambda: CategoryNgramModel.train(["a a", "a"], {"a": 0}, 2),
    }
    if kind in MIXTURES:
        parts = map(model_of, ("ngram", "category", "clustered", "wide"))
        return Mixture.fit(parts, heldout, buckets=kind.removeprefix("mixture by "))
    if kind in VECTORS:
        return _with_vectors(*kind.split())
    return makers[kind]()


def _with_vectors(states: str, history: str) -> Model:
    """Two trees with vector states of all kinds and caches, or one with a state of one kind."""
    train, heldout = corpora()
    # A recurrent state learns from no fewer than 1024 events.
    settings: dict[str, Any] = {"n_events": 200}
    if states == "vectors":
        settings |= {"rare": 0.03, "vectors": ["linear 32", "recurrent 32"]}
    else:
        settings |= {"chains": ["w-1 w-2"], "caches": [], "vectors": [f"{states} 32"], "classes": [5]}
    return train_word_tree(train, heldout, **settings).with_history(history)


def _ngram() -> NgramModel:
    return NgramModel.train(corpora()[0], 3, prune=1e-4)


def _arpa() -> io.BytesIO:
    file = io.BytesIO()
    write_arpa(_ngram(), file)
    file.seek(0)
    return file


class Uniform(Model):
    """All that a new kind of model has to have: the same probability for every word."""

    kind = "uniform"
    title = "uniform model"
    order = parameters = 1

    def start(self, *, sentence_start: bool = True) -> State:
        return State(None)

    def _score(self, corpus: Corpus, state: State, features: Collection[str]) -> Scores:
        return Scores(corpus, np.full(corpus.n_events, -math.log(len(self.vocabulary) - 1)), State(None))

    def _distributions(self, corpus: Corpus, state: State) -> Distributions:
        row = np.full(len(self.vocabulary), 1 / (len(self.vocabulary) - 1))
        row[BEGIN] = 0.0

        def add(events: NDArray[np.int64], weights: NDArray[np.float64], rows: NDArray[np.float64]) -> None:
            rows += weights[:, None] * row

        return Distributions(None, add)

    def describe(self) -> Description:
        return Description(())

    def check(self) -> None:
        pass

    def _to_files(self) -> ModelFiles:
        return ModelFiles()

    @classmethod
    def _from_files(cls, archive: Archive, vocabulary: Vocabulary, parts: Any, **common: Any) -> Uniform:
        return cls(vocabulary, **common)


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


def features_after(model: Model, history: str | list[str]) -> dict[str, float]:
    # Any word may stand for the next one: features do not depend on it.
    next_word, state = open_sentence(model, ["</s>"]), state_after(model, history)
    features = model.score(next_word, features=model.feature_names, state=state).features
    return {name: float(values[0]) for name, values in features.items()}
