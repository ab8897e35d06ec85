"""Lines of files and sentences in memory: the one way in which text reaches the encoder."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stategram._core import TextEncoder
from stategram.errors import BadDataError, UsageError
from stategram.resources import Resources
from stategram.text.columns import sentences_of
from stategram.text.corpus import Corpus, ReadStats
from stategram.text.files import BLOCK_SIZE, conversion_advice, display_name, read_blocks
from stategram.text.format import TextFormat, WordChoice
from stategram.text.prose import full_lines, join_lines, wrap_width
from stategram.text.tokenizer import Tokenizer
from stategram.text.vocabulary import SPECIAL_WORDS, Split, Vocabulary, split_line

_log = logging.getLogger(__name__)

# The encoder drops one at the beginning of what it is fed, and only there.
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_WIDE_SPACE = re.compile(r"[^\S\x00-\x7f]")
MARKERS = frozenset(SPECIAL_WORDS[1:])
"""The words that the encoder drops."""
_SENTENCES_PER_BLOCK = 10_000

Sentences: TypeAlias = "Iterable[str | Iterable[str] | Iterable[int]]"
"""Sentences in memory: strings, or lists of words, or lists of the integer ids of a tokenizer."""


@dataclass(frozen=True)
class Lines:
    """Consecutive whole lines of a file, or sentences in memory, one per line."""

    name: str | None
    """None for sentences in memory."""
    data: bytes
    line: int = 1
    """The number of the first line, from 1."""
    offset: int = 0
    """Where in the file its first byte is."""
    taken: int = 0
    """The number of bytes of the file taken so far; fewer than of text if it is compressed."""
    numbers: NDArray[np.int64] | None = None
    """Of the texts in a table: the row of each line."""
    is_full: list[bool] | None = None
    """Of hard-wrapped prose, which comes in whole paragraphs: for each line whether the next one goes on."""

    @property
    def texts(self) -> list[str]:
        """Each line as text, in which what cannot be read is replaced."""
        data = self.data if self.offset else self.data.removeprefix(_BYTE_ORDER_MARK)
        return data.decode(errors="replace").replace("\0", "\ufffd").split("\n")

    def number(self, line: Any) -> Any:
        """Return the number of a line, or of several, that are counted from 0."""
        return self.line + line if self.numbers is None else self.numbers[line]

    def place(self, line: int) -> str:
        """Return where a line is, counted from 0, as messages show it."""
        name = "sentence " if self.name is None else f"{display_name(self.name)}:"
        return f"{name}{self.number(line)}"


def read_lines(
    name: str, block_size: int = BLOCK_SIZE, *, live: bool = False, begin: int = 0, end: int | None = None
) -> Iterator[Lines]:
    """Yield the lines of a file, about `block_size` bytes at a time; if `live`, see `read_blocks`.

    With `begin` or `end`, only the lines that begin in this range of its bytes, numbered from 1 on.
    """
    # The byte before the range shows whether a line begins with it.
    offset, is_before = max(begin - 1, 0), begin > 0
    waiting: list[bytes | memoryview] = []  # from `offset` on
    size, line, taken = 0, 1, 0
    for block, taken in read_blocks(name, live=live, begin=offset):
        # A block that is not full is all that is there for now.
        is_all = live and len(block) < BLOCK_SIZE
        if is_before:
            start = block.find(b"\n") + 1
            is_before = start == 0
            offset += start or len(block)
            if end is not None and offset >= end:
                return
            if is_before:
                continue
            block = block[start:]  # noqa: PLW2901
        waiting.append(block)
        size += len(block)
        # The last line is the one that the last byte of the range is in.
        is_last = end is not None and offset + size >= end
        if end is not None and is_last:
            cut = block.find(b"\n", max(end - 1 - offset - (size - len(block)), 0)) + 1
        else:
            cut = block.rfind(b"\n") + 1 if size >= block_size or is_all else 0
        if cut == 0:
            continue
        waiting[-1] = memoryview(block)[:cut]
        data = b"".join(waiting)
        yield Lines(name, data, line, offset, taken)
        if is_last:
            return
        line += data.count(b"\n")
        offset += len(data)
        waiting, size = [block[cut:]], len(block) - cut
    if size:
        yield Lines(name, b"".join(waiting), line, offset, taken)


def read_paragraphs(
    name: str, block_size: int = BLOCK_SIZE, *, live: bool = False, begin: int = 0, end: int | None = None
) -> Iterator[Lines]:
    """Yield the lines of prose as `read_lines` does, but whole paragraphs of them if it is hard-wrapped.

    A range then begins after the first paragraph that ends at a line that begins in it, and ends likewise.
    """
    blocks = read_lines(name, block_size, live=live)
    first = next(blocks, None)
    if first is None:
        return
    width = 0 if live else wrap_width(first.data)
    if width:
        if begin == 0:
            _log.info("%s is hard-wrapped: the lines of a paragraph are joined", display_name(name))
        start = _after_paragraph(name, begin, width) if begin else 0
        if start is None:
            return
        begin, end = start, end and _after_paragraph(name, end, width)
    is_all = begin == 0 and end is None
    blocks = chain([first], blocks) if is_all else read_lines(name, block_size, begin=begin, end=end)
    if not width:
        yield from blocks
        return
    waiting = Lines(name, b"", offset=begin)
    for block in blocks:
        data = waiting.data + block.data
        is_full = full_lines(data, width)[: data.count(b"\n")]
        while is_full and is_full[-1]:
            is_full.pop()
        rest = data.split(b"\n", len(is_full))[-1]
        cut = len(data) - len(rest)
        whole = replace(waiting, data=data[:cut], taken=block.taken, is_full=is_full)
        if cut:
            yield whole
        line = waiting.line + whole.data.count(b"\n")
        waiting = replace(whole, data=rest, line=line, offset=waiting.offset + cut)
    if waiting.data:
        yield replace(waiting, is_full=[*full_lines(waiting.data, width)[:-1], False])


def _after_paragraph(name: str, offset: int, width: int) -> int | None:
    """Return the end of the first line that is not full and begins at a byte of a file or later."""
    last = b""
    for block in read_lines(name, begin=offset):
        data = last + block.data
        is_full = full_lines(data, width, math.inf)
        if False in is_full[: data.count(b"\n")]:
            rest = data.split(b"\n", is_full.index(False) + 1)[-1]
            return block.offset + len(block.data) - len(rest)
        last = data[data.rfind(b"\n", 0, -1) + 1 :]
    return None


def lines_of_sentences(sentences: Sentences, text_format: TextFormat) -> Iterator[Lines]:
    """Yield sentences in memory as lines, those that are strings tokenized; refuse what is no sentence."""
    if isinstance(sentences, str | bytes):
        raise TypeError("expected a list of sentences, got a string; for a file use read_corpus(path)")
    if not isinstance(sentences, Iterable) and not hasattr(sentences, "__arrow_c_stream__"):
        raise TypeError(f"expected a list of sentences, got {type(sentences).__name__}")
    sentences = sentences_of(sentences, text_format.text_column)
    tokenizer = None if text_format.tokenize is None else Tokenizer(text_format.tokenize)
    lines = (
        _line(number, sentence, text_format.split, tokenizer) for number, sentence in enumerate(sentences, 1)
    )
    line = 1
    while block := "".join(islice(lines, _SENTENCES_PER_BLOCK)):
        try:
            yield Lines(None, block.encode(), line)
        except UnicodeEncodeError as error:
            raise BadDataError(
                f"a surrogate, {block[error.start]!r}, in a sentence; decode the text as UTF-8"
            ) from error
        line += block.count("\n")


def _line(
    number: int, sentence: str | Iterable[str] | Iterable[int], split: Split, tokenizer: Tokenizer | None
) -> str:
    if isinstance(sentence, str):
        line = sentence.replace("\n", " ") + "\n"
        if tokenizer is None:
            return line
        if "\0" in line:
            raise BadDataError(f"sentence {number}: a NUL character; remove it")
        return tokenizer.lines(line)
    words = words_of(sentence)
    if words is None:
        advice = "; give the texts of the rows, or a data frame" if isinstance(sentence, Mapping) else ""
        raise TypeError(
            f"sentence {number}: found {sentence!r:.40}; expected a string, or a list of words or of integers"
            f"{advice}"
        )
    check_words(words, split, f"sentence {number}: ")
    return " ".join(words) + "\n"


def check_words(words: Sequence[str], split: Split, where: str = "") -> None:
    """Refuse words that are empty or hold white space: most likely they are sentences.

    >>> check_words(["the cat sat"], "unicode")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    stategram.errors.UsageError: the word 'the cat sat' is empty or holds white space; give the sentence ...
    """
    if split_line(" ".join(words), split) == words:
        return
    word = next(word for word in words if split_line(word, split) != [word])
    fitting = split_line(word, "ascii") == [word]
    raise UsageError(
        f"{where}the word {word!r} is empty or holds white space; give the sentence as one "
        "string to have it split"
        + (", or make a corpus with TextFormat(split='ascii') to keep the word" if fitting else "")
    )


def words_of(sentence: object) -> list[str] | None:
    """Return the words of a list of words or of integers, or an array of these; None if it is none.

    >>> import numpy as np
    >>> words_of(["the", "cat"]), words_of(np.array([101, 7]))
    (['the', 'cat'], ['101', '7'])
    """
    if isinstance(sentence, bytes | Mapping) or not isinstance(sentence, Iterable):
        return None
    words = sentence.tolist() if hasattr(sentence, "tolist") else list(sentence)
    if all(isinstance(word, str) for word in words):
        return words
    if all(isinstance(word, Integral) and not isinstance(word, bool) for word in words):
        return list(map(str, words))
    return None


class LineEncoder:
    """Encodes lines of one format, which are fed block by block."""

    def __init__(self, text_format: TextFormat, words: WordChoice | None = None) -> None:
        self.text_format = text_format
        self._words = words or WordChoice()
        self._mark = text_format.document_pattern
        self._tokenizer = None if text_format.tokenize is None else Tokenizer(text_format.tokenize)
        self._joins = text_format.tokenize == "prose"
        self._start()

    @classmethod
    def of_sentences(cls, text_format: TextFormat, words: WordChoice | None = None) -> LineEncoder:
        """Return the encoder of what `lines_of_sentences` yields."""
        plain = {"tokenize": None, "encoding_errors": "strict", "document_mark": None}
        is_plain = all(getattr(text_format, name) == value for name, value in plain.items())
        return cls(text_format if is_plain else text_format.override(plain), words)

    def _start(self) -> None:
        self._opened: TextEncoder | None = None
        self._replaced_before = 0
        self.n_bytes = 0
        """How many bytes of text were fed."""
        self.wide_space: str | None = None
        """Where the first white space outside ASCII is."""

    @property
    def _encoder(self) -> TextEncoder:
        if self._opened is None:
            self._opened = TextEncoder(
                self.text_format.lowercase,
                self.text_format.encoding_errors == "replace",
                Resources.current().threads,
                self.text_format.split == "ascii",
            )
        return self._opened

    def feed(self, lines: Lines) -> None:
        """Encode the next lines; refuse bad bytes."""
        data = lines.data
        if lines.is_full is not None and self._joins and self._mark is None:
            data = join_lines(data, lines.is_full)
        is_start = lines.name is not None and lines.offset == 0
        if self._mark is not None or self._tokenizer is not None:
            data = data.removeprefix(_BYTE_ORDER_MARK) if is_start else data
            data, is_start = self._prepared(lines, data), False
        # A U+FEFF elsewhere is no byte order mark.
        if not is_start and data.startswith(_BYTE_ORDER_MARK):
            data = _BYTE_ORDER_MARK + data
        encoder = self._encoder
        if encoder.feed(data) or encoder.end_file():
            _check_bytes(lines, replace_errors=False)  # as they are in the file
        self.n_bytes += len(lines.data)
        if self.wide_space is None and encoder.wide_spaces:
            text = lines.data.decode(errors="replace")
            found = _WIDE_SPACE.search(text)
            assert found is not None
            self.wide_space = lines.place(text.count("\n", 0, found.start()))

    def _prepared(self, lines: Lines, data: bytes) -> bytes:
        """Return lines with a blank one where a document starts, and tokenized."""
        if self._mark is not None:
            is_full = lines.is_full if self._joins else None
            data = _blank_line_at_marks(data, self._mark, self.text_format.split, is_full)
        if self._tokenizer is None:
            return data
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = data.decode(errors="replace")
        if "\0" in text or "\ufffd" in text:
            is_replaced = self.text_format.encoding_errors == "replace"
            self._replaced_before += _check_bytes(lines, replace_errors=is_replaced)
            text = text.replace("\0", "\ufffd")
        return self._tokenizer.lines(text).encode()

    def corpus(self, files: tuple[str, ...] = ()) -> Corpus:
        """Return all lines that were fed since the last corpus."""
        encoder = self._encoder
        # Python has the tables for lower case outside ASCII: all distinct words at once. A line end is not a
        # letter, so each word is lowercased as if it stood alone.
        lowered = encoder.wide_words().decode().lower().encode() if self.text_format.lowercase else b""
        encoder.merge(lowered, (self.text_format.digits or "").encode())
        vocabulary = self._words.vocabulary
        if vocabulary is None:
            chosen = encoder.choose_vocabulary(self._words.max_words, self._words.min_count)
            vocabulary = Vocabulary(*chosen)
        else:
            encoder.use_vocabulary(vocabulary.letters, vocabulary.offsets)
        ids, sentence_starts, document_starts = encoder.encode()
        replaced = encoder.replaced + self._replaced_before
        stats = ReadStats(
            files, self.n_bytes, replaced, encoder.dropped, encoder.wide_spaces, self.wide_space
        )
        self._start()
        return Corpus(ids, sentence_starts, vocabulary, stats, document_starts)

    def encode(self, lines: Lines) -> tuple[Corpus, NDArray[np.int64]]:
        r"""Return lines as sentences, and the line number of each; lines without words are left out.

        >>> encoder = LineEncoder(TextFormat(), WordChoice(Vocabulary.from_words(["the", "cat"])))
        >>> corpus, numbers = encoder.encode(Lines("text", b"the cat\n\na dog\n"))
        >>> corpus.ids.tolist(), numbers.tolist()
        ([3, 4, 2, 0, 0, 2], [1, 3])
        """
        self.feed(lines)
        corpus = self.corpus(() if lines.name is None else (display_name(lines.name),))
        return corpus, self._sentence_lines(lines, corpus.n_sentences)

    def _sentence_lines(self, block: Lines, n_sentences: int) -> NDArray[np.int64]:
        """Return the numbers of the lines that are sentences, that is, have words."""
        data = block.data
        numbers: NDArray[np.int64] = block.number(np.arange(data.count(b"\n") + (data[-1:] not in b"\n")))
        if len(numbers) == n_sentences:
            return numbers
        if self._tokenizer is not None:
            data = self._tokenizer.lines(data.decode(errors="replace").replace("\0", "\ufffd")).encode()
        lines = data.split(b"\n")
        found = [number for number, text in enumerate(lines) if text.strip()]
        if len(found) != n_sentences:
            # White space of other scripts, sentence markers, a byte order mark.
            if block.name is not None and block.offset == 0:
                lines[0] = lines[0].removeprefix(_BYTE_ORDER_MARK)
            found = [
                number
                for number, text in enumerate(lines)
                if not MARKERS.issuperset(split_line(text.decode(errors="replace"), self.text_format.split))
            ]
        return numbers[found]


def _blank_line_at_marks(
    data: bytes, is_mark: Callable[[str], bool], split: Split, is_full: list[bool] | None
) -> bytes:
    """Return whole lines in which a line is blank where a document starts, and nowhere else.

    Those that are full are joined with the next one, unless it is a mark.
    """
    # Bad bytes never swallow a line end: both have the same lines.
    texts = data.decode(errors="replace").replace("\r\n", "\n").split("\n")
    lines = data.split(b"\n")
    if data.endswith(b"\n"):
        texts.pop()
        lines.pop()
    marked = [b""]
    for text, line, full in zip(texts, lines, is_full or [False] * len(lines), strict=True):
        if is_mark(text):
            marked.append(b"\n" if marked[-1] != b" " else b"\n\n")
        if text.strip() if split == "unicode" else line.strip():
            marked += (line, b" " if full else b"\n")
    return b"".join(marked)


def _check_bytes(lines: Lines, *, replace_errors: bool) -> int:
    """Refuse bad bytes in lines, or return the number of those that would be replaced."""
    checker = TextEncoder(lowercase=False, replace_errors=replace_errors, threads=1)
    bad = checker.feed(lines.data) or checker.end_file()
    if bad is None:
        return checker.replaced
    line, offset, byte = bad
    if lines.name is None:
        raise BadDataError(f"{lines.place(line - 1)}: a NUL character; remove it")
    found = "a NUL byte" if byte == 0 else f"byte 0x{byte:02x}, which is not UTF-8 there"
    where = f" (byte offset {lines.offset + offset})" if lines.offset >= 0 else ""
    raise BadDataError(
        f"{lines.place(line - 1)}: {found}{where}; {conversion_advice(lines.data, offset, may_replace=True)}"
    )
