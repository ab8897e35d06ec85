"""How many clusters suit a text of a given size."""

from __future__ import annotations

import math
import re

SIZE = r"(?:([0-9]*\.?[0-9]+) )?size"
_LEAST, _MOST = 25, 4000
# On texts of two million and of 40 million words, about so many clusters predicted held-out text best.
_OF_THE_ROOT = 0.35


def usual_number(n_events: int) -> float:
    """Give the number of clusters that suits most texts of so many events: 0.35 of the square root.

    >>> round(usual_number(2_000_000)), round(usual_number(40_000_000))
    (495, 2214)
    """
    return _OF_THE_ROOT * math.sqrt(n_events)


def is_size(text: str) -> bool:
    """Whether a text means a number by the size of the text: ``size``, ``0.5 size``."""
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
