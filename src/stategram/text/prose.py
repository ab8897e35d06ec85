"""Hard-wrapped prose, as books are printed: whether a text is, and its paragraphs as lines.

A text is hard-wrapped if nearly all of its lines are full, so that the first word of the next line would not
have fitted, and few end a sentence. Its paragraphs end at blank lines.
"""

from __future__ import annotations

import re
from itertools import pairwise

# The beginning of a file decides, so that all parts of it are read alike.
_SAMPLE = 1 << 16
_MIN_LINES, _MIN_WIDTH = 8, 40
_FULL, _ENDED, _LINES_PER_BLANK = 0.7, 0.4, 200
_SENTENCE_END = re.compile(r"""[.!?:;\u0964\u3002\u2026]["')\]\u2019\u201d\u00bb]*$""")
_INNER_END = re.compile(rb"(?<=\S)[ \t\r\f\v]*\n(?=[ \t\f\v]*\S)")
BLANK_LINE = re.compile(rb"^[ \t\r\f\v]*\n", re.MULTILINE)


def is_hard_wrapped(data: bytes) -> bool:
    r"""Return whether the lines of a text that begins like this are parts of paragraphs.

    >>> is_hard_wrapped(b"It was the best of times, it was the worst of\ntimes, it was the age of wisdom\n")
    False
    >>> is_hard_wrapped((b"It was the best of times, it was the worst of\n" * 9 + b"\n") * 2)
    True
    """
    lines = data[:_SAMPLE].decode(errors="replace").splitlines()
    if len(data) > _SAMPLE:
        lines.pop()
    inner = [
        (line, len(line.rstrip()), len(after.split(maxsplit=1)[0]))
        for line, after in pairwise(lines)
        if line.strip() and after.strip()
    ]
    n_blank = sum(not line.strip() for line in lines)
    if len(inner) < _MIN_LINES or len(inner) > _LINES_PER_BLANK * n_blank:
        return False
    width = sorted(length for _, length, _ in inner)[9 * len(inner) // 10]
    n_full = sum(length + 1 + word > width and 5 * length >= 3 * width for _, length, word in inner)
    n_ended = sum(_SENTENCE_END.search(line.rstrip()) is not None for line, _, _ in inner)
    return width >= _MIN_WIDTH and n_full >= _FULL * len(inner) and n_ended <= _ENDED * len(inner)


def join_lines(data: bytes) -> bytes:
    r"""Return whole paragraphs, each as one line; blank lines stay.

    >>> join_lines(b"The cat\nsat.\n \nIt\nran.\n")
    b'The cat sat.\n \nIt ran.\n'
    """
    return _INNER_END.sub(b" ", data)


def unwrapped(text: str) -> str:
    """Return a text with its paragraphs as lines, if it is hard-wrapped."""
    data = text.encode(errors="surrogatepass")
    return join_lines(data).decode(errors="surrogatepass") if is_hard_wrapped(data) else text
