"""A clustering on disk, so that it can be taken up again after the machine was lost."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.clustering.level_work import LevelResult
from stategram.clustering.monitor import SweepRecord
from stategram.clustering.number_of_clusters import ClusterNumbers
from stategram.clustering.tree_clustering import Position, TreeClustering
from stategram.contexts import ContextDefinition, ContextTree
from stategram.errors import BadDataError, UsageError
from stategram.storage import add_arrays, atomic_write, open_folder, recover_folder, write_folder
from stategram.text import Corpus

_KIND = "clustering checkpoint"


@dataclass
class Checkpoint:
    """Writes where a clustering is to a folder, now and then, and takes it up from there.

    Parameters
    ----------
    folder
        The folder; it is replaced as a whole each time.
    seconds
        How long to wait at least between two times, except where a level begins.

    """

    folder: str | os.PathLike[str]
    seconds: float = 120.0
    _written: float = field(default_factory=time.monotonic)
    _fingerprint: str | None = None

    def save(self, run: TreeClustering, position: Position, states: NDArray[np.uint32]) -> None:
        """Write where the clustering is, if it is time."""
        if position.sweep > 0 and time.monotonic() - self._written < self.seconds:
            return
        assert run.categories is not None
        done = {f"level{number}": labels for number, labels in enumerate(run.states, 1)}
        write_folder(
            self.folder,
            kind=_KIND,
            arrays={"clusters": {"categories": run.categories, "states": states, **done}},
            manifest={
                "fingerprint": self._fingerprint_of(run),
                "position": {
                    "level": position.level,
                    "sweep": position.sweep,
                    "criterion": None if np.isinf(position.criterion) else position.criterion,
                },
                "levels": [asdict(level) for level in run.levels],
                "history": [asdict(sweep) for sweep in run.monitor.history],
            },
        )
        self._written = time.monotonic()

    def exists(self) -> bool:
        """Whether there is something to go on from, even if a run was killed while it replaced the folder."""
        recover_folder(self.folder)
        return Path(self.folder).exists()

    @property
    def _numbers(self) -> Path:
        return Path(f"{os.fspath(self.folder)}.numbers.json")

    def keep_numbers(self, search: str, numbers: ClusterNumbers) -> None:
        """Write what a search for numbers of clusters came to, beside the folder."""
        atomic_write(self._numbers, json.dumps({"search": search, **asdict(numbers)}).encode() + b"\n")

    def numbers(self, search: str) -> ClusterNumbers | None:
        """Give what the same search came to; None if it was not done, or if that is damaged."""
        try:
            found = json.loads(self._numbers.read_bytes())
            if found["search"] != search:
                return None
            trials = tuple((int(number), float(perplexity)) for number, perplexity in found["trials"])
            return ClusterNumbers(int(found["states"]), int(found["categories"]), trials)
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def _fingerprint_of(self, run: TreeClustering) -> str:
        # A large text takes a second: once is enough.
        self._fingerprint = self._fingerprint or _fingerprint(run)
        return self._fingerprint

    def restore(self, run: TreeClustering) -> tuple[Position, NDArray[np.uint32]]:
        """Bring a run to where it was last written; give that place and the states of its level."""
        opened = open_folder(self.folder, kind=_KIND)
        manifest: Any = opened.manifest
        if manifest.get("fingerprint") != self._fingerprint_of(run):
            raise UsageError(
                f"{self.folder}: the checkpoint is of another text, or of other options; "
                "give the same ones, or begin anew without it"
            )
        arrays = opened.arrays("clusters", mmap=False)
        try:
            found = manifest["position"]
            criterion = -np.inf if found["criterion"] is None else float(found["criterion"])
            position = Position(int(found["level"]), int(found["sweep"]), criterion)
            run.levels[:] = [LevelResult(**level) for level in manifest["levels"]]
            run.monitor.history[:] = [SweepRecord(**sweep) for sweep in manifest["history"]]
            run.monitor.started -= max((sweep.seconds for sweep in run.monitor.history), default=0.0)
            run.states[:] = [arrays[f"level{number}"] for number in range(1, len(run.levels) + 1)]
            run.categories = arrays["categories"]
            _check(run, position, arrays["states"])
            return position, arrays["states"]
        except (KeyError, TypeError, ValueError) as error:
            raise BadDataError(f"{self.folder}: not a checkpoint ({error}); begin anew without it") from error


def _check(run: TreeClustering, position: Position, states: NDArray[np.uint32]) -> None:
    """ValueError if what was read cannot be gone on from."""
    if position.level not in run.numbers or len(run.states) != run.numbers.index(position.level):
        raise ValueError("its levels are not those of the text")
    levels = [run.tree.levels[number - 1] for number in run.numbers]
    for labels, level in zip([*run.states, states], levels, strict=False):
        if len(labels) != len(level) or int(labels.max()) >= run.settings.states:
            raise ValueError("its states are not those of the text")
    categories = run.categories
    assert categories is not None
    if any(labels.dtype != np.uint32 for labels in (*run.states, states, categories)):
        raise ValueError("its clusters are not whole numbers")
    if len(categories) != len(run.tree.vocabulary) or int(categories.max()) > run.settings.categories:
        raise ValueError("its categories are not those of the text")


def _fingerprint(run: TreeClustering) -> str:
    """Give what tells the text and the options of a clustering from all others."""
    digest = hashlib.sha256(json.dumps(asdict(run.settings), sort_keys=True).encode())
    _add_tree(digest, run.tree)
    return digest.hexdigest()


def search_fingerprint(
    corpus: Corpus, definition: ContextDefinition, *options: object, values: Iterable[NDArray[Any] | None]
) -> str:
    """Give what tells a search for numbers of clusters from all others; `values` are tags and classes."""
    digest = hashlib.sha256(json.dumps([definition.tree_order, *map(repr, options)]).encode())
    arrays = (corpus.ids, corpus.sentence_starts, *values)
    add_arrays(digest, (array for array in arrays if array is not None))
    return digest.hexdigest()


def _add_tree(digest: Any, tree: ContextTree) -> None:
    digest.update(tree.definition.tree_order.encode())
    arrays: list[NDArray[Any]] = [*tree.maps, *tree.events]
    for level in tree.levels:
        arrays += [level.values, level.first_child]
    add_arrays(digest, arrays)
