"""States of contexts and categories of words, from a context tree; on disk while they are made."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from stategram.clustering.levels import ContextLevels
from stategram.clustering.monitor import LevelResult, Monitor, SweepRecord
from stategram.clustering.settings import ClusteringSettings
from stategram.clustering.tree_clustering import ResumePoint, TreeClustering
from stategram.contexts import ContextTree
from stategram.errors import BadDataError, UsageError
from stategram.progress import Progress
from stategram.storage import Entries, Natural, add_arrays, is_archive, open_archive, write_archive

_KIND = "clustering checkpoint"


@dataclass(frozen=True, eq=False)
class Clustering:
    """States of contexts and categories of words.

    Parameters
    ----------
    tree
        The contexts.
    states
        For each level of the tree the state of each of its nodes.
    inherited
        For each level the state of unseen contexts, by their state on the level above; one for all above
        the first.
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
    inherited: tuple[NDArray[np.uint32], ...]
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
    checkpoint: Checkpoint | None = None,
    progress: Progress | None = None,
) -> Clustering:
    """Do what `cluster` does with contexts that are counted already, and no more categories than words.

    A checkpoint of the same clustering is continued; the result is that of an uninterrupted run.
    """
    levels, monitor = ContextLevels(tree, settings), Monitor(progress)
    start = save = None
    if checkpoint is not None:
        mark = fingerprint(tree, settings)
        start = checkpoint.restore(mark, tree, settings)
        save = partial(checkpoint.save, mark)
    end, _ = TreeClustering(levels, settings.schedule, monitor, settings.seed, save).run(start)
    upper = range(1, levels.numbers[0])
    states = [*map(levels.initial_states, upper), *end.above]
    inherited = [*map(levels.initial_inherited, upper), *end.inherited]
    assert end.categories is not None
    return Clustering(
        tree,
        tuple(states),
        tuple(inherited),
        end.categories,
        settings,
        end.results,
        tuple(monitor.history),
    )


@dataclass
class Checkpoint:
    """Writes the resume point of a clustering to a file, now and then.

    Parameters
    ----------
    path
        The file; it is replaced atomically each time.
    seconds
        The time between two checkpoints at least, except where a level begins.

    """

    path: str | os.PathLike[str]
    seconds: float = 120.0
    _written: float = field(default_factory=time.monotonic)

    def save(self, fingerprint: str, point: ResumePoint) -> None:
        """Write a resume point, if it is time."""
        if point.sweep > 0 and time.monotonic() - self._written < self.seconds:
            return
        assert point.categories is not None
        levels = point.above if point.states is None else (*point.above, point.states)
        states = {f"states{number}": labels for number, labels in enumerate(levels, 1)}
        states |= {f"inherited{number}": labels for number, labels in enumerate(point.inherited, 1)}
        write_archive(
            self.path,
            kind=_KIND,
            arrays={"clusters": {"categories": point.categories, **states}},
            manifest={
                "position": {"level": point.level, "sweep": point.sweep, "reached": point.reached},
                "levels": [asdict(level) for level in point.results],
                "history": [asdict(sweep) for sweep in point.history],
                "fingerprint": fingerprint,
            },
        )
        self._written = time.monotonic()

    def restore(
        self, fingerprint: str, tree: ContextTree, settings: ClusteringSettings
    ) -> ResumePoint | None:
        """Return the last resume point of the clustering; None if there is none."""
        if is_archive(self.path) is None:
            return None
        opened = open_archive(self.path, kind=_KIND)
        if opened.manifest.get("fingerprint") != fingerprint:
            raise UsageError(
                f"{self.path}: the checkpoint is of another text, or of other options; "
                "give the same ones, or start over without it"
            )
        try:
            point = _read(opened.arrays("clusters", mmap=False), opened.manifest)
            _check(point, tree, settings)
        except (KeyError, TypeError, ValueError) as error:
            raise BadDataError(f"{self.path}: not a checkpoint ({error}); start over without it") from error
        return point


class _Position(Entries, frozen=True):
    level: Natural
    sweep: Natural
    reached: float | None


class _Manifest(Entries, frozen=True):
    position: _Position
    levels: tuple[LevelResult, ...]
    history: tuple[SweepRecord, ...]


def _read(arrays: Mapping[str, NDArray[Any]], manifest: Mapping[str, Any]) -> ResumePoint:
    found = msgspec.convert(manifest, _Manifest)
    n = len(found.levels)
    return ResumePoint(
        level=found.position.level,
        sweep=found.position.sweep,
        reached=found.position.reached,
        above=tuple(arrays[f"states{number}"] for number in range(1, n + 1)),
        states=arrays[f"states{n + 1}"] if found.position.sweep > 0 else None,
        inherited=tuple(arrays[f"inherited{i}"] for i in range(1, n + 1 + (found.position.sweep > 0))),
        categories=arrays["categories"],
        results=found.levels,
        history=found.history,
    )


def _check(point: ResumePoint, tree: ContextTree, settings: ClusteringSettings) -> None:
    """Raise a ValueError if the values cannot be those of the text."""
    first = 1 if settings.tree else tree.depth
    if not first <= point.level <= tree.depth or len(point.above) != point.level - first:
        raise ValueError("its levels do not fit the text")
    all_states: list[Any] = [*point.above, *([] if point.states is None else [point.states])]
    for labels, level in zip(all_states, tree.levels[first - 1 :], strict=False):
        if not _are_labels(labels, len(level), settings.states):
            raise ValueError("its states do not fit the text")
    for number, labels in enumerate(point.inherited, first):
        if not _are_labels(labels, settings.states if number > 1 else 1, settings.states):
            raise ValueError("its states do not fit the text")
    # Words that do not occur have a category beyond the others.
    if not _are_labels(point.categories, len(tree.vocabulary), settings.categories + 1):
        raise ValueError("its categories do not fit the text")


def _are_labels(labels: Any, n: int, clusters: int) -> bool:
    return labels.dtype == np.uint32 and labels.shape == (n,) and int(labels.max(initial=0)) < clusters


def fingerprint(tree: ContextTree, settings: ClusteringSettings) -> str:
    """Return what distinguishes the text and the options of a clustering from all others."""
    digest = hashlib.sha256(json.dumps(msgspec.to_builtins(settings), sort_keys=True).encode())
    digest.update(tree.definition.tree_order.encode())
    arrays: list[NDArray[Any]] = [*tree.maps, *tree.events]
    for level in tree.levels:
        arrays += [level.values, level.first_child]
    add_arrays(digest, arrays)
    return digest.hexdigest()
