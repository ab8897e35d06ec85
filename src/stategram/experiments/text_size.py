"""How many clusters suit a text of a given size."""

from __future__ import annotations

import math
import re

__all__ = ["by_size", "is_size"]

_SIZE = re.compile(r"(?:([0-9]*\.?[0-9]+) )?size")
# On texts of two million and of 40 million words, about so many classes predicted held-out text best.
_OF_THE_ROOT = 0.35
_LEAST, _MOST = 25, 4000


def is_size(text: str) -> bool:
    """Whether a recipe means a number by the size of the text: ``size``, ``0.5 size``."""
    return _SIZE.fullmatch(text) is not None


def by_size(text: str, events: int) -> int:
    """Give a number of clusters for a text of so many events: so many times 0.35 of its square root.

    Examples
    --------
    >>> by_size("size", 2_000_000), by_size("size", 40_000_000), by_size("0.3 size", 2_000_000)
    (500, 2200, 150)

    """
    found = _SIZE.fullmatch(text)
    assert found is not None
    number = float(found[1] or 1) * _OF_THE_ROOT * math.sqrt(events)
    if number >= 100:  # a round number is as good
        step = 25 if number < 1000 else 100
        number = round(number / step) * step
    return min(max(round(number), _LEAST), _MOST)
