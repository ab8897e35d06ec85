"""Model folders: which model is in one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from stategram.errors import BadDataError
from stategram.models.ngram import NgramModel
from stategram.storage import open_folder

__all__ = ["load_model"]

_MODELS = {"ngram": NgramModel}


def load_model(
    folder: str | os.PathLike[str],
    *,
    verify: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> NgramModel:
    """Open a model that `save` wrote. Its arrays stay on the disk until they are used.

    Parameters
    ----------
    folder
        The model folder.
    verify
        Read every file and compare its SHA-256 with the manifest. Without it a model of any size is open at
        once; damage in it may give wrong numbers or an error later.
    progress
        Called with the bytes that were compared so far, and the bytes in all.

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
    opened = open_folder(folder, kind="model", verify=verify, progress=progress)
    name = opened.manifest.get("model")
    if name not in _MODELS:
        raise BadDataError(
            f"{opened.path}: a model of the kind {name!r}, this stategram knows {', '.join(_MODELS)}; "
            "use a newer version of stategram"
        )
    return _MODELS[name]._load(opened)
