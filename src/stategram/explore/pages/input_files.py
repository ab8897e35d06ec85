"""The table of the files that a page is made of."""

from __future__ import annotations

from collections.abc import Iterable

from stategram.display import Column, DisplayTable, display_table
from stategram.storage import InputFile
from stategram.wording import size


def input_files_table(files: Iterable[InputFile]) -> DisplayTable:
    """Return name, use, size and SHA-256 of files."""
    return display_table(
        "Input files",
        (Column("File", "file"), "Use", Column("Size", "number"), Column("SHA-256", "code")),
        [
            (file.name, file.use, None if file.bytes is None else size(file.bytes), file.sha256)
            for file in files
        ],
    )
