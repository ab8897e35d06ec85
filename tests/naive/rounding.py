"""The nearest of a few values, one by one."""

from __future__ import annotations

from collections.abc import Sequence


def nearest(table: Sequence[float], value: float) -> float:
    """Return the value of a table that is nearest to another; the lesser of two equally near."""
    if value in table:
        return value
    return min((one for one in table if one != float("-inf")), key=lambda one: (abs(one - value), one))
