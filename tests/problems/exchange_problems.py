"""What the exchange kernels are tried on: small problems that hypothesis thinks up, and larger texts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from naive.exchange import Pairs, closed_bigrams, tied_criterion, transposed
from stategram import _core

Rows = tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]

# The kernel takes other ways for counts above 4, rows above 2^16 and above 2^18, and floats are no longer
# exact above 2^24.
WEIGHTS = [1, 1, 1, 2, 4, 5, 100, 66_000, 270_000, 17_000_000]
# Vectors of 16 floats: one less, one more, tails of every kind.
MOST_CLUSTERS = 35


def array(values: Iterable[int]) -> NDArray[np.uint32]:
    return np.array(list(values), dtype=np.uint32)


def rows_of(pairs: Pairs, n_rows: int) -> Rows:
    """Return the pairs in compressed rows."""
    ordered = sorted(pairs.items())
    sizes = np.bincount([a for (a, _), _ in ordered], minlength=n_rows) if ordered else np.zeros(n_rows, int)
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return offsets, array(b for (_, b), _ in ordered), array(n for _, n in ordered)


def rounding(pairs: Pairs, n: int, additions: int) -> float:
    """How far a score of an element with n events may be from the truth, as it is a sum of floats.

    Every term is f(N + x) - f(N) <= x (log T + 1) for some x of the element's events, and these x add up
    to at most 12 n in the tied case (2 n in the margins, 2 n in the rows, 4 n in the corner, 4 n in the cells
    of the home class), less in the other. A sum of m floats is off by at most m units of roundoff of that; a
    term that was computed and not looked up, by some 16 more.
    """
    total = sum(pairs.values())
    return (additions + 16) * 2.0**-24 * 12 * n * (math.log(max(total, 1)) + 1)


def sweep(
    visit: Callable[[NDArray[np.uint32], NDArray[np.float32], float, int, bool], int],
    order: NDArray[np.uint32],
    scales: NDArray[np.float32],
    temperature: float = 0.0,
    seed: int = 0,
    shortlisted: bool = False,
    batch: int = 64,
) -> int:
    """Visit all elements in batches of one size; return the number of moves."""
    parts = (order[begin : begin + batch] for begin in range(0, len(order), batch))
    return sum(visit(part, scales, temperature, seed, shortlisted) for part in parts)


def events(pairs: Pairs, word: int) -> int:
    return sum(n for (_, w), n in pairs.items() if w == word)


@dataclass(frozen=True)
class Tied:
    """Words of a closed stream, given by weighted cycles, in classes; some classes take no words."""

    pairs: Pairs
    labels: list[int]
    classes: int
    targets: int

    def kernel(self, threads: int = 1, shortlist: int = 8) -> _core.TiedExchange:
        n = len(self.labels)
        return _core.TiedExchange(
            *rows_of(self.pairs, n),
            *rows_of(transposed(self.pairs), n),
            array(self.labels),
            self.classes,
            self.targets,
            threads,
            shortlist,
        )

    def criterion(self, labels: Sequence[int]) -> float:
        return tied_criterion(self.pairs, range(len(labels)), labels)

    def rounding(self, word: int) -> float:
        return rounding(self.pairs, events(self.pairs, word), 2 * self.classes + 4)


@dataclass(frozen=True)
class TwoSided:
    """Events of contexts and words; both in clusters."""

    pairs: Pairs
    states: list[int]
    categories: list[int]
    n_states: int
    state_targets: int
    n_categories: int
    category_targets: int
    states_move: bool

    def kernel(self, threads: int = 1, shortlist: int = 8) -> _core.TwoSidedExchange:
        return _core.TwoSidedExchange(
            *rows_of(self.pairs, len(self.states)),
            *rows_of(transposed(self.pairs), len(self.categories)),
            array(self.states),
            array(self.categories),
            self.n_states,
            self.state_targets,
            self.n_categories,
            self.category_targets,
            self.states_move,
            threads,
            shortlist,
        )

    def sweep(
        self,
        kernel: _core.TwoSidedExchange,
        temperature: float = 0.0,
        seed: int = 0,
        shortlisted: bool = False,
    ) -> int:
        how = temperature, seed, shortlisted
        words, contexts = len(self.categories), len(self.states)
        moves = sweep(kernel.visit_words, array(range(words)), np.ones(words, np.float32), *how)
        if self.states_move:
            scales = np.ones(contexts, np.float32)
            moves += sweep(kernel.visit_contexts, array(range(contexts)), scales, *how)
        return moves


weights = st.sampled_from(WEIGHTS)


@st.composite
def clusters(draw: st.DrawFn, elements: int) -> tuple[list[int], int, int]:
    """Labels, the number of clusters, and how many of them take elements."""
    n = draw(st.integers(1, MOST_CLUSTERS))
    targets = draw(st.integers(max(1, n - 2), n))
    # Elements of the first, the last and the other clusters, with company more often than chance gives.
    label = st.sampled_from([0, targets - 1, n - 1, draw(st.integers(0, n - 1)), *range(0, n, 5)])
    return draw(st.lists(label, min_size=elements, max_size=elements)), n, targets


@st.composite
def tied(draw: st.DrawFn) -> Tied:
    words = draw(st.integers(1, 12))
    cycle = st.lists(st.integers(0, words - 1), min_size=1, max_size=8)
    pairs: Counter[tuple[int, int]] = Counter()
    for ids, weight in draw(st.lists(st.tuples(cycle, weights), max_size=10)):
        pairs.update({pair: n * weight for pair, n in closed_bigrams(ids).items()})
    return Tied(pairs, *draw(clusters(words)))


@st.composite
def two_sided(draw: st.DrawFn, states_move: bool = True) -> TwoSided:
    contexts, words = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    pair = st.tuples(st.integers(0, contexts - 1), st.integers(0, words - 1))
    pairs = draw(st.dictionaries(pair, weights, max_size=40))
    states, n_states, state_targets = (
        draw(clusters(contexts)) if states_move else (list(range(contexts)), contexts, contexts)
    )
    categories, n_categories, category_targets = draw(clusters(words))
    return TwoSided(
        pairs, states, categories, n_states, state_targets, n_categories, category_targets, states_move
    )


any_two_sided = st.booleans().flatmap(lambda states_move: two_sided(states_move=states_move))
temperatures = st.sampled_from([0.0, 0.1, 3.0, 1e6])
shortlists = st.sampled_from([1, 3, 100])
seeds = st.integers(0, 2**64 - 1)


def text_problem(words: int, classes: int, targets: int | None = None) -> Tied:
    rng = np.random.default_rng(words)
    ids = (rng.zipf(1.2, 20 * words) % words).tolist()
    labels = rng.integers(0, classes, words).tolist()
    return Tied(closed_bigrams(ids), labels, classes, targets or classes)


def text_problem_two_sided(words: int, n: int, *, states_move: bool) -> TwoSided:
    problem = text_problem(words, n)
    if states_move:
        states, n_states = problem.labels[::-1], n
    else:
        states, n_states = list(range(words)), words
    return TwoSided(problem.pairs, states, problem.labels, n_states, n_states, n, n, states_move)
