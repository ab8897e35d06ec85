"""From counts to probabilities, one length of n-grams after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.counts import NgramCounts, NgramLevel, Workspace
from stategram.display import plural
from stategram.errors import UsageError
from stategram.progress import Progress
from stategram.resources import Resources
from stategram.text import BEGIN

SMOOTHINGS = ("kneser-ney", "katz", "absolute", "witten-bell")

_ALL = np.empty(0, np.uint8)  # what `keep` is where all n-grams are kept
_EXACT = np.empty(0)  # the sums of probabilities that are not rounded


@dataclass(eq=False)
class EstimatedLevel:
    """The n-grams of one length with their log10 probabilities, and back-off weights of them as histories."""

    words: NDArray[np.uint32]
    first_child: NDArray[np.uint32]
    suffixes: NDArray[np.uint32]
    log_probs: NDArray[np.float32]
    backoffs: NDArray[np.float32]
    keep: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.words)


@dataclass(eq=False)
class Estimates:
    """A model before its arrays are put together; ``levels[0]`` is the empty n-gram."""

    numbers: NDArray[np.uint32]
    levels: list[EstimatedLevel]
    workspace: Workspace
    discounts: list[list[float]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    pruned: bool = False


def default_min_counts(smoothing: str, order: int) -> tuple[int, ...]:
    """Return the default minimum counts of n-grams: Katz drops longer ones that occur once."""
    return tuple(2 if smoothing == "katz" and k > 2 else 1 for k in range(1, order + 1))


def check_min_counts(min_counts: Sequence[int], order: int) -> None:
    """Refuse inconsistent minimum counts."""
    if len(min_counts) != order or min_counts[0] != 1 or list(min_counts) != sorted(min_counts):
        raise UsageError(
            f"min_counts (--min-count) {' '.join(map(str, min_counts))}: expected {order} numbers that do "
            "not decrease, one for each length of n-grams, the first of them 1"
        )


def estimate(
    counts: NgramCounts, smoothing: str, min_counts: Sequence[int], *, progress: Progress | None = None
) -> Estimates:
    """Estimate a model of all n-grams that were counted. The counts are used up on the way."""
    sizes = counts.sizes
    estimation = _Estimation(counts, smoothing)
    for k in range(1, counts.order + 1):
        estimation.estimate_level(k, min_counts[k - 1])
        if progress:
            progress(sum(sizes[:k]) / sum(sizes), f"n-grams of {k} words estimated")
    counts.levels.clear()
    return estimation.estimates


class _Estimation:
    """The state of an estimation, level by level: exact probabilities of the level below."""

    def __init__(self, counts: NgramCounts, smoothing: str) -> None:
        self.levels = counts.levels
        self.smoothing = smoothing
        self.workspace = counts.workspace
        self.threads = Resources.current().threads
        self.begin = int(counts.numbers[BEGIN])
        self.n_predicted = len(counts.numbers) - 1  # all words but <s>
        self.lower: NDArray[np.float64] = np.array([1.0 / self.n_predicted])
        root = self._level(self.levels[0], self.lower, _ALL)
        self.estimates = Estimates(counts.numbers, [root], self.workspace)

    def estimate_level(self, k: int, min_count: int) -> None:
        level, history = self.levels[k], self.levels[k - 1]
        keep = (level.counts >= min_count).astype(np.uint8) if min_count > 1 else _ALL
        if self.smoothing == "kneser-ney":
            _adjust(level, self.workspace)
        if k == 1:
            level.counts[self.begin] = 0
        probs = self.workspace.empty(len(level), np.float64)
        backoffs = self.workspace.empty(len(history), np.float64)
        weigh = self._katz if self.smoothing == "katz" else self._interpolate
        discounts, note = weigh(level, history, keep, probs, backoffs)
        if k == 1:
            probs[self.begin] = 0.0
        self.estimates.discounts.append([float(discount) for discount in discounts])
        if note:
            self.estimates.notes.append(f"n-grams of {plural(k, 'word')}: {note}")
        self.estimates.levels[-1].backoffs = self._logs(backoffs)
        self.estimates.levels.append(self._level(level, probs, keep))
        level.counts = np.empty(0, np.uint32)
        self.lower = probs

    def _interpolate(
        self,
        level: NgramLevel,
        history: NgramLevel,
        keep: NDArray[np.uint8],
        probs: NDArray[np.float64],
        backoffs: NDArray[np.float64],
    ) -> tuple[Sequence[float], str | None]:
        """Write interpolated probabilities and back-off weights; return the discounts, and a note on them."""
        discounts, note = (0.0, 0.0, 0.0), None
        if self.smoothing == "kneser-ney":
            discounts, note = kneser_ney_discounts(_counts_of_counts(level))
        elif self.smoothing == "absolute":
            discounts, note = absolute_discount(_counts_of_counts(level))
        for begin, end in self.workspace.chunks(len(history)):
            _core.interpolate_ngrams(
                history.first_child,
                level.counts,
                level.suffixes,
                self.lower,
                keep,
                np.array(discounts),
                self.smoothing == "witten-bell",
                begin,
                end,
                probs,
                backoffs,
                self.threads,
            )
        return discounts, note

    def _katz(
        self,
        level: NgramLevel,
        history: NgramLevel,
        keep: NDArray[np.uint8],
        probs: NDArray[np.float64],
        backoffs: NDArray[np.float64],
    ) -> tuple[Sequence[float], str | None]:
        """Write discounted probabilities and back-off weights; return the ratios, and a note on them."""
        unigrams = history is self.levels[0]
        ratios, note = good_turing_ratios(_counts_of_counts(level), 1 if unigrams else 7)
        for begin, end in self.workspace.chunks(len(history)):
            _core.discount_ngrams(
                history.first_child,
                level.counts,
                keep,
                np.array(ratios),
                self.n_predicted,
                begin,
                end,
                probs,
                self.threads,
            )
            if not unigrams:
                _core.normalise_ngrams(
                    history.first_child,
                    level.suffixes,
                    self.lower,
                    keep,
                    self.n_predicted,
                    begin,
                    end,
                    probs,
                    backoffs,
                    _EXACT,
                    self.threads,
                )
        if unigrams:
            backoffs[0] = 1.0
            # What discounting left goes to the words without a count, or else to all.
            predicted = np.arange(len(probs)) != self.begin
            takers = predicted & (probs == 0.0)
            takers = takers if takers.any() else predicted
            probs[takers] += (1.0 - probs.sum()) / np.count_nonzero(takers)
        return ratios[1:-1], note

    def _level(
        self, level: NgramLevel, probs: NDArray[np.float64], keep: NDArray[np.uint8]
    ) -> EstimatedLevel:
        no_backoffs = np.zeros(len(level) if len(level.first_child) else 0, np.float32)
        return EstimatedLevel(
            level.words, level.first_child, level.suffixes, self._logs(probs), no_backoffs, keep
        )

    def _logs(self, values: NDArray[np.float64]) -> NDArray[np.float32]:
        logs: NDArray[Any] = self.workspace.empty(len(values), np.float32)
        for begin, end in self.workspace.chunks(len(values)):
            _core.log10_floats(values[begin:end], logs[begin:end], self.threads)
        return logs


def _adjust(level: NgramLevel, workspace: Workspace) -> None:
    """Replace counts by continuation counts, except for n-grams that nothing can precede."""
    if len(level.continuations):
        for begin, end in workspace.chunks(len(level)):
            part = level.continuations[begin:end]
            np.copyto(level.counts[begin:end], part, where=part > 0)
        level.continuations = np.empty(0, np.uint32)


def _counts_of_counts(level: NgramLevel) -> list[int]:
    found: list[int] = _core.counts_of_counts(level.counts, 9).tolist()
    return found


# Discounts of counts leave probability for unseen words. n[r] is the number of n-grams that occur r times.


def kneser_ney_discounts(n: Sequence[int]) -> tuple[tuple[float, float, float], str | None]:
    """Return the discounts of counts of 1, 2 and more (Chen and Goodman 1998); a note on defaults.

    Y = n1 / (n1 + 2 n2),  D1 = 1 - 2 Y n2 / n1,  D2 = 2 - 3 Y n3 / n2,  D3 = 3 - 4 Y n4 / n3
    """
    if all(n[r] > 0 for r in range(1, 5)):
        y = n[1] / (n[1] + 2 * n[2])
        found = (
            1 - 2 * y * n[2] / n[1],
            2 - 3 * y * n[3] / n[2],
            3 - 4 * y * n[4] / n[3],
        )
        # A discount of 0 could leave a history without any weight for unseen words.
        if all(0 < discount <= r for r, discount in enumerate(found, 1)):
            return found, None
    return (0.5, 1.0, 1.5), (
        "too few rare ones to estimate discounts from; the default discounts 0.5, 1 and 1.5 are used"
    )


def absolute_discount(n: Sequence[int]) -> tuple[tuple[float, float, float], str | None]:
    """Return the discount D = n1 / (n1 + 2 n2) of counts of 1, 2 and more (Ney, Essen and Kneser 1994)."""
    if n[1] > 0 and n[2] > 0:
        found = n[1] / (n[1] + 2 * n[2])
        return (found, found, found), None
    return (0.5, 0.5, 0.5), "too few rare ones to estimate a discount from; 0.5 is used"


def good_turing_ratios(n: Sequence[int], max_count: int) -> tuple[list[float], str | None]:
    """Return the ratio by which counts of 0, 1, ..., `max_count` and more are multiplied (Katz 1987).

    r* = (r + 1) n[r + 1] / n[r],  A = (m + 1) n[m + 1] / n[1],  ratio = (r* / r - A) / (1 - A),
    m = max_count. The ratio of all greater counts is 1, and so is one that is not between 0 and 1.
    """
    ratios = [0.0] + [1.0] * (max_count + 1)
    wrong = []
    a = (max_count + 1) * n[max_count + 1] / n[1] if n[1] > 0 else 1.0
    for r in range(1, max_count + 1):
        if n[r] > 0 and n[r + 1] > 0 and a < 1:
            ratio = ((r + 1) * n[r + 1] / (r * n[r]) - a) / (1 - a)
            if 0 < ratio <= 1:
                ratios[r] = ratio
                continue
        wrong.append(r)
    note = f"counts of {', '.join(map(str, wrong))} are not discounted: too irregular" if wrong else None
    return ratios, note
