"""The folder of a training that can be taken up again: what is done, and the clustering under way.

run.json                  what is trained, on which text
classes-500-normal.tsv    classes that parts share
part-1, part-2, ...       a finished part, as a model folder; or where its clustering is
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stategram.errors import BadDataError, StategramError, UsageError
from stategram.experiments.recipe_parts import Recipe
from stategram.formats import read_classes, write_classes
from stategram.models import Model, load_model
from stategram.storage import write_whole
from stategram.text import Corpus

__all__ = ["RunFolder", "add_texts", "fingerprint"]

_RUN = "run.json"


@dataclass(frozen=True)
class RunFolder:
    """Keeps what a training has finished."""

    path: Path

    @classmethod
    def open(cls, folder: str | os.PathLike[str], run: str, *, resume: bool) -> RunFolder:
        """Begin a folder, or go on with one; UsageError if it is of another training (see `fingerprint`)."""
        path = Path(folder)
        begun = path / _RUN
        if begun.exists():
            if not resume:
                raise UsageError(
                    f"{path} holds a training that has begun; resume it, or remove the folder to begin anew"
                )
            if _read(begun) != run:
                raise UsageError(
                    f"{path} is of another training: of another text, held-out text, recipe or seed; "
                    "give the same ones, or choose another folder"
                )
            for left in (*path.glob("*.partial"), *path.glob("*.replaced")):  # of a run that was killed
                shutil.rmtree(left, ignore_errors=True)
            return cls(path)
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise UsageError(f"{path} is there already and is not a training; choose another folder")
        try:
            path.mkdir(exist_ok=True)
        except OSError as error:
            raise StategramError(f"cannot make the folder {path}: {error.strerror or error}") from error
        write_whole(begun, json.dumps({"run": run}).encode() + b"\n")
        return cls(path)

    def part(self, number: int) -> Path:
        """Give the place of a part: of its model, or of its clustering."""
        return self.path / f"part-{number}"

    def is_finished(self, number: int) -> bool:
        """Whether a part is done."""
        manifest = self.part(number) / "manifest.json"
        return manifest.is_file() and _read(manifest, "kind") == "model"

    def finished(self, number: int) -> Model | None:
        """Give a part that is done, None if it is not."""
        return load_model(self.part(number)) if self.is_finished(number) else None

    def classes(self, name: str) -> dict[str, int] | None:
        """Give classes that were learned, None if they were not."""
        place = self.path / f"classes-{name}.tsv"
        if not place.exists():
            return None
        return {word: int(label) for word, label in read_classes(place, format="tsv").items()}

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
    for text in texts:
        digest.update(np.ascontiguousarray(text.ids).data)
        digest.update(np.ascontiguousarray(text.sentence_starts).data)


def _read(path: Path, key: str = "run") -> object:
    try:
        return json.loads(path.read_bytes())[key]
    except (ValueError, KeyError, TypeError) as error:
        raise BadDataError(f"{path}: damaged; remove the folder {path.parent} to begin anew") from error
