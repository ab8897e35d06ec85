"""The files that something was made from: name, size and SHA-256, for manifests and reports."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from stategram.progress import Progress
from stategram.storage.checksum import file_sha256


@dataclass(frozen=True)
class InputFile:
    """A file and what it was used for; size and SHA-256 are None if it could be read only once."""

    use: str
    name: str
    bytes: int | None
    sha256: str | None


def input_files(uses: Iterable[tuple[str, str]], progress: Progress | None = None) -> list[InputFile]:
    """Return name, size and SHA-256 of files, given as (use, name); ``-`` and pipes have only a name."""
    uses = list(uses)
    sizes = {name: Path(name).stat().st_size for _, name in uses if name != "-" and Path(name).is_file()}
    total, done = sum(sizes.values()), 0
    digests: dict[str, str] = {}

    def count(n_bytes: int) -> None:
        nonlocal done
        done += n_bytes
        if progress is not None:
            progress(min(done / total, 1.0), "checksums of the inputs")

    for name in sizes:
        digests[name] = file_sha256(Path(name), count)
    return [InputFile(use, name, sizes.get(name), digests.get(name)) for use, name in uses]
