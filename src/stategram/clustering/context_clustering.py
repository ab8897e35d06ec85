"""`cluster`: states of contexts and categories of words from a text."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.clustering.checkpoint import Checkpoint, search_fingerprint
from stategram.clustering.memory import check_memory
from stategram.clustering.monitor import Monitor, Progress
from stategram.clustering.number_of_clusters import AUTO, choose_numbers
from stategram.clustering.tree_clustering import Clustering, ClusteringSettings, TreeClustering
from stategram.clustering.word_classes import WordClasses
from stategram.contexts import ContextDefinition, ContextTree, TagMap, build_tree, parse_tags
from stategram.errors import UsageError
from stategram.text import BEGIN, END, Corpus, Vocabulary, corpus_from_sentences

CLUSTERING_CRITERIA = ("ml", "leave-one-out")

# The paper: contexts with fewer than 6 events stay; the end is an iteration that gains less than one percent.
PRESETS = {
    "paper": ClusteringSettings(min_count=6, tolerance=0.01, max_sweeps=50, anneal=0, criterion="ml"),
    "fast": ClusteringSettings(max_sweeps=3),
    "normal": ClusteringSettings(),
    "best": ClusteringSettings(anneal=20, tolerance=0.0002, max_sweeps=12),
}


def cluster(
    corpus: Corpus | Iterable[str],
    context: str | ContextDefinition = "w-2,w-1",
    *,
    states: int | str = "size",
    categories: int | str = "size",
    preset: str = "normal",
    tree: bool = True,
    criterion: str | None = None,
    min_count: int | None = None,
    tolerance: float | None = None,
    max_sweeps: int | None = None,
    anneal: int | None = None,
    candidates: int | None = None,
    tree_order: str | None = None,
    tags: TagMap | str | None = None,
    classes: WordClasses | NDArray[np.integer[Any]] | Mapping[str, object] | None = None,
    checkpoint: str | os.PathLike[str] | Checkpoint | None = None,
    resume: bool = False,
    seed: int = 0,
    progress: Callable[[Progress], object] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Clustering:
    """Find states of contexts and categories of words that predict a text well.

    Parameters
    ----------
    corpus
        A corpus, or sentences.
    context
        What a context is: ``w-1``, ``w-2,w-1``, ``t-4,t-3,t-2,t-1``, ``g-2,w-1`` and so on.
    states, categories
        How many; ``"size"`` takes a number that suits texts of that size, ``"0.5 size"`` half of it,
        ``"auto"`` one by how well a part of the text predicts the rest.
    preset
        Where the options below are not given: ``paper``, ``fast``, ``normal`` or ``best``.
    tree
        Whether groups of contexts move first, single contexts later; else single ones from the start.
    criterion
        ``ml``, maximum likelihood, or ``leave-one-out``, whose b is that of the counts before each sweep.
    min_count
        Contexts with fewer events do not move on their own.
    tolerance
        A level ends when a sweep over all clusters lowers the training perplexity by less than this share; by
        leaving-one-out, what stands in the place of that perplexity in its criterion.
    max_sweeps
        A level ends after so many sweeps at most.
    anneal
        Annealing sweeps on the first level.
    candidates
        In two of three sweeps an element looks at so many clusters only, those that were best when it last
        looked at all; 0: always at all.
    tree_order
        The values of the context in the order in which the tree refines by them; by default nearest first.
    tags, classes
        The tag and the class of each word, if the context has them: a `TagMap`, or what `stategram tags`
        takes, such as ``"brill"``; `WordClasses`, a mapping of words, or an array by their ids.
    checkpoint
        A folder to which the clustering is written every few minutes and at each level; numbers that were
        chosen are kept in a file beside it.
    resume
        Whether to go on from the checkpoint; the result is that of an uninterrupted run.
    seed
        Of the annealing.
    progress, stop
        Called several times a second with where the work is; asked whether to end with what there is.

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
    if preset not in PRESETS:
        raise UsageError(f"no preset {preset!r}: there are {', '.join(PRESETS)}")
    if tree_order is not None and (not tree or isinstance(context, ContextDefinition)):
        without = "tree is False" if not tree else "the context has an order already"
        raise UsageError(f"tree_order is {tree_order!r}, but {without}; leave it out")
    definition = (
        context if isinstance(context, ContextDefinition) else ContextDefinition.parse(context, tree_order)
    )
    usual = PRESETS[preset]
    settings = ClusteringSettings(
        tree=tree,
        criterion=usual.criterion if criterion is None else criterion,
        min_count=usual.min_count if min_count is None else min_count,
        anneal=usual.anneal if anneal is None else anneal,
        tolerance=usual.tolerance if tolerance is None else tolerance,
        max_sweeps=usual.max_sweeps if max_sweeps is None else max_sweeps,
        candidates=usual.candidates if candidates is None else candidates,
        seed=seed,
    )
    _check(settings)
    if isinstance(tags, str):
        tags = parse_tags(tags, corpus.vocabulary)
    elif not isinstance(tags, TagMap | None):
        raise UsageError(f"tags are a {type(tags).__name__}; give a TagMap, 'brill' or the name of a file")
    labels = None if classes is None else class_labels(classes, corpus.vocabulary)
    keeper = checkpoint if isinstance(checkpoint, Checkpoint | None) else Checkpoint(checkpoint)
    if resume and keeper is None:
        raise UsageError("resume needs the folder of a checkpoint to go on from")
    is_search, search, numbers = AUTO in (states, categories), "", None
    if is_search and keeper is not None:
        values = (None if tags is None else tags.labels, labels)
        search = search_fingerprint(corpus, definition, settings, states, categories, values=values)
        numbers = keeper.numbers(search) if resume else None
    if numbers is None:
        numbers = choose_numbers(
            corpus,
            definition,
            states,
            categories,
            tags=tags,
            classes=labels,
            settings=settings,
            progress=progress,
            stop=stop,
        )
        if is_search and keeper is not None and not (stop and stop()):
            keeper.keep_numbers(search, numbers)
    words = int(np.count_nonzero(corpus.word_counts))
    settings = replace(settings, states=numbers.states, categories=min(numbers.categories, words))
    check_memory(settings.states, settings.categories)  # before the contexts are counted
    found = cluster_tree(
        build_tree(corpus, definition, tags=tags, classes=labels),
        settings,
        checkpoint=keeper,
        resume=resume,
        progress=progress,
        stop=stop,
    )
    return replace(found, trials=numbers.trials)


def cluster_tree(
    tree: ContextTree,
    settings: ClusteringSettings,
    *,
    checkpoint: str | os.PathLike[str] | Checkpoint | None = None,
    resume: bool = False,
    progress: Callable[[Progress], object] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Clustering:
    """Do what `cluster` does with contexts that are counted already, and no more categories than words."""
    _check(settings)
    check_memory(settings.states, settings.categories)
    run = TreeClustering(tree, settings, Monitor(progress, stop))
    if checkpoint is None:
        if resume:
            raise UsageError("resume needs the folder of a checkpoint to go on from")
        return run.run()
    keeper = checkpoint if isinstance(checkpoint, Checkpoint) else Checkpoint(checkpoint)
    run.save = keeper.save
    if resume and keeper.exists():
        return run.run(*keeper.restore(run))
    return run.run()


def _check(settings: ClusteringSettings) -> None:
    for wrong, message in (
        (
            settings.criterion not in CLUSTERING_CRITERIA,
            f"no criterion {settings.criterion!r}: there are {', '.join(CLUSTERING_CRITERIA)}",
        ),
        (settings.min_count < 1, f"min_count is {settings.min_count}; it must be at least 1"),
        (
            not 0 <= settings.tolerance < 1,
            f"tolerance is {settings.tolerance}; it must be 0 to 1, such as 0.001",
        ),
        (settings.max_sweeps < 1, f"max_sweeps is {settings.max_sweeps}; it must be at least 1"),
        (settings.anneal < 0, f"anneal is {settings.anneal}; it must be at least 0"),
        (settings.candidates < 0, f"candidates is {settings.candidates}; it must be at least 0"),
        (settings.seed < 0, f"seed is {settings.seed}; it must be at least 0"),
    ):
        if wrong:
            raise UsageError(message)


def class_labels(classes: Any, vocabulary: Vocabulary) -> NDArray[np.integer[Any]]:
    """Give the class of each id; words without one share one, sentence boundaries are alone.

    An array, with a number for each id, is taken as it is.
    """
    if isinstance(classes, WordClasses):
        classes = dict(zip(classes.words_, classes.labels_.tolist(), strict=True))
    if not isinstance(classes, Mapping):
        labels = np.asarray(classes)
        if labels.shape != (len(vocabulary),) or not np.issubdtype(labels.dtype, np.integer):
            raise UsageError(
                f"classes are not a number for each of the {len(vocabulary)} words of the vocabulary; "
                "give WordClasses, or a dict of words and their classes"
            )
        return labels
    numbers: dict[object, int] = {}
    for name in classes.values():
        numbers.setdefault(name, len(numbers))
    n = len(numbers)
    found = np.array([numbers[classes[w]] if w in classes else n for w in vocabulary.words], np.uint32)
    found[[BEGIN, END]] = n + 1, n + 2
    return found
