"""Tags and classes for any corpus, and context trees in the terms of their naive twins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import naive.contexts as naive
from stategram import Corpus
from stategram.contexts import ContextTree, TagMap
from stategram.contexts.tags import tag_words
from stategram.text import BEGIN


def tags_of(corpus: Corpus) -> TagMap:
    words = corpus.vocabulary.words[3:]
    return tag_words(corpus.vocabulary, [(f"T{len(word) % 2}", "lexicon") for word in words])


def classes_of(corpus: Corpus) -> NDArray[np.uint32]:
    return (np.arange(len(corpus.vocabulary)) * 7 % 5).astype(np.uint32)


def sentences_of(corpus: Corpus) -> list[list[int]]:
    return [corpus.sentence(i).tolist() for i in range(corpus.n_sentences)]


def context_of(found: ContextTree) -> naive.Context:
    return naive.Context(
        [values.tolist() for values in found.maps],
        [value.distance for value in found.definition.values],
        BEGIN,
    )


def nodes_of(found: ContextTree) -> list[list[naive.Node]]:
    """For each level the values of each node, by way of its parents."""
    levels: list[list[naive.Node]] = [[(value,) for value in found.levels[0].values.tolist()]]
    for number in range(2, found.depth + 1):
        parents = found.parents(number).tolist()
        values = found.levels[number - 1].values.tolist()
        levels.append([(*levels[-1][p], v) for p, v in zip(parents, values, strict=True)])
    return levels
