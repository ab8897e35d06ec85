"""Texts of any size in shards: parts of files that can be read by themselves, encoded one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec

from stategram.errors import BadDataError
from stategram.text.corpus import Corpus
from stategram.text.encoding import EncodingOptions
from stategram.text.feeding import Lines, compile_mark, feed_lines, read_lines
from stategram.text.reading import compression, display_name, file_sizes, read_blocks

SHARD_SIZE = 1 << 26
"""The default size of a shard in bytes of text: what it takes to count one fits into half a gigabyte."""


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
    """What was found while a shard was read; as `ReadStats`, but its lines are numbered from its part on."""

    n_bytes: int
    n_replaced: int = 0
    n_dropped: int = 0
    n_wide_spaces: int = 0
    wide_space_line: int = 0
    """Where the first of them is; 0 if there is none."""


def text_parts(names: Sequence[str], part_size: int = SHARD_SIZE) -> list[TextPart]:
    """Divide files into parts of about `part_size` bytes; a compressed file, or a pipe, is one part."""
    parts = []
    for name, size in zip(names, file_sizes(names), strict=True):
        n = 1 if size is None or size <= part_size or compression(name) else -(-size // part_size)
        if n == 1 or size is None:
            parts.append(TextPart(name, size=size))
        else:
            bounds = [size * i // n for i in range(n + 1)]
            parts += [TextPart(name, bounds[i], bounds[i + 1], bounds[i + 1] - bounds[i]) for i in range(n)]
    return parts


def read_part(
    part: TextPart, options: EncodingOptions, document_mark: str | None, shard_size: int = SHARD_SIZE
) -> Iterator[tuple[Corpus, ShardStats]]:
    """Yield a part of a text in shards of about `shard_size` bytes, each with a vocabulary of its own.

    A blank line at the end of a shard is a document start there, that of the sentence after its last one.
    """
    mark = compile_mark(document_mark)
    n_bytes = wide_line = 0
    encoder, tokenizer = options.encoder(), options.tokenizer()

    def shard() -> tuple[Corpus, ShardStats]:
        corpus = options.corpus(encoder, (), n_bytes, None, tokenizer)
        found = corpus.stats
        return corpus, ShardStats(n_bytes, found.n_replaced, found.n_dropped, found.n_wide_spaces, wide_line)

    for lines in _lines(part):
        try:
            wide_space = feed_lines(encoder, lines, mark, options.normalization.split, tokenizer)
        except BadDataError:
            if part.begin == 0:
                raise
            # Once more, with the number of its first line in the file.
            before = lines_before(part)
            feed_lines(
                options.encoder(),
                replace(lines, line=lines.line + before),
                mark,
                options.normalization.split,
                options.tokenizer(),
            )
            raise
        if wide_space is not None:
            wide_line = int(wide_space.rpartition(":")[2])
        n_bytes += len(lines.data)
        if n_bytes >= shard_size:
            yield shard()
            n_bytes = wide_line = 0
            encoder, tokenizer = options.encoder(), options.tokenizer()
    if n_bytes:
        yield shard()


def lines_before(part: TextPart) -> int:
    """Return the number of lines of a file before those of a part of it: the part begins after them."""
    if part.begin == 0:
        return 0
    first = next(_lines_of_range(part), None)
    end = part.begin if first is None else first.offset
    return sum(block.count(b"\n") for block, _ in read_blocks(part.name, end=end))


def _lines(part: TextPart) -> Iterator[Lines]:
    return read_lines(part.name) if part.end is None else _lines_of_range(part)


def _lines_of_range(part: TextPart) -> Iterator[Lines]:
    """Yield the lines that begin in a range of the bytes of a file; they are numbered from 1 on."""
    assert part.end is not None
    # The byte before the range shows whether a line begins with it.
    offset = max(part.begin - 1, 0)
    is_before = part.begin > 0
    waiting: list[bytes] = []  # from `offset` on
    size, line = 0, 1
    for read, taken in read_blocks(part.name, begin=offset):
        block = read
        if is_before:
            if (start := block.find(b"\n") + 1) == 0:
                offset += len(block)
            else:
                block = block[start:]
                offset += start
                is_before = False
            if offset >= part.end:
                return
            if is_before:
                continue
        waiting.append(block)
        size += len(block)
        # The last line is the one that the last byte of the range is in.
        is_last = offset + size >= part.end
        if is_last:
            cut = block.find(b"\n", max(part.end - 1 - offset - (size - len(block)), 0)) + 1
        else:
            cut = block.rfind(b"\n") + 1
        if cut == 0:
            continue
        waiting[-1] = block[:cut]
        data = b"".join(waiting)
        yield Lines(part.name, data, line, offset, taken)
        if is_last:
            return
        line += data.count(b"\n")
        offset += len(data)
        waiting, size = [block[cut:]], len(block) - cut
    if size:
        yield Lines(part.name, b"".join(waiting), line, offset, 0)
