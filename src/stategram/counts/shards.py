"""Texts of any size in shards: parts of files that can be read by themselves, encoded one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec

from stategram.errors import BadDataError
from stategram.resources import Resources
from stategram.text import (
    Corpus,
    LineEncoder,
    Lines,
    TextFormat,
    compression,
    display_name,
    file_sizes,
    read_blocks,
    read_texts,
    row_format,
)

SHARD_SIZE = 1 << 26
"""The default size of a shard in bytes of text: what it takes to count one fits into half a gigabyte."""
MIN_SHARD_SIZE = 1 << 10
"""Each shard becomes some files: with smaller ones there is more of them than of text."""
_MIN_DEFAULT_SHARD = 1 << 20


@dataclass(frozen=True)
class TextPart:
    """A file, or a range of the bytes of one that is not compressed: all lines that begin there."""

    name: str
    begin: int = 0
    end: int | None = None
    """None for the whole file."""
    size: int | None = None
    """In bytes, as it is stored; None if it is not known."""

    def __str__(self) -> str:
        name = display_name(self.name)
        return name if self.end is None else f"{name} (bytes {self.begin:,} to {self.end:,})"


class ShardStats(msgspec.Struct, frozen=True):
    """What was found while a shard was read."""

    n_bytes: int
    n_replaced: int = 0
    n_dropped: int = 0
    n_wide_spaces: int = 0
    wide_space_part: int = 0
    """Where the first of them is: the part, of those that were read together,"""
    wide_space_line: int = 0
    """and the line, numbered from the beginning of the part; 0 if there is none."""


def default_shard_size() -> int:
    """Return the bytes of text in a shard: fewer than `SHARD_SIZE` if memory is limited."""
    memory = Resources.current().memory
    return SHARD_SIZE if memory is None else max(_MIN_DEFAULT_SHARD, min(SHARD_SIZE, memory // 12))


def text_parts(names: Sequence[str], part_size: int = SHARD_SIZE) -> list[TextPart]:
    """Divide files into parts of about `part_size` bytes; a pipe, a table or a compressed file is one."""
    parts = []
    for name, size in zip(names, file_sizes(names), strict=True):
        is_whole = size is None or size <= part_size or row_format(name) != "text" or compression(name)
        n = 1 if size is None or is_whole else -(-size // part_size)
        if n == 1 or size is None:
            parts.append(TextPart(name, size=size))
        else:
            bounds = [size * i // n for i in range(n + 1)]
            parts += [TextPart(name, bounds[i], bounds[i + 1], bounds[i + 1] - bounds[i]) for i in range(n)]
    return parts


def bundles_of(parts: Sequence[TextPart], size: int = SHARD_SIZE) -> list[tuple[TextPart, ...]]:
    """Put neighbouring parts together, as long as they have at most `size` bytes in all.

    >>> [len(bundle) for bundle in bundles_of([TextPart("a", size=3), TextPart("b", size=4)] * 2, 8)]
    [2, 2]
    """
    bundles: list[tuple[TextPart, ...]] = []
    room = 0
    for part in parts:
        if bundles and part.size is not None and part.size <= room:
            bundles[-1] += (part,)
            room -= part.size
        else:
            bundles.append((part,))
            room = 0 if part.size is None else size - part.size
    return bundles


def read_parts(
    parts: Sequence[TextPart], text_format: TextFormat, shard_size: int = SHARD_SIZE
) -> Iterator[tuple[Corpus, ShardStats]]:
    """Yield parts of a text in shards of about `shard_size` bytes, each with a vocabulary of its own.

    A blank line at the end of a shard is a document start there, that of the sentence after its last one.
    """
    encoder = LineEncoder(text_format)
    first_wide_space = 0, 0  # part and line

    def shard() -> tuple[Corpus, ShardStats]:
        corpus = encoder.corpus()
        found = corpus.stats
        counts = found.n_bytes, found.n_replaced, found.n_dropped, found.n_wide_spaces
        return corpus, ShardStats(*counts, *first_wide_space)

    for number, part in enumerate(parts):
        for lines in _lines(part, text_format):
            had_wide_space = encoder.wide_space is not None
            try:
                encoder.feed(lines)
            except BadDataError:
                if part.begin == 0:
                    raise
                # With the number of the line in the file, not in the part.
                LineEncoder(text_format).feed(
                    replace(lines, line=lines.line + lines_before(part, text_format))
                )
                raise
            if encoder.wide_space is not None and not had_wide_space:
                first_wide_space = number, int(encoder.wide_space.rpartition(":")[2])
            if encoder.n_bytes >= shard_size:
                yield shard()
                first_wide_space = 0, 0
    if encoder.n_bytes:
        yield shard()


def lines_before(part: TextPart, text_format: TextFormat) -> int:
    """Return the number of lines of a file before those of a part of it: the part begins after them."""
    if part.begin == 0:
        return 0
    first = next(_lines(part, text_format), None)
    end = part.begin if first is None else first.offset
    return sum(block.count(b"\n") for block, _ in read_blocks(part.name, end=end))


def _lines(part: TextPart, text_format: TextFormat) -> Iterator[Lines]:
    return read_texts(part.name, text_format, begin=part.begin, end=part.end)
