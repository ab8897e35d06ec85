"""Which rows are kept: those below a threshold, or the best ones that make up a part of the pool."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError

Scored: TypeAlias = "tuple[NDArray[np.float32], NDArray[np.int32]]"
"""The scores of rows, nan where there is none, and their numbers of words."""

_KEEP = re.compile(r"(?:(?P<percent>\d+(?:\.\d+)?) ?%|(?P<number>\d+) ?(?P<unit>rows?|words?)?)")
_DIGIT = 1 << 16


@dataclass(frozen=True)
class Keep:
    """How much to keep of a pool.

    >>> Keep.parse("10%"), Keep.parse("50000"), Keep.parse("2000000 words")
    (Keep(amount=0.1, unit='fraction'), Keep(amount=50000, unit='rows'), Keep(amount=2000000, unit='words'))
    """

    amount: float
    unit: str

    @classmethod
    def parse(cls, text: str | int | float) -> Keep:
        """Return what was written: ``10%`` of the words, ``50000`` rows, ``2000000 words``."""
        found = _KEEP.fullmatch(str(text).strip())
        amount = float(found["percent"] or found["number"]) if found else 0.0
        if not found or not amount or (found["percent"] and amount > 100):
            raise UsageError(
                f"keep is {text!r}; expected a part of the words such as 10%, rows such as 50000, or words "
                "such as '2000000 words'"
            )
        if found["percent"]:
            return cls(amount / 100, "fraction")
        return cls(int(found["number"]), "words" if (found["unit"] or "").startswith("word") else "rows")

    def budget(self, words: int) -> int:
        """Return how many rows or words to keep of a pool with so many words."""
        return int(self.amount * words) if self.unit == "fraction" else int(self.amount)


class Cut:
    """Tells which rows are kept, block by block, in the order of the pool.

    Parameters
    ----------
    threshold
        Rows with a lower score are kept.
    equal
        How many rows, or words, to keep of those whose score is the threshold, the first ones.
    by_words
        Whether `equal` are words.

    """

    def __init__(self, threshold: float, equal: float = np.inf, *, by_words: bool = False) -> None:
        with np.errstate(over="ignore"):
            self.threshold = np.float32(threshold)
        self._left = equal
        self._by_words = by_words

    def chosen(self, scores: NDArray[np.float32], words: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which of the next rows are kept."""
        chosen: NDArray[np.bool_] = scores < self.threshold
        ties = np.flatnonzero(scores == self.threshold)
        if len(ties):
            sizes = np.cumsum(words[ties] if self._by_words else np.ones(len(ties)), dtype=np.float64)
            n_kept = int(np.searchsorted(sizes, self._left, "right"))
            chosen[ties[:n_kept]] = True
            # After the first that does not fit none is kept, however short.
            self._left = 0.0 if n_kept < len(ties) else self._left - sizes[-1]
        return chosen


def find_cut(scored: Callable[[], Iterable[Scored]], keep: Keep) -> Cut | None:
    """Return the cut that keeps the best rows, as many as fit; None if there are no scores.

    `scored` is called three times and goes through the pool, piece by piece. The threshold is found as radix
    sort would: a histogram by the upper half of the bits of scores, then one by the lower half within the
    part where the cut is. So memory does not grow with the pool.
    """
    by_words = keep.unit != "rows"
    budget = keep.budget(sum(int(words.sum(dtype=np.int64)) for _, words in scored()))
    left = float(budget)
    prefix = 0
    for shift in (16, 0):
        histogram = np.zeros(_DIGIT)
        rows = np.zeros(_DIGIT, np.int64)
        for scores, words in scored():
            keys = _keys(scores)
            is_in = ~np.isnan(scores)
            if shift == 0:
                is_in &= keys >> np.uint32(16) == prefix
            digits = (keys[is_in] >> np.uint32(shift)) & np.uint32(_DIGIT - 1)
            rows += np.bincount(digits, minlength=_DIGIT)
            weights = words[is_in] if by_words else None
            histogram += np.bincount(digits, weights, _DIGIT)
        if not rows.any():
            return None
        totals = np.cumsum(histogram)
        # The first digit that does not fit; if all do, the last that there is.
        digit = int(np.searchsorted(totals, left, "right"))
        digit = min(digit, int(np.flatnonzero(rows)[-1]))
        left -= float(totals[digit] - histogram[digit])
        prefix = prefix << 16 | digit
    return Cut(_score(prefix), left, by_words=by_words)


def _keys(scores: NDArray[np.float32]) -> NDArray[np.uint32]:
    """Return integers in the order of floats."""
    # -0.0 becomes 0.0: two keys of equal scores would be two thresholds.
    bits = (scores + np.float32(0.0)).view(np.uint32)
    negative = bits >> np.uint32(31) == 1
    return np.where(negative, ~bits, bits | np.uint32(1 << 31))


def _score(key: int) -> float:
    """Return the score of a key."""
    bits = key & 0x7FFFFFFF if key >> 31 else ~key & 0xFFFFFFFF
    return float(np.array([bits], np.uint32).view(np.float32)[0])
