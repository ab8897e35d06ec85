"""The exchange along a context tree: figure 3 of Ueberla and Gransden (1996).

    for each level of the tree, from the root to the leaves
        iterate until the criterion gains too little
            for all words w and all nodes n of the level
                move w, and all contexts below n together, to where the criterion gains most

Word classes are the case of one level. What the paper does not have, annealing and shortlists, are entries of
the schedule; checkpoints are calls of `save`, progress and early ends calls of the monitor. The two inner
lines are `Exchange.sweep`, whose loop is in `_core/exchange/exchange.hpp`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from stategram.clustering.exchange import Exchange
from stategram.clustering.monitor import LevelResult, Monitor, StopEarly, SweepRecord
from stategram.clustering.settings import Schedule, Sweep

Labels = NDArray[np.uint32]


@dataclass(frozen=True)
class TreeClustering:
    """The algorithm.

    `save` is called where the clustering can be resumed: before sweeps over all clusters, as shortlists are
    not a part of a resume point.
    """

    levels: Levels
    schedule: Schedule
    monitor: Monitor
    seed: int = 0
    save: Callable[[ResumePoint], None] | None = None

    def run(self, start: ResumePoint | None = None) -> tuple[ResumePoint, Exchange]:
        """Cluster level by level, from `start` if it is given; return the end, and the last exchange."""
        point = start or ResumePoint(self.levels.numbers[0])
        self.monitor.resume(point.history)
        exchange: Exchange | None = None
        for level in self.levels.numbers[self.levels.numbers.index(point.level) :]:
            begun = self.monitor.seconds()
            exchange = None  # the tables of the level above are freed first
            exchange = self.levels.exchange(point)
            with suppress(StopEarly):
                self._iterate(exchange, point)
            states, inherited = self.levels.labels(point, exchange)
            point = ResumePoint(
                level + 1,
                above=(*point.above, states),
                inherited=(*point.inherited[: len(point.above)], inherited),
                categories=exchange.words.labels(),
                results=(*point.results, self._result(level, exchange, begun)),
                history=tuple(self.monitor.history),
            )
            if self.save is not None and level < self.levels.numbers[-1]:
                self.save(point)
        assert exchange is not None
        return point, exchange

    def _iterate(self, exchange: Exchange, start: ResumePoint) -> None:
        """Sweep over the level until the criterion gains too little, or the schedule ends."""
        is_first = start.level == self.levels.numbers[0]
        reached = exchange.criterion if start.reached is None else start.reached
        sweeps = enumerate(self.schedule.sweeps(is_first, self.monitor.seconds))
        for number, sweep in islice(sweeps, start.sweep, None):
            if self.save is not None and not sweep.shortlisted and number > 0:
                self.save(self._resume_point(start, number, reached, exchange))
            moves = self.sweep(start.level, number, sweep, exchange)
            if sweep.step == "exchange" and sweep.shortlisted:
                continue  # its gain counts for the next sweep over all clusters
            gain, reached = exchange.criterion - reached, exchange.criterion
            gains_little = number > 0 and gain < self.schedule.tolerance * abs(reached)
            if sweep.step == "exchange" and (moves == 0 or gains_little):
                break

    def sweep(self, level: int, number: int, sweep: Sweep, exchange: Exchange) -> int:
        """Move all words and all nodes of the level to where the criterion gains most; return the moves."""
        n_done = len(self.monitor.history)
        name = f"level {level}: {sweep.step}" if len(self.levels.numbers) > 1 else sweep.step

        def tick(part: float, moves: int) -> None:
            message = f"{name}, sweep {n_done + 1}, {moves:,} moves, perplexity {exchange.perplexity:,.1f}"
            self.monitor.report(self._fraction(level, number + part), message)
            self.monitor.check_stop()

        try:
            moves = exchange.sweep(sweep, sweep_seed(self.seed, n_done), tick)
        except StopEarly:
            if sweep.step == "anneal" or not exchange.is_placed:  # elements are hot, or have no cluster
                self.sweep(level, number, Sweep("exchange"), exchange)
            raise
        self.monitor.record(level, sweep, moves, exchange.criterion, exchange.perplexity)
        return moves

    def _fraction(self, level: int, sweeps_done: float) -> float:
        """Return how much of all work is done after so many sweeps of a level."""
        at, work = self.levels.numbers.index(level), self.levels.work
        of_level = min(1.0, sweeps_done / self.schedule.n_sweeps(at == 0))
        return (sum(work[:at]) + work[at] * of_level) / sum(work)

    def _resume_point(
        self, start: ResumePoint, number: int, reached: float, exchange: Exchange
    ) -> ResumePoint:
        states, inherited = self.levels.labels(start, exchange)
        return replace(
            start,
            sweep=number,
            reached=reached,
            states=states,
            inherited=(*start.inherited[: len(start.above)], inherited),
            categories=exchange.words.labels(),
            history=tuple(self.monitor.history),
        )

    def _result(self, level: int, exchange: Exchange, begun: float) -> LevelResult:
        return LevelResult(
            level,
            self.levels.n_nodes(level),
            0 if exchange.contexts is None else self.levels.n_movable(level),
            sum(sweep.level == level for sweep in self.monitor.history),
            exchange.criterion,
            exchange.perplexity,
            self.monitor.seconds() - begun,
        )


@dataclass(frozen=True)
class ResumePoint:
    """Where a clustering is: the next sweep is entry `sweep` of the schedule of `level`."""

    level: int
    sweep: int = 0
    reached: float | None = None
    """The criterion when convergence was last tested on the level."""
    above: tuple[Labels, ...] = ()
    """The states of the levels that are finished."""
    states: Labels | None = None
    """The states of the level; None where it begins."""
    inherited: tuple[Labels, ...] = ()
    """For each finished level, and for one under way, the states of rare and unseen contexts."""
    categories: Labels | None = None
    results: tuple[LevelResult, ...] = ()
    history: tuple[SweepRecord, ...] = ()


class Levels(Protocol):
    """What is clustered: the levels of a context tree, or word classes as a single level."""

    @property
    def numbers(self) -> Sequence[int]:
        """The levels, from the root to the leaves."""

    @property
    def work(self) -> Sequence[float]:
        """For each level, about what a sweep takes."""

    def exchange(self, point: ResumePoint) -> Exchange:
        """Return the exchange of a level, begun where the levels above ended, or where it was interrupted."""

    def labels(self, point: ResumePoint, exchange: Exchange) -> tuple[Labels, Labels]:
        """Return the state of each node of a level, and that of rare and unseen ones by their state above."""

    def n_nodes(self, level: int) -> int:
        """Return the number of nodes of a level that occur."""

    def n_movable(self, level: int) -> int:
        """Return the number of nodes of a level that move on their own."""


def sweep_seed(seed: int, number: int) -> int:
    """Return the seed of a sweep, or of a round of merge-split, from that of the clustering."""
    return (seed * 1_000_003 + number) % 2**64
