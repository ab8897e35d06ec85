"""Models on disk: model files and ARPA files."""

from __future__ import annotations

import os
from pathlib import Path

from stategram.errors import BadDataError, StategramError
from stategram.formats.arpa import read_arpa
from stategram.models import Model, load_model
from stategram.progress import Progress
from stategram.storage import is_archive


def open_model(
    path: str | os.PathLike[str],
    *,
    verify: bool = True,
    progress: Progress | None = None,
) -> Model:
    """Open a model: a file that `save` wrote, or else an ARPA file, plain or compressed.

    Parameters
    ----------
    path
        The file; ``-`` is an ARPA file on stdin.
    verify
        Compare the SHA-256 of each array of a model file with its manifest. Without it the file is open at
        once.
    progress
        Called with the fraction of the bytes that are read, 0 as long as it is not known, and a message.

    Examples
    --------
    >>> import tempfile
    >>> from stategram import NgramModel
    >>> with tempfile.TemporaryDirectory() as place:
    ...     NgramModel.train(["the cat sat"], order=2).save(f"{place}/model")
    ...     open_model(f"{place}/model")
    NgramModel(order 2, 6 + 4 n-grams, kneser-ney)

    """
    is_ours = os.fspath(path) != "-" and is_archive(path)
    if is_ours is None:
        raise StategramError(f"{path}: no such model; expected a model file or an ARPA file: check the name")
    if is_ours:
        return load_model(path, verify=verify, progress=progress)
    if Path(path).is_dir():
        raise BadDataError(f"{path}: a folder; expected a model file or an ARPA file")
    return read_arpa(path, progress=progress)
