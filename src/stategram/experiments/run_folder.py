"""The folder of a training that can be taken up again: what is done, and the clustering under way.

run.json                  what is trained, on which text
run.lock                  held by the process that trains
classes-500-normal.tsv    classes that parts share
part-1, part-2, ...       a finished part, as a model folder; or where its clustering is
part-2.numbers.json       numbers of clusters that were tried out for a part
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stategram.errors import BadDataError, StategramError, UsageError
from stategram.experiments.recipe_parts import Recipe
from stategram.formats import read_classes, write_classes
from stategram.models import Model, load_model
from stategram.storage import (
    OtherVersionError,
    add_arrays,
    atomic_write,
    is_left_over,
    left_overs,
    lock,
    open_folder,
    recover_folder,
    remove_all,
)
from stategram.text import Corpus

_RUN = "run.json"
_LOCK = "run.lock"


@dataclass(frozen=True)
class RunFolder:
    """Keeps what a training has finished, and tells of what it cannot give back."""

    path: Path
    say: Callable[[str], None] = lambda _message: None

    @classmethod
    @contextmanager
    def open(
        cls, folder: str | os.PathLike[str], run: str, *, resume: bool, say: Callable[[str], None]
    ) -> Iterator[RunFolder]:
        """Begin a folder, or go on with one, and hold it.

        UsageError if it is of another training (see `fingerprint`), StategramError if another process has it.
        """
        path = Path(folder)
        begun = path / _RUN
        if not begun.exists():
            _make(path)
        with lock(path / _LOCK):
            if begun.exists():
                _check(begun, run, resume)
                _clear(path)
            else:
                atomic_write(begun, json.dumps({"run": run}).encode() + b"\n")
            yield cls(path, say)

    def part(self, number: int) -> Path:
        """Give the place of a part: of its model, or of its clustering."""
        return self.path / f"part-{number}"

    def is_finished(self, number: int) -> bool:
        """Whether a part is done; its files are not read."""
        try:
            open_folder(self.part(number), kind="model", verify=False)
        except BadDataError:
            return False
        return True

    def finished(self, number: int) -> Model | None:
        """Give a part that is done, None if it is not; what is damaged, its clustering too, is removed.

        What another version of stategram has written is not damaged: OtherVersionError.
        """
        place = self.part(number)
        try:
            done = place.exists() and open_folder(place, kind=None).manifest["kind"] == "model"
            return load_model(place, verify=False) if done else None
        except OtherVersionError:
            raise
        except BadDataError as error:
            self.say(f"note: part {number} is trained again: {error}")
            shutil.rmtree(place)
            return None

    def classes(self, name: str) -> dict[str, int] | None:
        """Give classes that were learned, None if they were not, or are damaged."""
        place = self.path / f"classes-{name}.tsv"
        if not place.exists():
            return None
        try:
            return {word: int(label) for word, label in read_classes(place, format="tsv").items()}
        except ValueError as error:
            self.say(f"note: the classes are learned again: {place} is damaged ({error})")
            return None

    def keep_classes(self, name: str, classes: dict[str, int]) -> None:
        """Keep classes that were learned."""
        labels = list(classes.values())
        write_classes(
            self.path / f"classes-{name}.tsv", list(classes), labels, np.zeros(len(labels), np.int64)
        )


def fingerprint(recipe: Recipe, corpus: Corpus, heldout: Corpus, seed: int, files: list[str]) -> str:
    """Give what tells a training from all others: what goes into it, but not how it is called or run."""
    said = {key: value for key, value in recipe.to_json().items() if key != "name"}
    digest = hashlib.sha256(json.dumps([said, seed], sort_keys=True).encode())
    add_texts(digest, (corpus, heldout))
    for name in files:
        digest.update(hashlib.sha256(Path(name).read_bytes()).digest())
    return digest.hexdigest()


def add_texts(digest: Any, texts: Sequence[Corpus]) -> None:
    """Add what tells texts with one vocabulary from all others to a digest."""
    digest.update(texts[0].vocabulary.to_bytes())
    add_arrays(digest, (array for text in texts for array in (text.ids, text.sentence_starts)))


def check_run_folder(folder: str | os.PathLike[str]) -> None:
    """UsageError if there is something that is no run and more than a begin that was killed leaves."""
    path = Path(folder)
    if path.exists() and not (path / _RUN).exists():
        known = [path / _LOCK, *left_overs(path / _RUN)] if path.is_dir() else []
        if not path.is_dir() or not set(path.iterdir()).issubset(known):
            raise UsageError(f"{path} is there already and is not a training; choose another folder")


def _make(path: Path) -> None:
    check_run_folder(path)
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise StategramError(f"cannot make the folder {path}: {error.strerror or error}") from error


def _check(begun: Path, run: str, resume: bool) -> None:
    if not resume:
        raise UsageError(
            f"{begun.parent} holds a training that has begun; resume it, or remove the folder to begin anew"
        )
    if _read(begun) != run:
        raise UsageError(
            f"{begun.parent} is of another training: of another text, held-out text, recipe or seed; "
            "give the same ones, or choose another folder"
        )


def _clear(path: Path) -> None:
    """Remove what runs that were killed have left, but for what they were about to replace."""
    for left in path.glob("part-*.replaced"):
        recover_folder(path / left.name.split(".")[0])
    remove_all([left for left in path.iterdir() if is_left_over(left)])


def _read(path: Path) -> object:
    try:
        return json.loads(path.read_bytes())["run"]
    except (ValueError, KeyError, TypeError) as error:
        raise BadDataError(f"{path}: damaged; remove the folder {path.parent} to begin anew") from error
