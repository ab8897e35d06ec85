"""Files to the encoder: block by block, or in whole lines of which some start documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from stategram._core import TextEncoder
from stategram.errors import BadDataError, UsageError
from stategram.text.bad_bytes import conversion_advice
from stategram.text.reading import BLOCK_SIZE, display_name, read_blocks
from stategram.text.tokenizer import TokenizeForm, Tokenizer
from stategram.text.vocabulary import Split

# The encoder drops one at the beginning of what it is fed, and only there: in front of text that begins
# elsewhere, or in memory, it keeps a U+FEFF there from being taken for another.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_WIDE_SPACE = re.compile(r"[^\S\x00-\x7f]")


@dataclass(frozen=True)
class Lines:
    """Consecutive whole lines of a file."""

    name: str
    data: bytes
    line: int
    """The number of the first line, from 1."""
    offset: int
    """Where in the file its first byte is."""
    taken: int
    """The number of bytes of the file taken so far; fewer than of text if it is compressed."""


def read_lines(name: str, block_size: int = BLOCK_SIZE, *, live: bool = False) -> Iterator[Lines]:
    """Yield the lines of a file, about `block_size` bytes at a time; if `live`, see `read_blocks`."""
    line, offset = 1, 0
    for data, taken in _whole_lines(name, block_size, live):
        yield Lines(name, data, line, offset, taken)
        line += data.count(b"\n")
        offset += len(data)


def _whole_lines(name: str, block_size: int, live: bool) -> Iterator[tuple[bytes, int]]:
    """Yield blocks that end where lines do, and the bytes taken so far."""
    waiting: list[bytes] = []
    size = taken = 0
    for block, taken in read_blocks(name, live=live):
        waiting.append(block)
        size += len(block)
        # A block that is not full is all that is there for now.
        is_enough = size >= block_size or (live and len(block) < BLOCK_SIZE)
        if not is_enough or (end := block.rfind(b"\n") + 1) == 0:
            continue
        waiting[-1] = block[:end]
        yield b"".join(waiting), taken
        waiting = [block[end:]]
        size = len(waiting[0])
    if size:
        yield b"".join(waiting), taken


class LineTokenizer:
    """Tokenizes the lines of files before an encoder sees them."""

    def __init__(self, form: TokenizeForm, *, replace_errors: bool) -> None:
        self._tokenizer = Tokenizer(form)
        self._replace_errors = replace_errors
        self.n_replaced = 0
        """The number of invalid byte sequences that became U+FFFD."""

    def tokenize(self, lines: Lines, data: bytes) -> bytes:
        """Return `data`, which is `lines` or made of them, tokenized; refuse bad bytes, or replace them."""
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = data.decode(errors="replace")
        if "\0" in text or "\ufffd" in text:
            self.n_replaced += _check_lines(lines, replace_errors=self._replace_errors)
            text = text.replace("\0", "\ufffd")
        return self._tokenizer.lines(text).encode()


def feed_file(
    encoder: TextEncoder,
    name: str,
    document_mark: re.Pattern[str] | None,
    split: Split,
    tokenizer: LineTokenizer | None = None,
) -> Iterator[tuple[int, int, str | None]]:
    """Feed a file to an encoder, block by block.

    Yield the size of each block, the bytes taken so far, and where the first white space outside ASCII is, if
    it is the first that the encoder was fed; that may be known only after the last block, with a size of 0.
    """
    if document_mark is not None or tokenizer is not None:
        for lines in read_lines(name):
            yield len(lines.data), lines.taken, feed_lines(encoder, lines, document_mark, split, tokenizer)
        return
    before, taken, size, block = encoder.wide_spaces, 0, 0, b""
    for block, taken in read_blocks(name):
        _refuse_bad(encoder.feed(block), name, block, size)
        size += len(block)
        yield len(block), taken, None
    _refuse_bad(encoder.end_file(), name, block, size - len(block))
    is_first = before == 0 and encoder.wide_spaces > 0
    yield 0, taken, f"{display_name(name)}:{encoder.wide_space_line}" if is_first else None


def feed_lines(
    encoder: TextEncoder,
    lines: Lines,
    document_mark: re.Pattern[str] | None,
    split: Split,
    tokenizer: LineTokenizer | None = None,
) -> str | None:
    """Feed whole lines to an encoder, which takes them for a file of their own; refuse bad bytes.

    Return where the first white space outside ASCII is, if none was fed before.
    """
    before = encoder.wide_spaces
    data = lines.data.removeprefix(BYTE_ORDER_MARK) if lines.offset == 0 else lines.data
    if document_mark is not None:
        data = _blank_line_at_marks(data, document_mark, split)
    if tokenizer is not None:
        data = tokenizer.tokenize(lines, data)
    # A byte order mark alone is a blank line, as in `feed_file`.
    is_plain = document_mark is None and tokenizer is None
    if (data or is_plain) and (encoder.feed(BYTE_ORDER_MARK + data) or encoder.end_file()):
        # Found again in the lines as they are in the file.
        _check_lines(lines, replace_errors=False)
    if before or not encoder.wide_spaces:
        return None
    text = lines.data.decode(errors="replace")
    found = _WIDE_SPACE.search(text)
    assert found is not None
    return f"{display_name(lines.name)}:{lines.line + text.count(chr(10), 0, found.start())}"


def compile_mark(document_mark: str | None) -> re.Pattern[str] | None:
    """Return the regular expression of the lines that start documents."""
    if document_mark is None:
        return None
    try:
        return re.compile(document_mark)
    except re.error as error:
        raise UsageError(
            f"document_mark is {document_mark!r}, an invalid regular expression ({error}); "
            "expected one as Python's re reads it, such as '^ = [^=]'"
        ) from error


def _blank_line_at_marks(data: bytes, document_mark: re.Pattern[str], split: Split) -> bytes:
    """Return whole lines in which a line is blank where a document starts, and nowhere else."""
    # Bad bytes never swallow a line end: both have the same lines.
    texts = data.decode(errors="replace").replace("\r\n", "\n").split("\n")
    lines = data.split(b"\n")
    if data.endswith(b"\n"):
        texts.pop()
        lines.pop()
    marked = []
    for text, line in zip(texts, lines, strict=True):
        if document_mark.search(text):
            marked.append(b"\n")
        if text.strip() if split == "unicode" else line.strip():
            marked += (line, b"\n")
    return b"".join(marked)


def _check_lines(lines: Lines, *, replace_errors: bool) -> int:
    """Refuse bad bytes in the lines of a file, or return the number of those that would be replaced."""
    checker = TextEncoder(lowercase=False, replace_errors=replace_errors, threads=1)
    if bad := checker.feed(lines.data) or checker.end_file():
        at = bad[1] + lines.offset
        _refuse_bad((bad[0] + lines.line - 1, at, bad[2]), lines.name, lines.data, lines.offset)
    return checker.replaced


def _refuse_bad(bad: tuple[int, int, int] | None, name: str, data: bytes, start: int) -> None:
    """Raise an error for a bad byte, given its line, offset and value, if there is one.

    `data` is what was read last, from the offset `start` on.
    """
    if bad is None:
        return
    line, offset, byte = bad
    found = "a NUL byte" if byte == 0 else f"byte 0x{byte:02x}, which is not UTF-8 there"
    raise BadDataError(
        f"{display_name(name)}:{line}: {found} (byte offset {offset}); "
        f"{conversion_advice(data, max(0, offset - start), may_replace=True)}"
    )
