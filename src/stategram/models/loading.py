"""Model folders: which model is in one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar, overload

from stategram.errors import BadDataError
from stategram.models.category_ngram import CategoryNgramModel
from stategram.models.clustered import ClusteredModel
from stategram.models.mixture import Mixture
from stategram.models.model import Model
from stategram.models.model_files import read_vocabulary
from stategram.models.ngram import NgramModel
from stategram.progress import Progress
from stategram.storage import Folder, open_folder
from stategram.text import Vocabulary

_M = TypeVar("_M")

_KINDS = {model.kind: model for model in (NgramModel, CategoryNgramModel, ClusteredModel, Mixture)}


@overload
def load_model(
    folder: str | os.PathLike[str], *, verify: bool = True, progress: Progress | None = None
) -> Model: ...
@overload
def load_model(
    folder: str | os.PathLike[str],
    kind: type[_M],
    *,
    verify: bool = True,
    progress: Progress | None = None,
) -> _M: ...
def load_model(
    folder: str | os.PathLike[str],
    kind: type[_M] | None = None,
    *,
    verify: bool = True,
    progress: Progress | None = None,
) -> _M | Model:
    """Open a model that `save` wrote. Its arrays stay on the disk until they are used.

    Parameters
    ----------
    folder
        The model folder.
    kind
        The class that the model has to be of, such as `NgramModel`; any by default.
    verify
        Read every file and compare its SHA-256 with the manifest. Without it a model of any size is open at
        once; damage in it may give wrong numbers or an error later.
    progress
        Called with the fraction of the bytes that are compared, and a message.

    Examples
    --------
    >>> from stategram import load_model
    >>> load_model("nothing here")
    Traceback (most recent call last):
    ...
    stategram.errors.BadDataError: nothing here: no such folder; expected a model folder of stategram

    """
    path = Path(folder)
    if not path.exists():
        raise BadDataError(f"{path}: no such folder; expected a model folder of stategram")
    if not path.is_dir():
        raise BadDataError(
            f"{path}: a file, not a model folder; read_arpa reads ARPA files, open_model opens both"
        )
    model = _load(open_folder(folder, kind="model", verify=verify, progress=progress), None)
    if kind is not None and not isinstance(model, kind):
        raise BadDataError(
            f"{folder}: a model of the class {type(model).__name__}, expected {kind.__name__}; "
            "give another folder"
        )
    return model


def _load(folder: Folder, vocabulary: Vocabulary | None) -> Model:
    name = folder.manifest.get("model")
    if name not in _KINDS:
        raise BadDataError(
            f"{folder.path}: a model of the kind {name!r}, this stategram knows {', '.join(_KINDS)}; "
            "use a newer version of stategram"
        )
    own = read_vocabulary(folder, vocabulary)
    return _KINDS[name].from_files(folder, own, tuple(_load(part, own) for part in folder.parts()))
