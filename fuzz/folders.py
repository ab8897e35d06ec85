"""Damaged folders: of models of every kind, corpora and checkpoints, with checksums that fit, and others."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzz.campaign import BrokenPromiseError, Campaign
from fuzz.mutation import damage_array, damage_bytes, damage_json
from hostile import write_manifest
from model_kinds import ALL_KINDS, corpora, model_of
from stategram import Corpus, Model, compact_model, load_model, model_info, surprisal
from stategram.errors import StategramError
from stategram.formats import write_model_classes
from stategram.storage import Folder, open_folder, write_folder

_COMPUTED = ("kind", "format_version", "stategram_version", "files", "checksum")
TEXT = ["w1 w2 w3 w4", "w5 stranger w1", ""]


@dataclass(frozen=True)
class Contents:
    """What a folder holds, to be damaged and written again with right checksums."""

    kind: str
    manifest: dict[str, Any]
    arrays: dict[str, dict[str, NDArray[Any]]]
    texts: dict[str, bytes]

    @classmethod
    def of(cls, path: Path) -> Contents:
        """Read a folder."""
        folder = open_folder(path, kind=None)
        arrays = {
            name.removesuffix(".safetensors"): folder.arrays(name.removesuffix(".safetensors"), mmap=False)
            for name in folder.files
            if name.endswith(".safetensors")
        }
        others = (name for name in folder.files if not name.endswith((".safetensors", "manifest.json")))
        texts = {name: folder.text(name) for name in others}
        manifest = {name: value for name, value in folder.manifest.items() if name not in _COMPUTED}
        return cls(folder.manifest["kind"], manifest, arrays, texts)

    def write(self, path: Path) -> None:
        """Write the folder; its manifest may be one that `write_folder` refuses to write."""
        write_folder(path, kind=self.kind, arrays=self.arrays, texts=self.texts)
        written = json.loads((path / "manifest.json").read_bytes())
        write_manifest(path, {**self.manifest, **written})

    def damaged(self, chance: random.Random, what: str) -> Contents:
        """Return the contents with one thing of a kind, ``manifest``, ``arrays`` or ``texts``, changed."""
        if what == "texts" and self.texts:
            name = chance.choice(sorted(self.texts))
            return replace(self, texts={**self.texts, name: damage_bytes(self.texts[name], chance)})
        if what == "arrays" and self.arrays:
            return replace(self, arrays=self._damaged_arrays(chance))
        manifest = damage_json(self.manifest, chance)
        return replace(self, manifest=manifest if isinstance(manifest, dict) else {})

    def _damaged_arrays(self, chance: random.Random) -> dict[str, dict[str, NDArray[Any]]]:
        file = chance.choice(sorted(self.arrays))
        arrays = dict(self.arrays[file])
        if arrays:
            name = chance.choice(sorted(arrays))
            if chance.random() < 0.05:
                del arrays[name]
            else:
                arrays[name] = damage_array(arrays[name], chance)
        return {**self.arrays, file: arrays}


class _Folders(Campaign):
    """Folders of everything that is kept in one."""

    def __init__(self, place: Path, seed: int) -> None:
        super().__init__(place, seed)
        self.folders = _make_folders(place)
        self.contents = [Contents.of(folder) for folder in self.folders]

    def use(self, path: Path) -> None:
        """Open what may be damaged and use it in every way."""
        if Contents.of(path).kind == "corpus":
            Corpus.load(path)
        else:
            _use_model(path)


class Damaged(_Folders):
    """Each try changes a manifest, an array or a text of a folder, with checksums that fit."""

    name = "folders"
    promise = "a folder with changed contents and right checksums is used or refused, never more"

    def attempt(self, number: int) -> None:
        """Change something in the next folder."""
        chance = self.random(number)
        contents = self.contents[number % len(self.contents)]
        what = chance.choice(("manifest", "arrays", "arrays", "texts"))
        path = self.place / "damaged"
        shutil.rmtree(path, ignore_errors=True)
        contents.damaged(chance, what).write(path)
        with suppress(StategramError):
            self.use(path)


class OnTheHeap(Damaged):
    """The same with arrays each in its own piece of memory, where ASan sees what is read beside them."""

    name = "heap"
    promise = "the same, and no kernel reads or writes outside its arrays"

    def __init__(self, place: Path, seed: int) -> None:
        super().__init__(place, seed)
        mapped = Folder.arrays

        def copied(self: Folder, name: str, *, mmap: bool = True) -> dict[str, NDArray[Any]]:
            return {key: np.array(array) for key, array in mapped(self, name, mmap=mmap).items()}

        Folder.arrays = copied  # type: ignore[method-assign]


class Flipped(_Folders):
    """Each try changes bytes of a file of a folder and leaves the checksums."""

    name = "flips"
    promise = "a folder of which any byte was changed is refused"

    def attempt(self, number: int) -> None:
        """Change bytes of the next folder."""
        chance = self.random(number)
        path = self.place / "flipped"
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(chance.choice(self.folders), path)
        file = chance.choice(sorted(path.iterdir()))
        before = file.read_bytes()
        after = _flipped(before, chance) if chance.random() < 0.7 else damage_bytes(before, chance)
        if after == before:
            return
        file.write_bytes(after)
        try:
            self.use(path)
        except StategramError:
            return
        raise BrokenPromiseError(f"{file.name} was changed, and nobody noticed")


def _flipped(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


def _make_folders(place: Path) -> list[Path]:
    folders = []
    models: Mapping[str, Model] = {kind: model_of(kind) for kind in ALL_KINDS}
    models = {**models, "compact": compact_model(models["ngram"])}
    for kind, model in models.items():
        folders.append(place / f"of-{kind}")
        model.save(folders[-1])
    folders.append(place / "of-corpus")
    corpora()[0].save(folders[-1])
    return folders


def _use_model(path: Path) -> None:
    with suppress(StategramError):
        model_info(path)
    model = load_model(path)
    is_sound = True
    try:
        model.check()
    except StategramError:
        is_sound = False
    log_probs = model.score(TEXT).log_probs
    # Back-off weights may be any, so that a changed one may make a probability above 1: `verify` sums them.
    if is_sound and np.isnan(log_probs).any():
        raise BrokenPromiseError("probabilities that are no numbers")
    model.predict("w1 w2")
    surprisal(model, TEXT, columns=["all"])
    model.describe()
    if model.word_categories is not None:
        write_model_classes(path.parent / "classes", model)
    model.save(path.parent / "again")
