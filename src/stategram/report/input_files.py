"""The table of files that were read."""

from __future__ import annotations

from collections.abc import Iterable

from stategram.report.numbers import DASH
from stategram.report.tables import Column, Table, table
from stategram.storage import InputFile
from stategram.wording import size


def input_files_table(files: Iterable[InputFile]) -> Table:
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
