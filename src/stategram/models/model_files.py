"""Model files: how models, and the models inside them, are written and opened.

Names of the arrays of part 1 begin with ``1/``, those of part 0 of that part with ``1/0/``. The
manifest of a part is an entry of the list ``parts``. A part without a vocabulary of its own has that of the
model it is a part of.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
from numpy.typing import NDArray

from stategram.errors import BadDataError
from stategram.progress import Progress
from stategram.storage import Archive, Entries, archive_size, open_archive, write_archive
from stategram.text import TextFormat, Vocabulary

if TYPE_CHECKING:
    from stategram.models.model import Model

_VOCABULARY = "vocabulary"

MODEL_KINDS: dict[str, type[Model]] = {}
"""The class of each kind of model by its name in manifests; `Model` adds all that are derived from it."""


class _Common(Entries, frozen=True):
    """What the manifest of every model has."""

    report: dict[str, Any]
    recipe: dict[str, Any]
    text_format: TextFormat | None = None


class _Recipe(Entries, frozen=True):
    """What is used of the metadata of a model."""

    tree: bool | None = None


@dataclass(frozen=True)
class ModelFiles:
    """What a kind of model writes to its file besides vocabulary, training info and metadata."""

    manifest: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, Mapping[str, NDArray[Any]]] = field(default_factory=dict)
    parts: tuple[Model, ...] = ()


def write_model(
    path: str | os.PathLike[str], model: Model, manifest: Mapping[str, Any], *, overwrite: bool
) -> None:
    """Write a model and all its parts to a file; `manifest` has further entries for the manifest."""
    write_archive(path, kind="model", **_contents(model, manifest), overwrite=overwrite)


def model_size(model: Model) -> int:
    """Return the bytes of the file of a model, with all its parts.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from stategram import NgramModel
    >>> model = NgramModel.train(["the cat sat", "the dog sat"], order=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model")
    ...     model_size(model) == Path(folder, "model").stat().st_size
    True
    """
    return archive_size(kind="model", **_contents(model, {}))


def _contents(model: Model, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `write_archive` is given."""
    arrays: dict[str, Mapping[str, NDArray[Any]]] = {}
    texts: dict[str, bytes] = {}

    def gather(model: Model, prefix: str, of_parent: Vocabulary | None) -> dict[str, Any]:
        """Collect the arrays of a model, whose names begin with `prefix`; return its manifest."""
        files, vocabulary = model._to_files(), model.vocabulary
        arrays.update((prefix + name, group) for name, group in files.arrays.items())
        if of_parent is None or not (vocabulary is of_parent or vocabulary == of_parent):
            texts[prefix + _VOCABULARY] = vocabulary.to_bytes()
        entries = {
            "model": model.kind,
            **files.manifest,
            "report": dict(model.training_info),
            "recipe": dict(model.metadata),
        }
        if model.training_format is not None:
            entries["text_format"] = model.training_format.remembered
        if files.parts:
            entries["parts"] = [
                gather(part, f"{prefix}{number}/", vocabulary) for number, part in enumerate(files.parts)
            ]
        return entries

    entries = gather(model, "", None)
    return {"arrays": arrays, "texts": texts, "manifest": {**manifest, **entries}}


def load_model(
    path: str | os.PathLike[str], *, verify: bool = True, progress: Progress | None = None
) -> Model:
    """Open a model file, and no other; see `stategram.open_model`."""
    return model_of(open_archive(path, kind="model", verify=verify, progress=progress))


def model_of(archive: Archive, of_parent: Vocabulary | None = None) -> Model:
    """Return the model of an opened file, or of a part of one; it may share the vocabulary `of_parent`."""
    manifest = archive.manifest
    name = manifest.get("model")
    if not isinstance(name, str) or name not in MODEL_KINDS:
        raise BadDataError(
            f"{archive.path}: a model of the kind {name!r}, this stategram knows "
            f"{', '.join(sorted(MODEL_KINDS))}; use a newer version of stategram"
        )
    vocabulary = of_parent
    if vocabulary is None or archive.has(_VOCABULARY):
        vocabulary = _read_vocabulary(archive)
    parts = tuple(model_of(part, vocabulary) for part in archive.parts())
    try:
        found = msgspec.convert(manifest, _Common)
        kind = MODEL_KINDS[name]
        if found.report:
            msgspec.convert(found.report, kind.info_entries)
        msgspec.convert(found.recipe, _Recipe)
        return kind._from_files(
            archive,
            vocabulary,
            parts,
            training_info=found.report,
            metadata=found.recipe,
            training_format=found.text_format,
        )
    except BadDataError:
        raise
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise BadDataError(f"{archive.path}: invalid {name} model ({error}); write it again") from error


def _read_vocabulary(archive: Archive) -> Vocabulary:
    try:
        return Vocabulary.from_bytes(archive.text(_VOCABULARY))
    except BadDataError:
        raise
    except ValueError as error:
        raise BadDataError(
            f"{archive.path}: its array {archive.prefix}{_VOCABULARY} is not a vocabulary ({error}); "
            "write it again"
        ) from error
