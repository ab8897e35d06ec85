"""Damaged files of models of every kind, with right checksums and with wrong ones."""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzz.campaign import BrokenPromiseError, Campaign
from fuzz.mutation import damage_array, damage_bytes, damage_json
from hostile import HostileFile
from model_kinds import ALL_KINDS, VECTORS, model_of
from stategram import Model, compact_model, model_info, surprisal
from stategram.errors import StategramError
from stategram.formats import write_model_classes
from stategram.models import load_model, word_categories
from stategram.storage import Archive

TEXT = ["w1 w2 w3 w4", "w5 stranger w1", ""]
_VOCABULARY = "vocabulary"


def damage(file: HostileFile, chance: random.Random) -> None:
    """Change an entry of the manifest, an array or a text of a file, and leave the checksums right."""
    what = chance.choice(("manifest", "arrays", "arrays", "texts"))
    if what == "manifest":
        manifest = damage_json(file.manifest, chance)
        file.write(manifest if isinstance(manifest, dict) else {}, file.arrays)
        return
    is_text = what == "texts"
    names = [name for name in sorted(file.arrays) if name.endswith(_VOCABULARY) == is_text]
    arrays = dict(file.arrays)
    if names:
        name = chance.choice(names)
        if is_text:
            arrays[name] = np.frombuffer(damage_bytes(arrays[name].tobytes(), chance), np.uint8)
        elif chance.random() < 0.05:
            del arrays[name]
        else:
            arrays[name] = damage_array(arrays[name], chance)
    file.write(arrays=arrays)


class _Archives(Campaign):
    """Files of everything that is kept in one."""

    def __init__(self, place: Path, seed: int) -> None:
        super().__init__(place, seed)
        self.files = _make_files(place)


class Damaged(_Archives):
    """Each try changes a manifest, an array or a text of a file, with right checksums."""

    name = "archives"
    promise = "a file with changed contents and right checksums is used or refused, never more"

    def attempt(self, number: int) -> None:
        """Change something in the next file."""
        source, path = self.files[number % len(self.files)], self.place / "damaged"
        shutil.copyfile(source, path)
        damage(HostileFile(path), self.random(number))
        with suppress(StategramError):
            _use_model(path)


class OnTheHeap(Damaged):
    """The same with arrays each in its own piece of memory, where ASan sees what is read beside them."""

    name = "heap"
    promise = "the same, and no kernel reads or writes outside its arrays"

    def __init__(self, place: Path, seed: int) -> None:
        super().__init__(place, seed)
        mapped = Archive.arrays

        def copied(self: Archive, group: str, *, mmap: bool = True) -> dict[str, NDArray[Any]]:
            return {key: np.array(array) for key, array in mapped(self, group, mmap=mmap).items()}

        Archive.arrays = copied  # type: ignore[method-assign]


class Flipped(_Archives):
    """Each try changes bytes of a file and leaves the checksums."""

    name = "flips"
    promise = "a file of which any byte was changed is refused"

    def attempt(self, number: int) -> None:
        """Change bytes of some file."""
        chance = self.random(number)
        source, path = chance.choice(self.files), self.place / "flipped"
        before = source.read_bytes()
        after = _flipped(before, chance) if chance.random() < 0.7 else damage_bytes(before, chance)
        if after == before:
            return
        path.write_bytes(after)
        try:
            _use_model(path)
        except StategramError:
            return
        raise BrokenPromiseError(f"{source.name} was changed, and nobody noticed")


def _flipped(data: bytes, chance: random.Random) -> bytes:
    # Half of the flips are in the header, which is small.
    end = len(data) if chance.random() < 0.5 else 8 + int.from_bytes(data[:8], "little")
    at = chance.randrange(end)
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


def _make_files(place: Path) -> list[Path]:
    files = []
    models: Mapping[str, Model] = {kind: model_of(kind) for kind in (*ALL_KINDS, *VECTORS)}
    models = {**models, "compact": compact_model(models["ngram"])}
    for kind, model in models.items():
        files.append(place / f"of-{kind}")
        model.save(files[-1])
    return files


def _use_model(path: Path) -> None:
    """Open what may be damaged and use it in every way."""
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
    if word_categories(model) is not None:
        write_model_classes(model, path.parent / "classes")
    model.save(path.parent / "again")
