"""Figures in words and digits, as a reader sees them."""

from __future__ import annotations

import math

DASH = "\N{EN DASH}"
"""Stands for a figure that is not there."""

TIMES = "\N{MULTIPLICATION SIGN}"

_MINUS = "\N{MINUS SIGN}"


def perplexity(value: float | None) -> str:
    """Give a perplexity.

    >>> perplexity(1234.56), perplexity(None), perplexity(float("inf"))
    ('1,234.6', '–', 'infinite')
    """
    if value is None:
        return DASH
    return f"{value:,.1f}" if math.isfinite(value) else "infinite"


def change(value: float | None, *, up_to: bool = False) -> str:
    """Give a relative difference; `up_to`: the largest there is, in whole percents.

    >>> change(-0.118), change(0.02), change(-0.0001), change(None), change(-0.12, up_to=True)
    ('−11.8%', '+2.0%', '0.0%', '–', 'up to −12%')
    """
    if value is None or not math.isfinite(value):
        return DASH
    if up_to:
        return f"up to {_MINUS if value < 0 else '+'}{abs(value):,.0%}"
    said = f"{abs(value):,.1%}"
    return said if said == "0.0%" else f"{_MINUS if value < 0 else '+'}{said}"


def nats(value: float) -> str:
    """Give a criterion.

    >>> nats(-24095522.5)
    '−24,095,522'
    """
    return f"{value:,.0f}".replace("-", _MINUS)


def share(value: float) -> str:
    """Give a part of a whole.

    >>> share(0.256), share(0.004)
    ('25.6%', '0.4%')
    """
    return f"{value:.1%}"


def count(value: int | None) -> str:
    """Give a whole number.

    >>> count(12345), count(None)
    ('12,345', '–')
    """
    return DASH if value is None else f"{value:,}"


def band(least: int, most: int | None) -> str:
    """Give a range of counts.

    >>> band(0, 0), band(1, 5), band(1000, None)
    ('0', '1–5', '1,000+')
    """
    if most is None:
        return f"{least:,}+"
    return f"{least:,}" if least == most else f"{least:,}{DASH}{most:,}"
