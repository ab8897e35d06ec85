"""Small models to explore, with hostile words in their vocabulary."""

from __future__ import annotations

from functools import cache

from stategram import (
    CategoryNgramModel,
    ClusteredModel,
    Corpus,
    Mixture,
    Model,
    NgramModel,
    cluster,
    corpus_from_sentences,
)
from stategram.explore.app import ExploredModel, Explorer
from story import sentences

HOSTILE = (
    "the <script>alert(1)</script> saw </script><img/src=x/onerror=alert(1)> \u202egnorw and "
    "\u05e9\u05dc\u05d5\u05dd '\"`&lt;{{7*7}}"
)


@cache
def training_text() -> Corpus:
    return corpus_from_sentences([*sentences(300, seed=1), *[HOSTILE] * 20])


@cache
def mixture() -> Mixture:
    corpus = training_text()
    classes = {word: number % 9 for number, word in enumerate(corpus.vocabulary.words)}
    models: list[Model] = [
        NgramModel.train(corpus, 3),
        CategoryNgramModel.train(corpus, classes, 3),
        ClusteredModel.train(cluster(corpus, "w-2,w-1", states=8, categories=7)),
    ]
    return Mixture.fit(models, sentences(80, seed=2))


@cache
def bigram() -> NgramModel:
    return NgramModel.train(training_text(), 2)


@cache
def explorer() -> Explorer:
    """Two models and a text."""
    lines = [*sentences(10, seed=3), HOSTILE, "a zebra sees the old king"]
    text = corpus_from_sentences(lines)
    models = [ExploredModel("mixture", mixture(), text), ExploredModel("bigram", bigram(), text)]
    return Explorer(models, "test.txt", "\n".join(lines))
