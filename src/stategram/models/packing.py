"""Models as files, models inside models included.

A folder is flat: the files of part 1 begin with ``1-``, those of part 0 of that part with ``1-0-``. What the
manifest says of a part is in its list ``parts``. A part without a vocabulary of its own has that of the model
it is a part of.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from stategram.errors import BadDataError
from stategram.storage import Folder, write_folder
from stategram.text import Vocabulary

_VOCABULARY = "vocabulary.txt"


@dataclass(frozen=True)
class Packed:
    """What a model folder has to hold: ``manifest["model"]`` says which model it is."""

    vocabulary: Vocabulary
    manifest: Mapping[str, Any]
    arrays: Mapping[str, Mapping[str, NDArray[Any]]] = field(default_factory=dict)
    texts: Mapping[str, bytes] = field(default_factory=dict)
    parts: tuple[Packed, ...] = ()


def write_packed(path: str | os.PathLike[str], packed: Packed, manifest: Mapping[str, Any]) -> None:
    """Write a model and all its parts to a folder; `manifest` is what else the manifest should say."""
    arrays: dict[str, Mapping[str, NDArray[Any]]] = {}
    texts: dict[str, bytes] = {}
    found = _gather(packed, "", None, arrays, texts)
    write_folder(path, kind="model", arrays=arrays, texts=texts, manifest={**manifest, **found})


def _gather(
    packed: Packed,
    prefix: str,
    vocabulary: Vocabulary | None,
    arrays: dict[str, Mapping[str, NDArray[Any]]],
    texts: dict[str, bytes],
) -> dict[str, Any]:
    """Collect the files of a model, whose names begin with `prefix`; give its manifest."""
    arrays.update((prefix + name, group) for name, group in packed.arrays.items())
    texts.update((prefix + name, data) for name, data in packed.texts.items())
    if vocabulary is None or not (packed.vocabulary is vocabulary or packed.vocabulary == vocabulary):
        vocabulary = packed.vocabulary
        texts[prefix + _VOCABULARY] = vocabulary.to_bytes()
    manifest = dict(packed.manifest)
    if packed.parts:
        manifest["parts"] = [
            _gather(part, f"{prefix}{number}-", vocabulary, arrays, texts)
            for number, part in enumerate(packed.parts)
        ]
    return manifest


def read_vocabulary(folder: Folder, of_whole: Vocabulary | None) -> Vocabulary:
    """Give the vocabulary of a model, or else that of the model it is a part of."""
    if of_whole is not None and not folder.has(_VOCABULARY):
        return of_whole
    try:
        return Vocabulary.from_bytes(folder.text(_VOCABULARY))
    except ValueError as error:
        if isinstance(error, BadDataError):
            raise
        raise BadDataError(
            f"{folder.path / (folder.prefix + _VOCABULARY)}: not a vocabulary ({error}); write it again"
        ) from error
