"""Models as files, models inside models included.

A folder is flat: the files of part 1 begin with ``1-``, those of part 0 of that part with ``1-0-``. The
manifest of a part is an entry of the list ``parts``. A part without a vocabulary of its own has that of the
model it is a part of.
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
class ModelFiles:
    """What a model folder has to hold: ``manifest["model"]`` is the kind of the model."""

    vocabulary: Vocabulary
    manifest: Mapping[str, Any]
    arrays: Mapping[str, Mapping[str, NDArray[Any]]] = field(default_factory=dict)
    parts: tuple[ModelFiles, ...] = ()


def write_model_files(path: str | os.PathLike[str], files: ModelFiles, manifest: Mapping[str, Any]) -> None:
    """Write a model and all its parts to a folder; `manifest` has further entries for the manifest."""
    arrays: dict[str, Mapping[str, NDArray[Any]]] = {}
    texts: dict[str, bytes] = {}
    gathered = _gather(files, "", None, arrays, texts)
    write_folder(path, kind="model", arrays=arrays, texts=texts, manifest={**manifest, **gathered})


def _gather(
    files: ModelFiles,
    prefix: str,
    vocabulary: Vocabulary | None,
    arrays: dict[str, Mapping[str, NDArray[Any]]],
    texts: dict[str, bytes],
) -> dict[str, Any]:
    """Collect the files of a model, whose names begin with `prefix`; return its manifest."""
    arrays.update((prefix + name, group) for name, group in files.arrays.items())
    if vocabulary is None or not (files.vocabulary is vocabulary or files.vocabulary == vocabulary):
        vocabulary = files.vocabulary
        texts[prefix + _VOCABULARY] = vocabulary.to_bytes()
    manifest = dict(files.manifest)
    if files.parts:
        manifest["parts"] = [
            _gather(part, f"{prefix}{number}-", vocabulary, arrays, texts)
            for number, part in enumerate(files.parts)
        ]
    return manifest


def read_vocabulary(folder: Folder, of_parent: Vocabulary | None) -> Vocabulary:
    """Return the vocabulary of a model, or else that of the model it is a part of."""
    if of_parent is not None and not folder.has(_VOCABULARY):
        return of_parent
    try:
        return Vocabulary.from_bytes(folder.text(_VOCABULARY))
    except ValueError as error:
        if isinstance(error, BadDataError):
            raise
        raise BadDataError(
            f"{folder.path / (folder.prefix + _VOCABULARY)}: not a vocabulary ({error}); write it again"
        ) from error
