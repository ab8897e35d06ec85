"""Models on disk, whatever they are: a model folder or an ARPA file."""

from __future__ import annotations

import os
from pathlib import Path

from stategram.errors import StategramError
from stategram.formats.arpa import read_arpa
from stategram.models import Model, load_model
from stategram.progress import Progress
from stategram.storage import restore_replaced


def open_model(
    path: str | os.PathLike[str],
    *,
    verify: bool = True,
    progress: Progress | None = None,
) -> Model:
    """Open a model: a folder that `save` wrote, or else an ARPA file, plain or compressed.

    Parameters
    ----------
    path
        The folder or the file; ``-`` is an ARPA file on stdin.
    verify
        Compare the SHA-256 of each file of a folder with its manifest. Without it a folder is open at once.
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
    if os.fspath(path) != "-" and not restore_replaced(path):
        raise StategramError(
            f"{path}: no such model; expected a model folder or an ARPA file: check the name"
        )
    if Path(path).is_dir():
        return load_model(path, verify=verify, progress=progress)
    return read_arpa(path, progress=progress)
