"""A clustering on disk, so that it can be resumed after the machine was lost."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from stategram.clustering.context_levels import ContextLevels
from stategram.clustering.monitor import LevelResult, SweepRecord
from stategram.clustering.tree_clustering import Labels, ResumePoint
from stategram.errors import BadDataError, UsageError
from stategram.storage import add_arrays, open_folder, restore_replaced, write_folder

_KIND = "clustering checkpoint"


@dataclass
class Checkpoint:
    """Writes the resume point of a clustering to a folder, now and then.

    Parameters
    ----------
    folder
        The folder; it is replaced atomically each time.
    seconds
        The time between two checkpoints at least, except where a level begins.

    """

    folder: str | os.PathLike[str]
    seconds: float = 120.0
    _written: float = field(default_factory=time.monotonic)

    def save(self, fingerprint: str, point: ResumePoint) -> None:
        """Write a resume point, if it is time."""
        if point.sweep > 0 and time.monotonic() - self._written < self.seconds:
            return
        arrays, manifest = to_arrays(point)
        manifest["fingerprint"] = fingerprint
        write_folder(self.folder, kind=_KIND, arrays={"clusters": arrays}, manifest=manifest)
        self._written = time.monotonic()

    def restore(self, levels: ContextLevels, fingerprint: str) -> ResumePoint | None:
        """Return the last resume point of the clustering; None if there is none."""
        restore_replaced(self.folder)
        if not Path(self.folder).exists():
            return None
        opened = open_folder(self.folder, kind=_KIND)
        if opened.manifest.get("fingerprint") != fingerprint:
            raise UsageError(
                f"{self.folder}: the checkpoint is of another text, or of other options; "
                "give the same ones, or start over without it"
            )
        try:
            point = from_arrays(opened.arrays("clusters", mmap=False), opened.manifest)
            _check(levels, point)
        except (KeyError, TypeError, ValueError) as error:
            raise BadDataError(f"{self.folder}: not a checkpoint ({error}); start over without it") from error
        return point


def to_arrays(point: ResumePoint) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return a resume point as arrays and as values for a manifest."""
    assert point.states is not None
    assert point.categories is not None
    above = {f"level{number}": labels for number, labels in enumerate(point.above, 1)}
    return (
        {"categories": point.categories, "states": point.states, **above},
        {
            "position": {"level": point.level, "sweep": point.sweep, "reached": point.reached},
            "levels": [asdict(level) for level in point.results],
            "history": [asdict(sweep) for sweep in point.history],
        },
    )


def from_arrays(arrays: Mapping[str, NDArray[Any]], manifest: Mapping[str, Any]) -> ResumePoint:
    """Inverse of `to_arrays`."""
    position = manifest["position"]
    results = msgspec.convert(manifest["levels"], tuple[LevelResult, ...])
    return ResumePoint(
        level=int(position["level"]),
        sweep=int(position["sweep"]),
        reached=msgspec.convert(position["reached"], float | None),
        above=tuple(arrays[f"level{number}"] for number in range(1, len(results) + 1)),
        states=arrays["states"],
        categories=arrays["categories"],
        results=results,
        history=msgspec.convert(manifest["history"], tuple[SweepRecord, ...]),
    )


def _check(levels: ContextLevels, point: ResumePoint) -> None:
    """Raise a ValueError if the values cannot be those of the text."""
    if point.level not in levels.numbers or len(point.above) != levels.numbers.index(point.level):
        raise ValueError("its levels are not those of the text")
    assert point.states is not None
    assert point.categories is not None
    settings, all_states = levels.settings, [*point.above, point.states]
    if any(labels.dtype != np.uint32 for labels in (*all_states, point.categories)):
        raise ValueError("its clusters are not integers")
    for number, labels in zip(levels.numbers, all_states, strict=False):
        if not _are_labels(labels, len(levels.tree.levels[number - 1]), settings.states):
            raise ValueError("its states are not those of the text")
    # Words that do not occur have a category beyond the others.
    if not _are_labels(point.categories, len(levels.tree.vocabulary), settings.categories + 1):
        raise ValueError("its categories are not those of the text")


def _are_labels(labels: Labels, n: int, clusters: int) -> bool:
    return labels.shape == (n,) and int(labels.max(initial=0)) < clusters


def fingerprint(levels: ContextLevels) -> str:
    """Return what distinguishes the text and the options of a clustering from all others."""
    tree = levels.tree
    digest = hashlib.sha256(json.dumps(msgspec.to_builtins(levels.settings), sort_keys=True).encode())
    digest.update(tree.definition.tree_order.encode())
    arrays: list[NDArray[Any]] = [*tree.maps, *tree.events]
    for level in tree.levels:
        arrays += [level.values, level.first_child]
    add_arrays(digest, arrays)
    return digest.hexdigest()
