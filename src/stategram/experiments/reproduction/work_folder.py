"""The folder of a reproduction, which can be taken up again after it was killed.

tables.json             what is found so far; complete or not
work/run.json           what is reproduced, on which texts
work/run.lock           held by the process that is at work
work/spent.json         seconds of what rows share, and the most memory, over all runs
work/rows/NAME/         a finished row: its figures; if a mixture needs it, its log probabilities and gallery
work/classes/           the classes of contexts
work/under-way/         where the clustering of the row under way is
work/ngram/             the n-gram model that the recipe begins with
work/recipe/            where the training of the recipe is
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from stategram.counts import peak_memory
from stategram.errors import BadDataError, StategramError, UsageError
from stategram.experiments.cluster_examples import ClusterGallery
from stategram.experiments.reproduction.results import Reproduction, RowResult
from stategram.storage import (
    atomic_write,
    is_left_over,
    left_overs,
    lock,
    open_folder,
    remove_all,
    write_folder,
)

_TABLES = "tables.json"
_RUN = "run.json"
_LOCK = "run.lock"
_KIND = "row of a reproduction"
_CLASSES = "classes of a reproduction"


@dataclass(frozen=True, eq=False)
class Scores:
    """The natural logarithm of the probability of each event of both texts."""

    heldout: NDArray[np.float64]
    test: NDArray[np.float64]


def check_folder(folder: str | os.PathLike[str]) -> None:
    """Refuse a folder that cannot be written, or that has something else, before anything is read."""
    path = Path(folder)
    if not os.fspath(folder).strip():
        raise UsageError("the name of the output is empty; give a folder")
    if path.exists() and not path.is_dir():
        raise UsageError(f"the output {path} is a file; give the name of a folder")
    if not _is_fresh(path) and not _run_file(path).is_file():
        raise UsageError(f"{path} is there already and is not a reproduction; choose another folder")
    if not path.absolute().parent.is_dir():
        raise StategramError(
            f"cannot write {path}: there is no folder {path.absolute().parent}; make it first"
        )


@dataclass(frozen=True)
class WorkFolder:
    """Keeps what a reproduction has finished; every file appears whole or not at all."""

    path: Path

    @classmethod
    @contextmanager
    def open(cls, folder: str | os.PathLike[str], run: str) -> Iterator[WorkFolder]:
        """Begin a folder, or go on with one, and hold it.

        UsageError if `run` says that it is of another reproduction, StategramError if another process has it.
        """
        check_folder(folder)
        path = Path(folder)
        begun = _run_file(path)
        try:
            begun.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StategramError(f"cannot make the folder {path}: {error.strerror or error}") from error
        with lock(begun.parent / _LOCK):
            if not begun.is_file():
                atomic_write(begun, json.dumps({"run": run}).encode() + b"\n")
            elif _read(begun, "run") != run:
                raise UsageError(
                    f"{path} is another reproduction: of other texts, tags, vocabulary, scale or seed; "
                    "give the same ones to go on with it, or choose another folder"
                )
            _clear(path)
            yield cls(path)

    @property
    def work(self) -> Path:
        """Where unfinished work is."""
        return self.path / "work"

    def under_way(self, key: str) -> Path:
        """Give the place of the clustering of a row that is under way."""
        place = self.work / "under-way"
        place.mkdir(exist_ok=True)
        return place / _as_name(key)

    @property
    def recipe(self) -> Path:
        """Where the training of the recipe is kept."""
        return self.work / "recipe"

    @property
    def ngram(self) -> Path:
        """Where the n-gram model that the recipe shares is kept."""
        return self.work / "ngram"

    def row(self, key: str) -> RowResult | None:
        """Give a finished row, None if it is not."""
        found: RowResult | None = self._said(key, "row", RowResult)
        return found

    def gallery(self, key: str) -> ClusterGallery | None:
        """Give telling clusters of a finished row, None if there are none."""
        found: ClusterGallery | None = self._said(key, "gallery", ClusterGallery | None)
        return found

    def scores(self, key: str) -> Scores:
        """Give the log probabilities of a finished row; they stay on the disk until they are used."""
        arrays = _open(self._place(key), _KIND).arrays("log_probs")
        return Scores(arrays["heldout"], arrays["test"])

    def keep_row(
        self, row: RowResult, scores: Scores | None = None, gallery: ClusterGallery | None = None
    ) -> None:
        """Keep a finished row, with its log probabilities and telling clusters if they are given.

        What was under way is not needed any more.
        """
        self._place(row.key).parent.mkdir(exist_ok=True)
        write_folder(
            self._place(row.key),
            kind=_KIND,
            arrays={"log_probs": {"heldout": scores.heldout, "test": scores.test}} if scores else {},
            manifest={"row": msgspec.to_builtins(row), "gallery": msgspec.to_builtins(gallery)},
        )
        shutil.rmtree(self.work / "under-way", ignore_errors=True)

    def classes(self) -> NDArray[np.uint32] | None:
        """Give the class of each id in contexts, None if they are not learned yet."""
        place = self.work / "classes"
        if not place.is_dir():
            return None
        labels: NDArray[np.uint32] = _open(place, _CLASSES).arrays("classes", mmap=False)["labels"]
        return labels

    def keep_classes(self, labels: NDArray[np.uint32]) -> None:
        """Keep the class of each id in contexts."""
        write_folder(self.work / "classes", kind=_CLASSES, arrays={"classes": {"labels": labels}})

    def spent(self) -> dict[str, float]:
        """Give the seconds of what rows share, by name, over all runs so far."""
        return dict(self._spent()["seconds"])

    def peak_bytes(self) -> int:
        """Give the most memory of all runs so far."""
        return int(self._spent()["peak_bytes"])

    def spend(self, **seconds: float) -> None:
        """Add seconds by name, and take the most memory of this run into account."""
        total = self.spent()
        for name, more in seconds.items():
            total[name] = total.get(name, 0.0) + more
        found = {"seconds": total, "peak_bytes": max(self.peak_bytes(), peak_memory())}
        atomic_write(self.work / "spent.json", json.dumps(found).encode() + b"\n")

    def tables(self) -> Reproduction | None:
        """Give what ``tables.json`` says, None if there is none that can be read."""
        try:
            return msgspec.json.decode((self.path / _TABLES).read_bytes(), type=Reproduction)
        except (OSError, msgspec.DecodeError):
            return None

    def write_tables(self, found: Reproduction) -> None:
        """Write ``tables.json``."""
        text = msgspec.json.format(msgspec.json.encode(found), indent=1)
        atomic_write(self.path / _TABLES, text + b"\n")

    def forget_models(self) -> None:
        """Remove what only an unfinished run needs."""
        for place in (self.work / "under-way", self.recipe, self.ngram):
            shutil.rmtree(place, ignore_errors=True)

    def _said(self, key: str, name: str, kind: Any) -> Any:
        place = self._place(key)
        if not place.is_dir():
            return None
        try:
            return msgspec.convert(_open(place, _KIND).manifest[name], kind)
        except (KeyError, msgspec.ValidationError) as error:
            raise _damaged(place, error) from error

    def _place(self, key: str) -> Path:
        return self.work / "rows" / _as_name(key)

    def _spent(self) -> dict[str, Any]:
        place = self.work / "spent.json"
        if not place.is_file():
            return {"seconds": {}, "peak_bytes": 0}
        return {"seconds": _read(place, "seconds"), "peak_bytes": _read(place, "peak_bytes")}


def _as_name(key: str) -> str:
    return re.sub(r"[ ,+]+", "_", key)


def _is_fresh(path: Path) -> bool:
    """Whether nothing is there but what a run that was killed at its very beginning may leave."""
    if not path.is_dir():
        return not path.exists()
    there = [one for one in path.iterdir() if one.name != "work" or not one.is_dir()]
    work = path / "work"
    return not there and (
        not work.is_dir() or set(work.iterdir()) <= {work / _LOCK, *left_overs(work / _RUN)}
    )


def _clear(path: Path) -> None:
    """Remove what runs that were killed have left half-written."""
    half_written = [left for left in (path / "work").rglob("*.partial") if is_left_over(left)]
    remove_all([*left_overs(path / _TABLES), *half_written])


def _run_file(path: Path) -> Path:
    return path / "work" / _RUN


def _open(place: Path, kind: str) -> Any:
    try:
        return open_folder(place, kind=kind)
    except BadDataError as error:
        raise _damaged(place, error) from error


def _damaged(place: Path, error: Exception) -> BadDataError:
    return BadDataError(f"{place} is damaged ({error}); remove it and run the same command again")


def _read(path: Path, key: str) -> Any:
    try:
        return json.loads(path.read_bytes())[key]
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(path, error) from error
