"""States of contexts and categories of words from a context tree."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from stategram.clustering.checkpoint import Checkpoint, fingerprint
from stategram.clustering.context_levels import ContextLevels
from stategram.clustering.monitor import LevelResult, Monitor, SweepRecord
from stategram.clustering.settings import ClusteringSettings
from stategram.clustering.tree_clustering import TreeClustering
from stategram.contexts import ContextTree
from stategram.errors import UsageError
from stategram.progress import Progress, Stop


@dataclass(frozen=True, eq=False)
class Clustering:
    """States of contexts and categories of words.

    Parameters
    ----------
    tree
        The contexts.
    states
        For each level of the tree the state of each of its nodes.
    categories
        The category of each word of the vocabulary. Words that never occur have none: their label is the
        number of categories.
    settings
        How they were found.
    levels, history
        The results of each level and of each sweep.
    trials
        If numbers of clusters were tried out: the numbers, and the perplexity of sentences set aside.

    """

    tree: ContextTree
    states: tuple[NDArray[np.uint32], ...]
    categories: NDArray[np.uint32]
    settings: ClusteringSettings
    levels: tuple[LevelResult, ...] = ()
    history: tuple[SweepRecord, ...] = ()
    trials: tuple[tuple[int, float], ...] = ()

    def __repr__(self) -> str:
        return f"Clustering({self.tree.definition}, {self.n_states} states, {self.n_categories} categories)"

    @property
    def n_states(self) -> int:
        """The number of states."""
        return self.settings.states

    @property
    def n_categories(self) -> int:
        """The number of categories."""
        return self.settings.categories


def cluster_tree(
    tree: ContextTree,
    settings: ClusteringSettings,
    *,
    checkpoint: str | os.PathLike[str] | Checkpoint | None = None,
    resume: bool = False,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> Clustering:
    """Do what `cluster` does with contexts that are counted already, and no more categories than words."""
    levels, monitor = ContextLevels(tree, settings), Monitor(progress, stop)
    start = save = None
    if checkpoint is not None:
        keeper = checkpoint if isinstance(checkpoint, Checkpoint) else Checkpoint(checkpoint)
        mark = fingerprint(levels)
        start = keeper.restore(levels, mark) if resume else None
        save = partial(keeper.save, mark)
    elif resume:
        raise UsageError("resume needs the folder of a checkpoint to continue from")
    found = TreeClustering(levels, settings.schedule, monitor, settings.seed, save).run(start)
    states = list(found.states)
    if not settings.tree:
        states = [levels.initial_states(number) for number in range(1, tree.depth)] + states
    while len(states) < tree.depth:  # after an early end
        states.append(states[-1][tree.parents(len(states) + 1)])
    return Clustering(tree, tuple(states), found.categories, settings, found.results, tuple(monitor.history))
