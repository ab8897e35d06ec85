"""How numbers and names are said."""

from __future__ import annotations

import re

__all__ = ["many", "printable"]

_SURROGATES = re.compile("[\ud800-\udfff]")


def many(n: int, one: str, more: str | None = None) -> str:
    """Give a number with its noun.

    >>> many(1, "word"), many(2000, "class", "classes")
    ('1 word', '2,000 classes')
    """
    return f"{n:,} {one if n == 1 else more or one + 's'}"


def printable(name: str) -> str:
    r"""Give a name that can be written as UTF-8; what cannot, a byte of the name of a file, becomes U+FFFD.

    >>> printable("caf\udce9") == "caf\N{REPLACEMENT CHARACTER}"
    True
    """
    return _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", name)
