"""Bytes that are not UTF-8: which encoding they may be of, and how to convert them."""

from __future__ import annotations

import re

from stategram.errors import BadDataError

_SAMPLE = 4096
_MARKS = (
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
# Letters of Western languages outside ASCII are few.
_MOST_WIDE = 0.2
_NOT_ASCII = re.compile(rb"[\x80-\xff]")


def conversion_advice(data: bytes, at: int = 0, *, may_replace: bool = False) -> str:
    """Return what to do about a text with a bad byte: `data` is a part of it, in which the byte is `at`.

    >>> conversion_advice("ab".encode("utf-16"))
    'it looks like UTF-16: convert it with iconv -f utf-16 -t utf-8'
    """
    encoding = _wide_encoding(data)
    if encoding is not None:
        return f"it looks like {encoding.upper()}: convert it with iconv -f {encoding} -t utf-8"
    replacing = "; or read it with --encoding-errors replace (encoding_errors='replace' in Python)"
    around = data[max(0, at - _SAMPLE // 2) : at + _SAMPLE // 2]
    if data[at : at + 1] == b"\0":
        advice = "convert the file to UTF-8 text"
    elif len(_NOT_ASCII.findall(around)) < _MOST_WIDE * len(around):
        advice = "if it is Latin-1 or Windows-1252, convert it with iconv -f windows-1252 -t utf-8"
    else:
        advice = "convert it to UTF-8 with iconv -f ENCODING -t utf-8"
    return advice + (replacing if may_replace else "")


def check_utf8(name: str, data: bytes) -> None:
    """Refuse data that is not UTF-8, or has NUL; the error names the line."""
    try:
        data.decode()
        at = data.find(0)
        found = "a NUL byte"
    except UnicodeDecodeError as error:
        at = error.start
        found = f"the byte 0x{data[at]:02x} is not UTF-8"
    if at >= 0:
        number = data.count(b"\n", 0, at) + 1
        raise BadDataError(f"{name}:{number}: {found}; expected text in UTF-8: {conversion_advice(data, at)}")


def _wide_encoding(data: bytes) -> str | None:
    """Return the encoding of two or four bytes for each letter that a text begins in, None if in none."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding
    sample = data[: min(_SAMPLE, len(data) - len(data) % 4)]
    # Of each four bytes, which are NUL in most cases.
    is_zero = [2 * sample[place::4].count(0) > len(sample) // 4 for place in range(4)]
    encodings = {
        (False, True, False, True): "utf-16le",
        (True, False, True, False): "utf-16be",
        (False, True, True, True): "utf-32le",
        (True, True, True, False): "utf-32be",
    }
    return encodings.get((is_zero[0], is_zero[1], is_zero[2], is_zero[3])) if sample else None
