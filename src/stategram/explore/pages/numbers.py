"""How numbers are written in tables and charts."""

from __future__ import annotations

import math

from stategram.evaluation import Interval

DASH = "\N{EN DASH}"
"""Stands for a missing value."""

TIMES = "\N{MULTIPLICATION SIGN}"

MINUS = "\N{MINUS SIGN}"


_HYPHEN = "\N{NON-BREAKING HYPHEN}"


def unbroken(text: str) -> str:
    """Write n-gram so that no line breaks in it.

    >>> unbroken("5-gram model") == "5\N{NON-BREAKING HYPHEN}gram model"
    True
    """
    return text.replace("-gram", f"{_HYPHEN}gram")


def fraction(value: float) -> str:
    """Format a small part of a whole, with one digit at least.

    >>> fraction(0.61), fraction(0.034), fraction(0.0061), fraction(0.0001)
    ('61%', '3%', '0.6%', '<0.1%')
    """
    if value >= 0.01:
        return f"{value:.0%}"
    return f"{value:.1%}" if value >= 0.001 else "<0.1%"


def perplexity(value: float | None) -> str:
    """Format a perplexity.

    >>> perplexity(1234.56), perplexity(None), perplexity(float("inf"))
    ('1,234.6', '–', 'infinite')
    """
    if value is None:
        return DASH
    return f"{value:,.1f}" if math.isfinite(value) else "infinite"


def change(value: float | None) -> str:
    """Format a relative difference.

    >>> change(-0.118), change(0.02), change(-0.0001), change(None)
    ('−11.8%', '+2.0%', '0.0%', '–')
    """
    if value is None or not math.isfinite(value):
        return DASH
    size = f"{abs(value):,.1%}"
    return size if size == "0.0%" else f"{MINUS if value < 0 else '+'}{size}"


def interval(of: Interval | None) -> str:
    """Format a confidence interval of a perplexity.

    >>> interval(Interval(1200.0, 1234.56)), interval(None)
    ('1,200.0–1,234.6', '–')
    """
    return DASH if of is None else f"{perplexity(of.low)}{DASH}{perplexity(of.high)}"


def change_interval(of: Interval | None) -> str:
    """Format a confidence interval of a relative difference.

    >>> change_interval(Interval(-0.118, 0.02))
    '−11.8% to +2.0%'
    """
    return DASH if of is None else f"{change(of.low)} to {change(of.high)}"


def criterion(value: float) -> str:
    """Format a criterion in nats.

    >>> criterion(-24095522.5)
    '−24,095,522'
    """
    return f"{value:,.0f}".replace("-", MINUS)


def percent(fraction: float) -> str:
    """Format a fraction.

    >>> percent(0.256), percent(0.004)
    ('25.6%', '0.4%')
    """
    return f"{fraction:.1%}"


def count(value: int | None) -> str:
    """Format an integer.

    >>> count(12345), count(None)
    ('12,345', '–')
    """
    return DASH if value is None else f"{value:,}"


def count_range(least: int, most: int | None) -> str:
    """Format a range of counts.

    >>> count_range(0, 0), count_range(1, 5), count_range(1000, None)
    ('0', '1–5', '1,000+')
    """
    if most is None:
        return f"{least:,}+"
    return f"{least:,}" if least == most else f"{least:,}{DASH}{most:,}"
