"""How many clusters suit a text of a given size."""

from __future__ import annotations

import re

from stategram.clustering import usual_number

__all__ = ["SIZE", "by_size", "is_size"]

SIZE = r"(?:([0-9]*\.?[0-9]+) )?size"
_LEAST, _MOST = 25, 4000


def is_size(text: str) -> bool:
    """Whether a recipe means a number by the size of the text: ``size``, ``0.5 size``."""
    return re.fullmatch(SIZE, text) is not None


def by_size(text: str, events: int) -> int:
    """Give a number of clusters for a text of so many events: so many times the usual one.

    Examples
    --------
    >>> by_size("size", 2_000_000), by_size("size", 40_000_000), by_size("0.3 size", 2_000_000)
    (500, 2200, 150)

    """
    found = re.fullmatch(SIZE, text)
    assert found is not None
    number = float(found[1] or 1) * usual_number(events)
    if number >= 100:  # a round number is as good
        step = 25 if number < 1000 else 100
        number = round(number / step) * step
    return min(max(round(number), _LEAST), _MOST)
