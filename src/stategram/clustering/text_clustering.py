"""`cluster`: states of contexts and categories of words from a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.clustering.context_clustering import Clustering, cluster_tree
from stategram.clustering.exchange import check_memory
from stategram.clustering.number_of_clusters import AUTO, choose_numbers
from stategram.clustering.settings import CONTEXT_EFFORTS
from stategram.clustering.word_classes import WordClasses, class_labels
from stategram.contexts import (
    ContextDefinition,
    TagMap,
    ValueMap,
    build_tree,
    context_values,
    parse_tags,
)
from stategram.errors import UsageError
from stategram.progress import Progress, subprogress
from stategram.text import Corpus, corpus_from_sentences

# The fraction of the work that a search for numbers of clusters is.
_SEARCH = 0.5


def cluster(
    corpus: Corpus | Iterable[str],
    context: str | ContextDefinition = "w-2,w-1",
    *,
    states: int | str = "size",
    categories: int | str = "size",
    effort: str = "normal",
    tree_order: str | None = None,
    tags: TagMap | str | None = None,
    classes: WordClasses | NDArray[np.integer[Any]] | Mapping[str, object] | None = None,
    values: Mapping[str, ValueMap] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    **knobs: Any,
) -> Clustering:
    """Find states of contexts and categories of words that predict a text well.

    Parameters
    ----------
    corpus
        A corpus, or sentences.
    context
        What a context is: ``w-1``, ``w-2,w-1``, ``t-4,t-3,t-2,t-1``, ``g-2,w-1`` and so on.
    states, categories
        The numbers of clusters; ``"size"`` for a number that suits texts of that size, ``"0.5 size"`` for
        half of it, ``"auto"`` for the one with which a part of the text best predicts the rest.
    effort
        The search effort: ``fast``, ``normal``, ``best``, or ``paper``, the algorithm of the paper.
    tree_order
        The values of the context in the order in which the tree refines by them; by default nearest first.
    tags, classes
        The tag and the class of each word, if the context has them: a `TagMap`, or the source of one
        (``"brill"``, a file of words and tags, or ``"FILE.conllu"``); `WordClasses`, a mapping of words, or
        an array by their ids.
    values
        The same for any kind of context values, as in `build_tree`.
    seed
        The seed of the annealing.
    progress
        Called several times per second with the fraction of the work that is done and a message.
    **knobs
        Fields of `ClusteringSettings` that differ from the effort: ``tree``, ``flat_start``, ``criterion``,
        ``min_count``, ``min_word_count``, ``free_states``, ``tolerance``, ``max_sweeps``, ``anneal``,
        ``candidates``.

    Examples
    --------
    >>> from stategram import cluster
    >>> text = ["the cat sat", "the dog sat", "a cat ran", "a dog ran"] * 5
    >>> found = cluster(text, "w-1", states=3, categories=3)
    >>> cat, dog = (found.tree.vocabulary.id(word) for word in ("cat", "dog"))
    >>> bool(found.categories[cat] == found.categories[dog])
    True

    """
    if not isinstance(corpus, Corpus):
        corpus = corpus_from_sentences(corpus)
    if effort not in CONTEXT_EFFORTS:
        raise UsageError(f"no effort {effort!r}: there are {', '.join(CONTEXT_EFFORTS)}")
    settings = CONTEXT_EFFORTS[effort].replace(seed=seed, **knobs)
    definition = _definition(context, tree_order, settings.tree)
    if isinstance(tags, str):
        tags = parse_tags(tags, corpus.vocabulary)
    elif not isinstance(tags, TagMap | None):
        raise UsageError(f"tags are a {type(tags).__name__}; give a TagMap, 'brill' or the name of a file")
    labels_of_classes = None if classes is None else class_labels(classes, corpus.vocabulary)
    values = {**(values or {}), **context_values(tags=tags, classes=labels_of_classes)}
    is_search = AUTO in (states, categories)
    numbers = choose_numbers(
        corpus,
        definition,
        states,
        categories,
        values=values,
        settings=settings,
        progress=subprogress(progress, 0.0, _SEARCH),
    )
    words = int(np.count_nonzero(corpus.word_counts))
    settings = settings.replace(states=numbers.states, categories=min(numbers.categories, words))
    check_memory(settings.states, settings.categories)  # before the contexts are counted
    found = cluster_tree(
        build_tree(corpus, definition, values),
        settings,
        progress=subprogress(progress, _SEARCH if is_search else 0.0, 1.0),
    )
    return replace(found, trials=numbers.trials)


def _definition(
    context: str | ContextDefinition, tree_order: str | None, has_tree: bool
) -> ContextDefinition:
    if tree_order is not None and (not has_tree or isinstance(context, ContextDefinition)):
        without = "tree is False" if not has_tree else "the context has an order already"
        raise UsageError(f"tree_order is {tree_order!r}, but {without}; leave it out")
    return context if isinstance(context, ContextDefinition) else ContextDefinition.parse(context, tree_order)
