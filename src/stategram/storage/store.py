"""Finished steps on disk, found again by what they were made from.

A store is a folder of one run, such as a training:

    run.json             the run it belongs to
    run.lock             held by the process at work
    NAME-KEY.safetensors a finished step, or a resume point: a file that `write_archive` wrote
    NAME-KEY.json        a small result

NAME says what kind of step it is, KEY is the beginning of its `content_key`: the SHA-256 of its settings and
inputs. Every entry appears atomically, so a run that was killed at any moment continues from what is there.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from stategram.errors import BadDataError, StategramError, UsageError
from stategram.storage.files import atomic_write, is_temporary, lock, remove_all, temporary_files
from stategram.storage.manifest import OtherVersionError, file_sha256

_log = logging.getLogger(__name__)
_RUN = "run.json"
_LOCK = "run.lock"
T = TypeVar("T")


@dataclass(frozen=True)
class Store:
    """The finished steps of one run."""

    path: Path

    @classmethod
    @contextmanager
    def open(cls, folder: str | os.PathLike[str], run: str, *, kind: str) -> Iterator[Store]:
        """Create the store of a run, or continue with it, and hold it; `kind` is for messages.

        UsageError if the folder belongs to another run; StategramError if another process holds it.
        """
        path = Path(folder)
        begun = path / _RUN
        if not begun.exists():
            check_store(path, kind)
            try:
                path.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise StategramError(f"cannot make the folder {path}: {error.strerror or error}") from error
        with lock(path / _LOCK):
            if begun.exists():
                _check_run(begun, run, kind)
            remove_all([stale for stale in path.iterdir() if is_temporary(stale)])
            if not begun.exists():
                atomic_write(begun, json.dumps({"run": run}).encode() + b"\n")
            yield cls(path)

    def place(self, name: str, key: str) -> Path:
        """Return the file of an entry, whether it is there or not."""
        return self.path / f"{name}-{key[:16]}.safetensors"

    def get(self, name: str, key: str, load: Callable[[Path], T]) -> T | None:
        """Load an entry; None if there is none.

        A damaged entry is removed, with a warning, to be computed again. One that another version of
        stategram wrote is not damaged: OtherVersionError.
        """
        place = self.place(name, key)
        if not place.exists():
            return None
        try:
            return load(place)
        except OtherVersionError:
            raise
        except BadDataError as error:
            _log.warning("damaged, computed again: %s", error)
            self.remove(name, key)
            return None

    def get_json(self, name: str, key: str) -> Any:
        """Return a small result; None if there is none, or if it is damaged."""
        try:
            return json.loads(self._json(name, key).read_bytes())
        except FileNotFoundError:
            return None
        except (ValueError, RecursionError) as error:
            _log.warning("damaged, computed again: %s: %s", self._json(name, key), error)
            return None

    def put_json(self, name: str, key: str, value: object) -> None:
        """Keep a small result."""
        atomic_write(self._json(name, key), json.dumps(value).encode() + b"\n")

    def remove(self, name: str, key: str) -> None:
        """Remove an entry, if it is there."""
        remove_all([self.place(name, key)])

    def remove_all(self, name: str) -> None:
        """Remove all entries of a name."""
        remove_all([entry for entry in self.path.iterdir() if entry.name.rpartition("-")[0] == name])

    def _json(self, name: str, key: str) -> Path:
        return self.place(name, key).with_suffix(".json")


def is_store(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder is a store."""
    return Path(folder, _RUN).is_file()


def is_fresh(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder holds nothing but what a run leaves that was killed as soon as it began."""
    path = Path(folder)
    if not path.is_dir():
        return not path.exists()
    return set(path.iterdir()) <= {path / _LOCK, *temporary_files(path / _RUN)}


def check_store(folder: str | os.PathLike[str], kind: str) -> None:
    """UsageError if a folder holds something else."""
    if not is_store(folder) and not is_fresh(folder):
        raise UsageError(f"{folder} exists and is not a {kind}; choose another folder")


def _check_run(begun: Path, run: str, kind: str) -> None:
    try:
        found = json.loads(begun.read_bytes())["run"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadDataError(f"{begun}: damaged; remove the folder {begun.parent} to start over") from error
    if found != run:
        raise UsageError(
            f"{begun.parent} belongs to another {kind}: with other texts, settings, seed or version of "
            "stategram; give the same ones, or choose another folder"
        )


def add_arrays(digest: Any, arrays: Iterable[NDArray[Any]]) -> None:
    """Add arrays to a digest, each with its length: no other arrays give the same one.

    >>> first, second = hashlib.sha256(), hashlib.sha256()
    >>> add_arrays(first, [np.arange(3), np.arange(0)])
    >>> add_arrays(second, [np.arange(0), np.arange(3)])
    >>> first.digest() == second.digest()
    False

    """
    for array in arrays:
        digest.update(len(array).to_bytes(8, "little"))
        digest.update(np.ascontiguousarray(array).data)


def content_key(*inputs: object) -> str:
    """Return the SHA-256 of settings and inputs.

    Inputs are arrays, files (a `Path`), bytes, or anything that JSON can hold.

    >>> content_key({"a": 1, "b": 2}) == content_key({"b": 2, "a": 1})
    True
    >>> content_key([1], [2]) == content_key([1, 2])
    False
    """
    digest = hashlib.sha256()
    for one in inputs:
        if isinstance(one, np.ndarray):
            digest.update(b"array" + one.dtype.str.encode())
            add_arrays(digest, [one])
        elif isinstance(one, Path):
            digest.update(b"file" + bytes.fromhex(file_sha256(one)))
        elif isinstance(one, bytes):
            digest.update(b"bytes" + len(one).to_bytes(8, "little") + one)
        else:
            data = json.dumps(one, sort_keys=True).encode()
            digest.update(b"json" + len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()
