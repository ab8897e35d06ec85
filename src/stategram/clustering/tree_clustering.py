"""The exchange along a context tree: figure 2 of Ueberla and Gransden (1996).

    for each level of the tree, from the root to the leaves
        iterate until the criterion gains too little
            for all words w and all nodes n of the level
                move w, and all contexts below n together, to where the criterion gains most

Word classes are the case of one level. What the paper does not have, annealing, shortlists and rounds of
merge-split, are entries of the schedule; checkpoints, progress and early ends are calls of the monitor and of
`save`. The two inner lines are `Exchange.sweep`, whose loop is in `_core/exchange.hpp`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from stategram.clustering.exchange import Exchange
from stategram.clustering.monitor import LevelResult, Monitor, StopEarly, SweepRecord
from stategram.clustering.schedule import Schedule, Sweep

Labels = NDArray[np.uint32]


class Levels(Protocol):
    """What is clustered: the levels of a context tree, or word classes as a single level."""

    @property
    def numbers(self) -> Sequence[int]:
        """The levels, from the root to the leaves."""

    @property
    def work(self) -> Sequence[float]:
        """For each level, about what a sweep takes."""

    def exchange(
        self, level: int, above: Sequence[Labels], categories: Labels | None, states: Labels | None
    ) -> Exchange:
        """Return the exchange of a level.

        It begins where the levels above have ended: with their states, and the categories; or where the level
        itself was interrupted, with its states.
        """

    def states(self, level: int, above: Sequence[Labels], exchange: Exchange) -> Labels:
        """Return the state of every node of a level, also of those that do not move."""

    def n_nodes(self, level: int) -> int:
        """Return the number of nodes of a level that occur."""

    def merge_split(self, exchange: Exchange, seed: int) -> Exchange | None:
        """Return an exchange with some clusters merged and others split, if it can be."""


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
    categories: Labels | None = None
    results: tuple[LevelResult, ...] = ()
    history: tuple[SweepRecord, ...] = ()


@dataclass(frozen=True)
class Found:
    """What a clustering came to: the states of each level, the categories, and the last exchange."""

    states: tuple[Labels, ...]
    categories: Labels
    results: tuple[LevelResult, ...]
    exchange: Exchange


def sweep_seed(seed: int, number: int) -> int:
    """Return the seed of a sweep, or of a round, from that of the clustering."""
    return (seed * 1_000_003 + number) % 2**64


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

    def run(self, start: ResumePoint | None = None) -> Found:
        """Cluster level by level; from `start`, if it is given."""
        point = start or ResumePoint(self.levels.numbers[0])
        self.monitor.resume(point.history)
        exchange: Exchange | None = None
        for level in self.levels.numbers[self.levels.numbers.index(point.level) :]:
            begun = self.monitor.seconds()
            exchange = None  # the tables of the level above are freed first
            exchange = self.levels.exchange(level, point.above, point.categories, point.states)
            exchange, stopped = self._run_level(exchange, point)
            point = ResumePoint(
                level + 1,
                above=(*point.above, self.levels.states(level, point.above, exchange)),
                categories=exchange.words.labels(),
                results=(*point.results, self._result(level, exchange, begun)),
            )
            if stopped:
                break
        assert exchange is not None
        assert point.categories is not None
        return Found(point.above, point.categories, point.results, exchange)

    def _run_level(self, exchange: Exchange, start: ResumePoint) -> tuple[Exchange, bool]:
        """Sweep until the schedule ends; return the exchange reached and whether it was stopped early."""
        is_first = start.level == self.levels.numbers[0]
        kept, reached, converged, rounds = exchange, start.reached, False, 0
        for number, sweep in enumerate(self.schedule.sweeps(is_first, self.monitor.seconds)):
            if number < start.sweep or (converged and sweep.step == "exchange"):
                continue
            if sweep.step == "exchange" and reached is None:
                reached = exchange.criterion
            if not sweep.shortlisted and (number > 0 or not is_first):
                self._save(start, number, reached, exchange)
            if sweep.begins_round:
                exchange = kept  # the tables of a round that has failed are freed first
                shaken = self.levels.merge_split(kept, sweep_seed(self.seed, rounds))
                if shaken is None:
                    break
                exchange, rounds = shaken, rounds + 1
            try:
                moves = self._sweep(start.level, number, sweep, exchange, self.monitor)
            except StopEarly:
                if sweep.is_loose:
                    patient = replace(self.monitor, stop=None, time_limit=None)
                    self._sweep(start.level, number, Sweep("exchange"), exchange, patient)
                return kept, True
            if reached is not None and sweep.step == "exchange" and not sweep.shortlisted:
                gain, reached = exchange.criterion - reached, exchange.criterion
                converged = moves == 0 or gain < self.schedule.tolerance * abs(reached)
            if sweep.ends_round and exchange.criterion > kept.criterion:
                kept = exchange
        return kept, False

    def _sweep(self, level: int, number: int, sweep: Sweep, exchange: Exchange, monitor: Monitor) -> int:
        """Move all words and all nodes of the level to where the criterion gains most; return the moves."""
        n_done = len(monitor.history)
        name = f"level {level}: {sweep.step}" if len(self.levels.numbers) > 1 else sweep.step

        def tick(part: float, moves: int) -> None:
            message = f"{name}, sweep {n_done + 1}, {moves:,} moves, perplexity {exchange.perplexity:,.1f}"
            monitor.report(self._fraction(level, number + part), message)
            monitor.check_stop()

        moves = exchange.sweep(sweep, sweep_seed(self.seed, n_done), tick)
        monitor.record(level, sweep, moves, exchange.criterion, exchange.perplexity)
        return moves

    def _fraction(self, level: int, sweeps_done: float) -> float:
        """Return how much of all work is done after so many sweeps of a level."""
        at, work = self.levels.numbers.index(level), self.levels.work
        of_level = min(1.0, sweeps_done / self.schedule.n_sweeps(at == 0))
        return (sum(work[:at]) + work[at] * of_level) / sum(work)

    def _save(self, start: ResumePoint, number: int, reached: float | None, exchange: Exchange) -> None:
        if self.save is not None:
            point = replace(
                start,
                sweep=number,
                reached=reached,
                states=self.levels.states(start.level, start.above, exchange),
                categories=exchange.words.labels(),
                history=tuple(self.monitor.history),
            )
            self.save(point)

    def _result(self, level: int, exchange: Exchange, begun: float) -> LevelResult:
        movable = 0 if exchange.contexts is None else len(exchange.contexts.order)
        return LevelResult(
            level,
            self.levels.n_nodes(level),
            movable,
            sum(sweep.level == level for sweep in self.monitor.history),
            exchange.criterion,
            exchange.perplexity,
            self.monitor.seconds() - begun,
        )
