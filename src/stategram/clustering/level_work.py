"""The exchange of one level of a context tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.clustering.exchange import Clusters, event_exchange
from stategram.clustering.initial import frequent_first
from stategram.counts import CompressedCounts
from stategram.resources import Resources

if TYPE_CHECKING:
    from stategram.clustering.tree_clustering import TreeClustering


@dataclass(frozen=True)
class LevelResult:
    """What a level of the tree came to."""

    level: int
    nodes: int
    movable: int
    sweeps: int
    criterion: float
    perplexity: float
    seconds: float


class EarlyEnd(Exception):  # noqa: N818 -- an end, not an error
    """The user wants what there is."""


class LevelWork:
    """The exchange of one level."""

    def __init__(self, clustering: TreeClustering, number: int, states: NDArray[np.uint32] | None) -> None:
        self.clustering = clustering
        self.number = number
        self.level = clustering.tree.levels[number - 1]
        self.started = clustering.monitor.seconds
        self.n_sweeps = 0
        settings = clustering.settings
        self.inherited = self._inherited()
        counts = self.level.counts
        movable = np.flatnonzero(counts >= settings.min_count).astype(np.uint32)
        self.movable = movable[np.argsort(~counts[movable], kind="stable")]  # the most frequent first
        self.exchange = event_exchange(
            self._events(),
            self._state_clusters(states),
            self._category_clusters(),
            candidates=settings.candidates,
        )
        self.settle()

    def _events(self) -> CompressedCounts:
        """Give the words after each node that may move, then after all that do not, a row for each state."""
        clustering, n_movable = self.clustering, len(self.movable)
        rare = np.flatnonzero(self.level.counts < clustering.settings.min_count).astype(np.uint32)
        states = self.inherited[rare]
        of_states = np.cumsum(np.bincount(states, minlength=clustering.settings.states))
        return CompressedCounts(
            *_core.sum_rows(
                *clustering.tree.events_of(self.number),
                np.concatenate((self.movable, rare[np.argsort(states, kind="stable")])),
                np.concatenate((np.arange(n_movable + 1), n_movable + of_states)),
                len(clustering.tree.vocabulary),
                Resources.current().threads,
            )
        )

    def _inherited(self) -> NDArray[np.uint32]:
        clustering = self.clustering
        if clustering.states:
            return clustering.states[-1][clustering.tree.parents(self.number)]
        # Rare contexts share the last state, as long as no group has put them elsewhere.
        return np.full(len(self.level), clustering.settings.states - 1, np.uint32)

    def _state_clusters(self, states: NDArray[np.uint32] | None) -> Clusters:
        n = self.clustering.settings.states
        order = np.arange(len(self.movable), dtype=np.uint32)
        still = np.arange(n, dtype=np.uint32)
        if states is not None:
            labels = states[self.movable]
        elif self.clustering.states:
            labels = _spread(self.inherited[self.movable], np.bincount(self.inherited, minlength=n))
        else:
            # The most frequent have a state each; the others wait in one that takes none, until the first
            # sweep.
            labels = np.minimum(order, n).astype(np.uint32)
        return Clusters(np.concatenate((labels, still)).astype(np.uint32), n, order)

    def _category_clusters(self) -> Clusters:
        clustering = self.clustering
        n = clustering.settings.categories
        fresh = frequent_first(clustering.tree.word_counts, n)
        if clustering.categories is None:
            return fresh
        return Clusters(clustering.categories, n, fresh.order)

    def sweep(self, step: str, temperature: float, shortlisted: bool, done: int, planned: int) -> None:
        """Make one sweep, the next after `done` of `planned`; EarlyEnd if the user wants one."""
        monitor, settings, exchange = self.clustering.monitor, self.clustering.settings, self.exchange
        number = len(monitor.history)
        name = f"level {self.number}: {step}"

        def tick(part: float, moves: int) -> None:
            share = self.clustering.share_done(self.number, (done + part) / planned)
            monitor.tell(name, number + 1, moves, exchange.criterion, exchange.perplexity, share)
            if monitor.stopped():
                raise EarlyEnd

        seed = (settings.seed * 1_000_003 + number) % 2**64
        moves = exchange.sweep(temperature, seed, tick, shortlisted=shortlisted)
        self.settle()
        monitor.record(name, temperature, moves, exchange.criterion, exchange.perplexity)
        self.n_sweeps += 1

    def settle(self) -> None:
        """Take the criterion, and the b of leaving-one-out, from the counts alone.

        So a clustering that was taken up again has the same figures, and those it ends with are exact.
        """
        kernel = self.exchange.kernel
        assert isinstance(kernel, _core.TwoSidedExchange)
        if self.clustering.settings.criterion == "leave-one-out":
            kernel.leave_one_out()
        else:
            kernel.recompute_criterion()

    def states(self) -> NDArray[np.uint32]:
        """Give the state of every node of the level."""
        states = self.inherited.astype(np.uint32).copy()
        states[self.movable] = self.exchange.sides[1].labels()[: len(self.movable)]
        return states

    def categories(self) -> NDArray[np.uint32]:
        """Give the category of every word."""
        return self.exchange.sides[0].labels()

    def result(self) -> LevelResult:
        """Say what the level came to."""
        monitor = self.clustering.monitor
        return LevelResult(
            self.number,
            int(np.count_nonzero(self.level.counts)),
            len(self.movable),
            self.n_sweeps,
            self.exchange.criterion,
            self.exchange.perplexity,
            monitor.seconds - self.started,
        )


def _spread(labels: NDArray[np.uint32], members: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Give nodes a state that has no members each: the most frequent first, but one of each state stays.

    A level with fewer nodes than states leaves such states; single moves would fill them slowly.

    Examples
    --------
    >>> _spread(np.array([0, 0, 1, 0, 1, 1]), np.array([3, 3, 0, 0])).tolist()
    [0, 2, 1, 3, 1, 1]

    """
    _, stays = np.unique(labels, return_index=True)  # nodes are sorted: the first is the most frequent
    goes = np.delete(np.arange(len(labels)), stays)
    empty = np.flatnonzero(members == 0)
    n = min(len(goes), len(empty))
    spread = labels.copy()
    spread[goes[:n]] = empty[:n]
    return spread
