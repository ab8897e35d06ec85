"""The table of files that were read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from stategram.report.numbers import DASH
from stategram.report.tables import Column, Table, table
from stategram.wording import size


class FileRead(NamedTuple):
    """A file; its size and SHA-256 are None if it could be read only once."""

    use: str
    name: str
    bytes: int | None
    sha256: str | None


def input_files_table(files: Iterable[FileRead]) -> Table:
    """Return name, use, size and SHA-256 of files."""
    return table(
        "Input files",
        (Column("File"), Column("Use"), Column("Size", "number"), Column("SHA-256", "code")),
        [
            (
                file.name,
                file.use or DASH,
                DASH if file.bytes is None else size(file.bytes),
                file.sha256 or DASH,
            )
            for file in files
        ],
    )
