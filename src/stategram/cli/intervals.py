"""Confidence intervals and differences as the tables of commands show them."""

from __future__ import annotations

from collections.abc import Iterable

from stategram.cli.console import Console
from stategram.evaluation import Difference, Interval, Resampling
from stategram.wording import plural

# What is less than this is shown as nothing, decided or not.
_SMALL = 5e-5


def interval_text(interval: Interval | None) -> str:
    """Return the ends of an interval; nothing if there is none.

    >>> interval_text(Interval(1234.5, 1300.25))
    '1,234.5 to 1,300.2'
    """
    return "" if interval is None else str(interval)


def relative_text(difference: Difference | None) -> str:
    """Return a difference, its interval, and whether it is decided.

    >>> relative_text(Difference(-0.031, -0.04, -0.02, decided=True))
    '    -3.10%   -4.00% to -2.00%'
    """
    if difference is None:
        return f"{'-':>10}"
    if max(abs(difference.low), abs(difference.high)) < _SMALL:
        return f"{'0.00%':>10}   within 0.005%"
    ends = f"{difference.low:+.2%} to {difference.high:+.2%}"
    return f"{difference.relative:>+10.2%}   {ends}{'' if difference.decided else ', not decided'}"


def relative_column(title: str, differences: Iterable[Difference | None]) -> list[str]:
    """Return a title and differences as a column of a table, all of the same width."""
    cells = [title, *map(relative_text, differences)]
    width = max(map(len, cells))
    return [f"{cell:<{width}}" for cell in cells]


def show_few_units(resampling: Resampling | None, console: Console) -> None:
    """Show a note if intervals are unreliable."""
    if resampling is not None and resampling.is_unreliable:
        console.info(
            f"      note: the text has only {plural(resampling.units, resampling.unit)}: the confidence "
            "intervals are unreliable, most likely too short"
        )
