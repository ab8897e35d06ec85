"""How long work reports its progress, and how it is asked to end early.

Results and notes of a step go to the `logging` module instead, to loggers below ``stategram``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from stategram.display import duration

Result = TypeVar("Result")

Progress = Callable[[float, str], object]
"""Called now and then with the fraction of the work that is done, 0 to 1, and a short message."""

Stop = Callable[[], bool]
"""Returns whether to end early with the best result so far."""


def subprogress(progress: Progress | None, begin: float, end: float, title: str = "") -> Progress | None:
    """Return the progress of a step that takes a task from fraction `begin` to `end`.

    Its messages begin with its title, if it has one.

    >>> reported = []
    >>> step = subprogress(lambda fraction, message: reported.append((fraction, message)), 0.5, 1.0)
    >>> step(0.5, "counting")
    >>> reported
    [(0.75, 'counting')]
    """
    if progress is None:
        return None
    return lambda fraction, message: progress(
        begin + (end - begin) * fraction, ": ".join(filter(None, (title, message)))
    )


def with_time_left(progress: Progress | None) -> Progress | None:
    """Return the progress of some work as a whole: one estimate of the time left, in place of its steps'.

    >>> whole = with_time_left(lambda fraction, message: print(fraction, message))
    >>> whole(0.0, "word classes: sweep 3, 20 moves, 15 s left")
    0.0 word classes: sweep 3, 20 moves
    >>> whole(1.0, "weights")
    1.0 weights, 0 ms left
    """
    if progress is None:
        return None
    began = time.monotonic()

    def report(fraction: float, message: str) -> None:
        kept = [part for part in message.split(", ") if not part.endswith(" left")]
        progress(fraction, ", ".join([*kept, *([time_left(began, fraction)] if fraction > 0 else [])]))

    return report


def report_bytes(progress: Progress | None, done: int, total: int | None) -> None:
    """Report bytes that were read, of `total`, which is None where it is not known, as for a pipe.

    >>> report_bytes(print, 3_000_000, 12_000_000)
    0.25 3 MB
    """
    if progress is not None:
        progress(done / total if total else 0.0, f"{done / 1e6:,.0f} MB")


def report_each(
    results: Iterable[Result], total: int, unit: str, progress: Progress | None
) -> Iterator[Result]:
    """Yield the results of `total` pieces of work, such as files; report how many are done and the time left.

    >>> list(report_each("ab", 2, "files", lambda fraction, message: print(fraction, message[:13])))
    0.5 1 of 2 files,
    1.0 2 of 2 files
    ['a', 'b']
    """
    began = time.monotonic()
    for done, result in enumerate(results, 1):
        if progress is not None:
            left = f", {time_left(began, done / total)}" if done < total else ""
            progress(done / total, f"{done:,} of {total:,} {unit}{left}")
        yield result


def time_left(began: float, fraction: float) -> str:
    """Return how long the rest of some work takes; `fraction` of it is done since `began`, a monotonic time.

    >>> time_left(time.monotonic() - 60, 0.75)
    '20 s left'
    """
    return f"{duration((time.monotonic() - began) * (1 - fraction) / fraction)} left"
