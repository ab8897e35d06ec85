"""Model folders: which model is in one."""

from __future__ import annotations

import os

from stategram.errors import BadDataError
from stategram.models.ngram import NgramModel
from stategram.storage import open_folder

__all__ = ["load_model"]

_MODELS = {"ngram": NgramModel}


def load_model(folder: str | os.PathLike[str], *, verify: bool = True) -> NgramModel:
    """Open a model that `save` wrote. Its arrays stay on the disk until they are used.

    Parameters
    ----------
    folder
        The model folder.
    verify
        Read every file, compare its SHA-256 with the manifest, and check every n-gram. Without it a model of
        any size is open at once; damage in it may give wrong numbers or an error later.

    Examples
    --------
    >>> from stategram import load_model
    >>> load_model("nothing here")
    Traceback (most recent call last):
    ...
    stategram.errors.BadDataError: nothing here: no manifest.json in it; expected a model folder of stategram

    """
    opened = open_folder(folder, kind="model", verify=verify)
    name = opened.manifest.get("model")
    if name not in _MODELS:
        raise BadDataError(
            f"{opened.path}: a model of the kind {name!r}, this stategram knows {', '.join(_MODELS)}; "
            "use a newer version of stategram"
        )
    return _MODELS[name]._load(opened, verify=verify)
