"""From counts to probabilities, one length of n-grams after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.counts import NgramCounts, NgramLevel, Workspace
from stategram.errors import UsageError
from stategram.models.discounts import absolute_discount, good_turing_ratios, kneser_ney_discounts
from stategram.progress import Progress
from stategram.resources import Resources
from stategram.text import BEGIN

SMOOTHINGS = ("kneser-ney", "katz", "absolute", "witten-bell")

_ALL = np.empty(0, np.uint8)  # what `keep` is where all n-grams are kept


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
    discounts: list[list[float]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def usual_min_counts(smoothing: str, order: int) -> tuple[int, ...]:
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
    counts: NgramCounts,
    smoothing: str,
    min_counts: Sequence[int],
    *,
    workspace: Workspace,
    progress: Progress | None = None,
) -> Estimates:
    """Estimate a model of all n-grams that were counted. The counts are used up on the way."""
    sizes = counts.sizes
    estimation = _Estimation(counts, smoothing, tuple(min_counts), workspace)
    for k in range(1, counts.order + 1):
        estimation.estimate_level(k)
        if progress:
            progress(sum(sizes[:k]) / sum(sizes), f"n-grams of {k} words estimated")
    counts.levels.clear()
    return estimation.estimates


class _Estimation:
    """The state of an estimation, level by level: exact probabilities of the last two levels."""

    def __init__(
        self,
        counts: NgramCounts,
        smoothing: str,
        min_counts: tuple[int, ...],
        workspace: Workspace,
    ) -> None:
        self.counts = counts
        self.smoothing = smoothing
        self.min_counts = min_counts
        self.workspace = workspace
        self.threads = Resources.current().threads
        self.begin = int(counts.numbers[BEGIN])
        self.n_predicted = len(counts.numbers) - 1  # all words but <s>
        root = np.array([1.0 / self.n_predicted])
        self.lower: NDArray[np.float64] = root
        self.estimates = Estimates(counts.numbers, [self._level(counts.levels[0], root, _ALL)])

    def estimate_level(self, k: int) -> None:
        level, history = self.counts.levels[k], self.counts.levels[k - 1]
        keep = _ALL
        if self.min_counts[k - 1] > 1:
            keep = (level.counts >= self.min_counts[k - 1]).astype(np.uint8)
        if k == 1:
            level.counts[self.begin] = 0
        if self.smoothing == "kneser-ney":
            _adjust(level, self.workspace)
            if k == 1:
                level.counts[self.begin] = 0
        probs = self.workspace.empty(len(level), np.float64)
        backoffs = self.workspace.empty(len(history), np.float64)
        counts_of_counts = _core.counts_of_counts(level.counts, 9).tolist()
        if self.smoothing == "katz":
            self._katz(k, level, history, keep, counts_of_counts, probs, backoffs)
        else:
            self._interpolate(k, level, history, keep, counts_of_counts, probs, backoffs)
        if k == 1:
            probs[self.begin] = 0.0
        self.estimates.levels[-1].backoffs = self._logs(backoffs)
        self.estimates.levels.append(self._level(level, probs, keep))
        level.counts = np.empty(0, np.uint32)
        self.lower = probs

    def _interpolate(
        self,
        k: int,
        level: NgramLevel,
        history: NgramLevel,
        keep: NDArray[np.uint8],
        counts_of_counts: list[int],
        probs: NDArray[np.float64],
        backoffs: NDArray[np.float64],
    ) -> None:
        found: Sequence[float]
        note = None
        if self.smoothing == "kneser-ney":
            found, note = kneser_ney_discounts(counts_of_counts)
        elif self.smoothing == "absolute":
            found, note = absolute_discount(counts_of_counts)
        else:
            found = (0.0, 0.0, 0.0)
        self._remember(k, found, note)
        for begin, end in self.workspace.chunks(len(history)):
            _core.interpolate_ngrams(
                history.first_child,
                level.counts,
                level.suffixes,
                self.lower,
                keep,
                np.array(found),
                self.smoothing == "witten-bell",
                begin,
                end,
                probs,
                backoffs,
                self.threads,
            )

    def _katz(
        self,
        k: int,
        level: NgramLevel,
        history: NgramLevel,
        keep: NDArray[np.uint8],
        counts_of_counts: list[int],
        probs: NDArray[np.float64],
        backoffs: NDArray[np.float64],
    ) -> None:
        ratios, note = good_turing_ratios(counts_of_counts, 1 if k == 1 else 7)
        self._remember(k, ratios[1:-1], note)
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
            if k > 1:
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
                    self.threads,
                )
        if k == 1:
            backoffs[0] = 1.0
            _distribute_rest(probs, self.begin)

    def _remember(self, k: int, discounts: Sequence[float], note: str | None) -> None:
        self.estimates.discounts.append([float(discount) for discount in discounts])
        if note:
            self.estimates.notes.append(f"n-grams of {k} {'word' if k == 1 else 'words'}: {note}")

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


def _distribute_rest(probs: NDArray[np.float64], begin: int) -> None:
    """Distribute what discounting left of the unigrams over the words without a count, or else over all."""
    left = 1.0 - probs.sum()
    predicted = np.ones(len(probs), bool)
    predicted[begin] = False
    takers = predicted & (probs == 0.0)
    if not takers.any():
        takers = predicted
    probs[takers] += left / np.count_nonzero(takers)
