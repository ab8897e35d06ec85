"""Hard-wrapped prose, as books are printed: whether a text is, and its paragraphs as lines.

A line is full if the first word of the next one would not have fitted. A text is hard-wrapped if it has some
paragraphs whose lines are nearly all full but the last, and few end a sentence. Then each full line is joined
with the next; all others end a paragraph, as blank ones do.
"""

from __future__ import annotations

import re
from itertools import pairwise

from stategram.text.files import BLOCK_SIZE

# The beginning of a file decides, so that all parts of it are read alike.
_SAMPLE = 1 << 16
_MIN_LINES, _MIN_WIDTH, _MIN_PARAGRAPHS = 8, 40, 3
_FULL, _ENDED = 0.9, 0.4
_SENTENCE_END = re.compile(r"""[.!?:;\u0964\u3002\u2026]["')\]\u2019\u201d\u00bb]*$""")


def wrap_width(data: bytes) -> int:
    r"""Return the width that the lines of a text that begins like this are broken at; 0 if they are not.

    >>> wrap_width(b"It was the best of times, it was the worst of\ntimes, it was the age of wisdom\n")
    0
    >>> wrap_width((b"It was the best of times, it was the worst of\n" * 9 + b"times.\n\n") * 3)
    45
    """
    lines = [line.rstrip() for line in data[:_SAMPLE].decode(errors="replace").split("\n")]
    if len(data) > _SAMPLE:
        lines.pop()
    inner = [(line, after) for line, after in pairwise(lines) if line and after]
    # Headings and tables of contents stand beside prose.
    long = [(line, after) for line, after in inner if len(line) >= _MIN_WIDTH]
    last = [
        len(line)
        for before, line, after in zip(lines, lines[1:], [*lines[2:], ""], strict=False)
        if before and line and not after
    ]
    if len(last) < _MIN_PARAGRAPHS or len(long) < max(_MIN_LINES, len(inner) // 2):
        return 0
    width = sorted(len(line) for line, _ in long)[9 * len(long) // 10]
    n_full = sum(_is_full(line, after, width) for line, after in long)
    n_ended = sum(_SENTENCE_END.search(line) is not None for line, _ in long)
    n_short = sum(10 * length < 9 * width for length in last)  # as those of a list are not
    is_wrapped = n_full >= _FULL * len(long) and n_ended <= _ENDED * len(long) and 2 * n_short >= len(last)
    return width if is_wrapped else 0


def _is_full(line: str, after: str | None, width: int) -> bool:
    """Return whether the first word of the next line, if it is known, would not have fitted."""
    length = len(line.rstrip())
    if 5 * length < 3 * width:
        return False
    words = ["x" * width] if after is None else after.split(maxsplit=1)
    return bool(words) and length + 1 + len(words[0]) > width


def full_lines(data: bytes, width: int, most: float = BLOCK_SIZE) -> list[bool]:
    """Return for each line whether it is full; the last one may be.

    A paragraph of more than `most` characters ends with the line that exceeds it.
    """
    lines = data.decode(errors="replace").removesuffix("\n").split("\n")
    found, size = [], 0
    for i, line in enumerate(lines):
        size += len(line) + 1
        found.append(size <= most and _is_full(line, lines[i + 1] if i + 1 < len(lines) else None, width))
        size *= found[-1]
    return found


def join_lines(data: bytes, is_full: list[bool]) -> bytes:
    r"""Return whole paragraphs, each as one line; blank lines stay.

    >>> join_lines(b"The cat\nsat.\n \nIt\nran.\n", [True, False, False, True, False])
    b'The cat sat.\n \nIt ran.\n'
    """
    *lines, rest = data.split(b"\n")
    ends = zip(lines, is_full)  # noqa: B905 - the last line may have no end
    return b"".join(line.rstrip() + b" " if full else line + b"\n" for line, full in ends) + rest


def unwrapped(text: str) -> str:
    """Return a text with its paragraphs as lines, if it is hard-wrapped."""
    data = text.encode(errors="surrogatepass")
    if not (width := wrap_width(data)):
        return text
    is_full = [*full_lines(data, width)[:-1], False]
    return join_lines(data, is_full).decode(errors="surrogatepass")
