"""Models on disk: model files and ARPA files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar, overload

from stategram.errors import BadDataError, StategramError
from stategram.formats.arpa import read_arpa
from stategram.models import Model, load_model
from stategram.progress import Progress
from stategram.storage import is_archive

_M = TypeVar("_M", bound=Model)


@overload
def open_model(
    path: str | os.PathLike[str], *, verify: bool = True, progress: Progress | None = None
) -> Model: ...
@overload
def open_model(
    path: str | os.PathLike[str],
    kind: type[_M],
    *,
    verify: bool = True,
    progress: Progress | None = None,
) -> _M: ...
def open_model(
    path: str | os.PathLike[str],
    kind: type[_M] | None = None,
    *,
    verify: bool = True,
    progress: Progress | None = None,
) -> _M | Model:
    """Open a model: a file that `save` wrote, or else an ARPA file, plain or compressed.

    Arrays of a model file stay on the disk until they are used.

    Parameters
    ----------
    path
        The file; ``-`` is an ARPA file on stdin.
    kind
        The class that the model has to be of, such as `NgramModel`; any by default.
    verify
        Read every array of a model file and compare its SHA-256 with the manifest. Without it a model of any
        size is open at once; damage in it may give wrong numbers or an error later.
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
    if not is_ours and Path(path).is_dir():
        raise BadDataError(f"{path}: a folder; expected a model file or an ARPA file")
    model = (
        load_model(path, verify=verify, progress=progress) if is_ours else read_arpa(path, progress=progress)
    )
    if kind is not None and not isinstance(model, kind):
        raise BadDataError(
            f"{path}: a model of the class {type(model).__name__}, expected {kind.__name__}; "
            "give another file"
        )
    return model
