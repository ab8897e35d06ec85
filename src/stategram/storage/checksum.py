"""SHA-256 of files, arrays and settings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from stategram.progress import Progress, report_bytes
from stategram.storage.urls import shown_url


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_sha256(
    files: Iterable[AbstractContextManager[BinaryIO]], total: int, progress: Progress | None = None
) -> Iterator[str]:
    """Yield the SHA-256 of each of several files, given as what opens them; `total` is their size."""
    done = 0
    for opened in files:
        digest = hashlib.sha256()
        with opened as file:
            while block := file.read(1 << 22):
                digest.update(block)
                done += len(block)
                report_bytes(progress, done, total)
        yield digest.hexdigest()


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


@dataclass(frozen=True)
class InputFile:
    """An input and its use; size and SHA-256 are None if it could be read only once."""

    use: str
    name: str
    bytes: int | None
    sha256: str | None


def input_files(uses: Iterable[tuple[str, str]], progress: Progress | None = None) -> list[InputFile]:
    """Return name, size and SHA-256 of files, given as (use, name).

    ``-``, pipes and URLs have only a name; that of a URL has no password and no query.
    """
    uses = list(uses)
    sizes = {name: Path(name).stat().st_size for _, name in uses if name != "-" and Path(name).is_file()}
    show = progress and (lambda fraction, _: progress(fraction, "checksums of the inputs"))
    opened = (Path(name).open("rb") for name in sizes)  # noqa: SIM115  they are closed one after the other
    digests = dict(zip(sizes, files_sha256(opened, sum(sizes.values()), show), strict=True))
    return [InputFile(use, shown_url(name), sizes.get(name), digests.get(name)) for use, name in uses]


def input_file(use: tuple[str, str]) -> InputFile:
    """Return name, size and SHA-256 of one file, as `input_files` does."""
    return input_files([use])[0]
