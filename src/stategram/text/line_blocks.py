"""A text in blocks of lines, with their numbers: for output that is written while the text is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from stategram.errors import BadDataError
from stategram.progress import Progress, report_bytes
from stategram.text.corpus import Corpus, ReadStats
from stategram.text.encoding import (
    EncodingErrors,
    EncodingOptions,
    Normalization,
    Sentences,
    no_words,
    sentence_blocks,
    warn_of_wide_spaces,
)
from stategram.text.feeding import (
    BYTE_ORDER_MARK,
    Lines,
    LineTokenizer,
    compile_mark,
    feed_lines,
    read_lines,
)
from stategram.text.reading import display_name, total_size
from stategram.text.unsegmented import warn_if_unsegmented
from stategram.text.vocabulary import SPECIAL_WORDS, Split, Vocabulary, split_line

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
    document_mark: str | None = None,
    progress: Progress | None = None,
    block_size: int = 1 << 22,
    live: bool = False,
) -> Iterator[LineBlock]:
    """Read a file, one sentence per line, as `read_corpus` does, but in blocks of whole lines.

    A line stays one sentence if it is tokenized as prose, too.

    A block has about `block_size` bytes; if `live`, it is what is there of a pipe or a terminal. A blank line
    at its end starts a document in the next block; at the end of the text it starts none. `BadDataError` is
    raised after the last block if none has words.
    """
    # Words are normalized once they are spelled as in the text.
    options = EncodingOptions(
        normalization=replace(normalization.of_lines, lowercase=False, digits=None),
        encoding_errors=encoding_errors,
    )
    tokenizer = options.tokenizer()
    total = total_size([name])
    mark = compile_mark(document_mark)
    n_bytes = n_wide_spaces = 0
    wide_space = None
    has_words = after_mark = False
    for lines in read_lines(name, block_size, live=live):
        block = _encode(lines, options, normalization, mark, tokenizer)
        n_bytes += len(lines.data)
        corpus, after_mark = _continue_documents(block.corpus, after_mark)
        n_wide_spaces += corpus.stats.n_wide_spaces
        wide_space = wide_space or corpus.stats.first_wide_space
        if corpus.n_events:
            if not has_words:
                warn_if_unsegmented(block.spelling)
            has_words = True
            yield replace(block, corpus=corpus)
        report_bytes(progress, lines.taken, total)
    if not has_words:
        raise no_words([name], n_bytes)
    warn_of_wide_spaces(ReadStats(n_wide_spaces=n_wide_spaces, first_wide_space=wide_space))


def block_of_sentences(sentences: Sentences, normalization: Normalization) -> LineBlock:
    """Return sentences in memory, as `corpus_from_sentences` takes them, as lines; one may have no words.

    >>> block = block_of_sentences(["The cat", "", ["A", "dog"]], Normalization(lowercase=True))
    >>> block.lines, block.spelling.words[3:], block.corpus.vocabulary.words[3:]
    (array([1, 3]), ('A', 'The', 'cat', 'dog'), ('a', 'the', 'cat', 'dog'))
    """
    data = b"".join(sentence_blocks(sentences, normalization.of_lines))
    if b"\0" in data:
        number = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise BadDataError(f"sentence {number}: a NUL character; remove it")
    options = EncodingOptions(normalization=Normalization(split=normalization.split))
    lines = Lines("sentences", BYTE_ORDER_MARK + data, 1, 0, len(data))
    block = _encode(lines, options, normalization, None, None)
    return replace(block, corpus=_continue_documents(block.corpus, False)[0])


def encode_lines(
    lines: Lines,
    options: EncodingOptions,
    mark: re.Pattern[str] | None = None,
    tokenizer: LineTokenizer | None = None,
) -> tuple[Corpus, NDArray[np.int64]]:
    r"""Return lines as sentences, and the line number of each; lines without words are left out.

    >>> lines = Lines("text", b"the cat\n\na dog\n", 1, 0, 15)
    >>> corpus, numbers = encode_lines(lines, EncodingOptions(Vocabulary.from_words(["the", "cat"])))
    >>> corpus.ids.tolist(), numbers.tolist()
    ([3, 4, 2, 0, 0, 2], [1, 3])
    """
    encoder, split = options.encoder(), options.normalization.split
    wide_space = feed_lines(encoder, lines, mark, split, tokenizer)
    corpus = options.corpus(encoder, (display_name(lines.name),), len(lines.data), wide_space)
    return corpus, _sentence_lines(lines, corpus.n_sentences, split, tokenizer)


def _encode(
    lines: Lines,
    options: EncodingOptions,
    normalization: Normalization,
    mark: re.Pattern[str] | None,
    tokenizer: LineTokenizer | None,
) -> LineBlock:
    corpus, numbers = encode_lines(lines, options, mark, tokenizer)
    normalized = corpus.vocabulary
    if normalization.lowercase or normalization.digits:
        words = normalization.apply(normalized.words)
        normalized = Vocabulary.from_encoded([word.encode() for word in words])
    return LineBlock(replace(corpus, vocabulary=normalized), corpus.vocabulary, numbers)


def _continue_documents(corpus: Corpus, after_mark: bool) -> tuple[Corpus, bool]:
    """Return the text with a mark in front, if one is due, and without one at its end; whether it had one."""
    starts = corpus.document_starts
    if after_mark and not np.any(starts[:1] == 0):
        starts = np.concatenate((np.zeros(1, np.int64), starts))
    at_end = bool(np.any(starts[-1:] == corpus.n_sentences))
    return replace(corpus, document_starts=starts[: len(starts) - at_end]), at_end


def _sentence_lines(
    block: Lines, n_sentences: int, split: Split, tokenizer: LineTokenizer | None
) -> NDArray[np.int64]:
    """Return the numbers of the lines that are sentences, that is, have words."""
    data, line = block.data, block.line
    if data.count(b"\n") + (not data.endswith(b"\n")) == n_sentences:
        return np.arange(line, line + n_sentences, dtype=np.int64)
    if tokenizer is not None:
        data = tokenizer.tokenize(block, data)
    lines = data.split(b"\n")
    found = [number for number, text in enumerate(lines, line) if text.strip()]
    if len(found) != n_sentences:
        # White space of other scripts, sentence markers, a byte order mark.
        if block.offset == 0:
            lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
        found = [
            number
            for number, text in enumerate(lines, line)
            if not _MARKERS.issuperset(split_line(text.decode(errors="replace"), split))
        ]
    return np.array(found, np.int64)
