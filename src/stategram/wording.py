"""How numbers are said."""

from __future__ import annotations

__all__ = ["many"]


def many(n: int, one: str, more: str | None = None) -> str:
    """Give a number with its noun.

    >>> many(1, "word"), many(2000, "class", "classes")
    ('1 word', '2,000 classes')
    """
    return f"{n:,} {one if n == 1 else more or one + 's'}"
