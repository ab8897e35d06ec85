"""The manifest of a file, or of a folder of counts: its content, with the SHA-256 of every array or file.

There is one way to write a manifest, and nothing else is read: other spaces, other escapes or a key that is
there twice are damage. Its bounds keep what reads it later from trouble: 16 MB, 64 levels, integers of 64
bits. Numbers that are not finite are figures (an infinite perplexity), never settings.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import stategram
from stategram.errors import BadDataError, UsageError

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
