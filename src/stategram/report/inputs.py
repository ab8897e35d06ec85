"""The files that were read, as a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from stategram.report.numbers import DASH
from stategram.report.table import Cell, Column, Table
from stategram.wording import size


class FileRead(NamedTuple):
    """A file; its size and SHA-256 are None if it could be read only once."""

    use: str
    name: str
    bytes: int | None
    sha256: str | None


def inputs_table(files: Iterable[FileRead]) -> Table:
    """Give files that were read: their name, use, size and SHA-256."""
    return Table(
        "Files that were read",
        (
            Column("File"),
            Column("Use", may_go=True),
            Column("Size", figures=True),
            Column("SHA-256", style="code"),
        ),
        tuple(
            (
                Cell(file.name),
                Cell(file.use or DASH),
                Cell(size(file.bytes) if file.bytes is not None else DASH),
                Cell(file.sha256 or DASH),
            )
            for file in files
        ),
    ).without_empty_columns()
