"""A text in blocks of lines, with their numbers: for output that is written while the text is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from stategram.progress import Progress, report_bytes
from stategram.text.corpus import Corpus
from stategram.text.encoding import EncodingErrors, EncodingOptions, Normalization, no_words, refuse_bad
from stategram.text.reading import display_name, read_blocks, total_size
from stategram.text.vocabulary import SPECIAL_WORDS, Vocabulary

_MARKERS = frozenset(SPECIAL_WORDS[1:])


@dataclass(frozen=True, eq=False)
class LineBlock:
    """Consecutive lines of a text."""

    corpus: Corpus
    """Their sentences, with a vocabulary of the normalized words, in which several ids may be one word."""
    spelling: Vocabulary
    """The words as they are spelled in the text, with the same ids."""
    lines: NDArray[np.int64]
    """The line number of each sentence, from 1."""


def read_line_blocks(
    name: str,
    normalization: Normalization,
    *,
    encoding_errors: EncodingErrors = "strict",
    progress: Progress | None = None,
    block_size: int = 1 << 22,
) -> Iterator[LineBlock]:
    """Read a file, one sentence per line, as `read_corpus` does, but in blocks of whole lines.

    A block has about `block_size` bytes. `BadDataError` is raised after the last block if none has words.
    """
    options = EncodingOptions(encoding_errors=encoding_errors)
    total = total_size([name])
    line = 1
    offset = 0
    has_words = False
    for data, taken in _whole_lines(name, block_size):
        block = _encode(data, options, normalization, display_name(name), line, offset)
        line += data.count(b"\n")
        offset += len(data)
        if block.corpus.n_events:
            has_words = True
            yield block
        report_bytes(progress, taken, total)
    if not has_words:
        raise no_words([name], offset)


def _whole_lines(name: str, block_size: int) -> Iterator[tuple[bytes, int]]:
    """Yield blocks that end where lines do, and the bytes taken so far."""
    waiting: list[bytes] = []
    size = taken = 0
    for block, taken in read_blocks(name):
        waiting.append(block)
        size += len(block)
        if size < block_size or (end := block.rfind(b"\n") + 1) == 0:
            continue
        waiting[-1] = block[:end]
        yield b"".join(waiting), taken
        waiting = [block[end:]]
        size = len(waiting[0])
    if size:
        yield b"".join(waiting), taken


def _encode(
    data: bytes, options: EncodingOptions, normalization: Normalization, name: str, line: int, offset: int
) -> LineBlock:
    encoder = options.encoder()
    # A byte order mark is one at the beginning of the file only; an empty line hides what looks like one.
    hidden = b"" if offset == 0 else b"\n"
    bad = encoder.feed(hidden + data) or encoder.end_file()
    if bad:
        n = len(hidden)
        refuse_bad((bad[0] + line - 1 - n, bad[1] + offset - n, bad[2]), name)
    corpus = options.corpus(encoder, (name,), len(data))
    words = normalization.apply(corpus.vocabulary.words)
    normalized = Vocabulary.from_encoded([word.encode() for word in words])
    lines = _sentence_lines(data, corpus.n_sentences, line, offset == 0)
    return LineBlock(replace(corpus, vocabulary=normalized), corpus.vocabulary, lines)


def _sentence_lines(data: bytes, n_sentences: int, line: int, is_first: bool) -> NDArray[np.int64]:
    """Return the numbers of the lines that are sentences, that is, have words."""
    if data.count(b"\n") + (not data.endswith(b"\n")) == n_sentences:
        return np.arange(line, line + n_sentences, dtype=np.int64)
    lines = data.split(b"\n")
    found = [number for number, text in enumerate(lines, line) if text.strip()]
    if len(found) != n_sentences:
        # White space of other scripts, sentence markers, a byte order mark.
        if is_first:
            lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
        found = [
            number
            for number, text in enumerate(lines, line)
            if not _MARKERS.issuperset(text.decode(errors="replace").split())
        ]
    return np.array(found, np.int64)
