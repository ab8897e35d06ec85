"""The manifest of a file, or of a folder of counts: its content, with the SHA-256 of every array or file.

There is one way to write a manifest, and nothing else is read: other spaces, other escapes or a key that is
there twice are damage. Its bounds keep what reads it later from trouble: 16 MB, 64 levels, integers of 64
bits. Numbers that are not finite are figures (an infinite perplexity), never settings.

The entries that a reader needs are the fields of an `Entries`; ``msgspec.convert`` refuses what has another
type with a ValidationError, a ValueError that says where it is. Sizes in a manifest are never relied on: what
is allocated follows from the sizes of arrays, which take up room in a file.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import DTypeLike, NDArray

import stategram
from stategram.errors import BadDataError, UsageError
from stategram.progress import Progress, report_bytes
from stategram.storage.files import shown_url

FORMAT_VERSION = 1
_MAX_BYTES = 2**24
_MAX_DEPTH = 64
_MAX_INTEGER = 2**63 - 1
_FIGURES = ("figures", "report")
Listed = Literal["arrays", "files"]
"""The key of a manifest under which the SHA-256 digests are."""
_LISTED_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z._/-]{0,199}")
_KIND = re.compile(r"[0-9A-Za-z][0-9A-Za-z _-]{0,99}")
# Integers that may be too large; strings may look like them.
_LONG_NUMBER = re.compile(rb"(?<![0-9])[0-9]{19}")


class OtherVersionError(BadDataError):
    """A file is of another version of the format: not damaged, but not to be read by this stategram."""


def manifest_bytes(
    manifest: Mapping[str, Any], kind: str, digests: Mapping[str, str], *, listed: Listed
) -> bytes:
    """Return a manifest as it is written; `digests` are the SHA-256 of all files or arrays by their names."""
    complete = {
        **manifest,
        "kind": kind,
        "format_version": FORMAT_VERSION,
        "stategram_version": stategram.__version__,
        listed: digests,
    }
    data = _canonical(complete)
    for problem in _problems(complete, data, listed):
        raise UsageError(f"a {kind} cannot be written: {problem}")
    return data


def parse_manifest(data: bytes, path: str | Path, *, listed: Listed) -> dict[str, Any]:
    """Return a manifest; BadDataError if it is damaged, OtherVersionError if it is of another version."""
    if len(data) > _MAX_BYTES:
        raise _damaged(path, f"its manifest has {len(data):,} bytes, expected at most {_MAX_BYTES:,}")
    try:
        manifest = json.loads(data)
        if not isinstance(manifest, dict):
            raise _damaged(path, "its manifest is not a JSON object")
        version = manifest.get("format_version")
        if type(version) is int and version != FORMAT_VERSION:
            raise OtherVersionError(
                f"{path}: format version {_short(version)}, this stategram reads {FORMAT_VERSION}; "
                "write it again, or use another version of stategram"
            )
        if _canonical(manifest) != data:
            raise _damaged(path, "the checksum of its manifest does not match")
    except BadDataError:
        raise
    except (ValueError, RecursionError) as error:
        raise _damaged(path, "its manifest is not a JSON object") from error
    for problem in _problems(manifest, data, listed):
        raise _damaged(path, problem)
    return manifest


def _canonical(manifest: Mapping[str, Any]) -> bytes:
    """Return the only way to write a manifest, with a checksum of everything else in it."""
    rest = {name: value for name, value in manifest.items() if name != "checksum"}
    checksum = hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
    return (json.dumps({**rest, "checksum": checksum}, indent=2, sort_keys=True) + "\n").encode()


def _problems(manifest: Mapping[str, Any], data: bytes, listed: Listed) -> Iterator[str]:
    """Yield what is wrong with a manifest; after the first, the others may not be right."""
    if len(data) > _MAX_BYTES:
        yield f"its manifest has {len(data):,} bytes, more than {_MAX_BYTES:,}"
    if b"\n" + b"  " * (_MAX_DEPTH + 1) in data:
        yield f"its manifest is nested more than {_MAX_DEPTH} levels deep"
    if type(manifest.get("format_version")) is not int:
        yield "its format version is not a number"
    kind, digests = manifest.get("kind"), manifest.get(listed)
    if not isinstance(kind, str) or not _KIND.fullmatch(kind):
        yield "its kind is not a name"
    if not isinstance(digests, dict) or not all(isinstance(digest, str) for digest in digests.values()):
        yield f"its {listed} are not names with their SHA-256"
    else:
        for name in digests:
            if not _LISTED_NAME.fullmatch(name):
                yield f"{_short(name)} is not a valid name in its {listed}"
    is_suspect = b"NaN" in data or b"Infinity" in data or _LONG_NUMBER.search(data)
    if is_suspect and _has_bad_number(manifest):
        yield "its manifest has a number that is too large, or not finite"


def _has_bad_number(value: Any, *, is_figure: bool = False) -> bool:
    """Whether there is an integer of more than 64 bits, or a number that is not finite and no figure."""
    if isinstance(value, dict):
        return any(
            _has_bad_number(part, is_figure=is_figure or name in _FIGURES) for name, part in value.items()
        )
    if isinstance(value, list | tuple):
        return any(_has_bad_number(part, is_figure=is_figure) for part in value)
    if isinstance(value, float):
        return not (is_figure or math.isfinite(value))
    return isinstance(value, int) and abs(value) > _MAX_INTEGER


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "..."


def _damaged(path: str | Path, what: str) -> BadDataError:
    return BadDataError(f"{path}: damaged, {what}; write it again")


Natural = Annotated[int, Meta(ge=0, lt=2**53)]
"""A count: a double holds it exactly."""

Finite = Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
"""A number that is neither infinite nor NaN."""

Positive = Annotated[float, Meta(gt=0, le=sys.float_info.max)]
"""A finite number above 0, such as a perplexity."""

Fraction = Annotated[float, Meta(ge=0, le=1)]
"""A number from 0 to 1, such as a weight."""

Name = Annotated[str, Meta(pattern=r"\A[^\0\t\n\r\ud800-\udfff]*\Z")]
"""A text that fits into a column of a table: without NUL, tabs, line ends and lone surrogates."""


_fields_of = cache(msgspec.structs.fields)


def check_fields(settings: msgspec.Struct) -> None:
    """Raise a UsageError if a field of settings has a value that is not of its type."""
    for field in _fields_of(type(settings)):
        value = getattr(settings, field.name)
        try:
            msgspec.convert(value, field.type)
        except msgspec.ValidationError as error:
            kind, reason = get_args(field.type)[0], str(error)
            choices = [one for of in (kind, *get_args(kind)) for one in get_args(of) if isinstance(one, str)]
            possible = f"possible: {', '.join(choices)}" if choices else reason[:1].lower() + reason[1:]
            raise UsageError(f"{field.name} is {value!r}; {possible}") from error


class Entries(msgspec.Struct, frozen=True, kw_only=True):
    """The entries of a manifest that are used; it may have others."""


def array_of(
    arrays: Mapping[str, NDArray[Any]], name: str, dtype: DTypeLike, *shape: int | None
) -> NDArray[Any]:
    """Return an array; ValueError if it is missing, or not of this type and shape. None is any size."""
    array = arrays.get(name)
    if array is None:
        raise ValueError(f"it has no array {name}")
    fits = len(array.shape) == len(shape) and all(
        size in (None, found) for size, found in zip(shape, array.shape, strict=True)
    )
    if not fits or array.dtype != dtype:
        expected = ", ".join("any" if size is None else str(size) for size in shape)
        raise ValueError(
            f"its array {name} is {array.dtype} of shape {array.shape}, expected {np.dtype(dtype)} of "
            f"shape ({expected})"
        )
    return array


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class InputFile:
    """An input and its use; size and SHA-256 are None if it could be read only once."""

    use: str
    name: str
    bytes: Natural | None
    sha256: str | None


def input_files(uses: Iterable[tuple[str, str]], progress: Progress | None = None) -> list[InputFile]:
    """Return name, size and SHA-256 of files, given as (use, name).

    ``-``, pipes and URLs have only a name; that of a URL has no password and no query.
    """
    uses = list(uses)
    sizes = {name: Path(name).stat().st_size for _, name in uses if name != "-" and Path(name).is_file()}
    show = progress and (lambda fraction, _: progress(fraction, "checksums of the inputs"))
    digests: dict[str, str] = {}
    done = 0
    for name in sizes:
        digest = hashlib.sha256()
        with Path(name).open("rb") as file:
            while block := file.read(1 << 22):
                digest.update(block)
                done += len(block)
                report_bytes(show, done, sum(sizes.values()))
        digests[name] = digest.hexdigest()
    return [InputFile(use, shown_url(name), sizes.get(name), digests.get(name)) for use, name in uses]


def input_file(use: tuple[str, str]) -> InputFile:
    """Return name, size and SHA-256 of one file, as `input_files` does."""
    return input_files([use])[0]
