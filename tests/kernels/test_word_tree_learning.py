"""Learning the weights of word trees: steps of Adagrad, on events that are left out of the counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import naive.word_tree as naive
from stategram import _core
from word_tree_problems import Problem, ids, random_paths, random_words, score, stream_of, words_before

HISTORIES = range(3)
CHAINS = [
    naive.Chain((0, 1, 2)),
    naive.Chain((3, 0), uses_continuation=False),
    naive.Chain((4, 3), is_document=True),
]
CACHES = [naive.Cache((), 0.9), naive.Cache((0,), 0.95)]
# What evidence is off by, as in test_word_tree_kernel.
ROUNDING = 2**-24 * 10 * 3 * 20
Weights = list[NDArray[np.float32]]


@cache
def story() -> Problem:
    events = words_before(random_words(200, 12, 3), is_rare=[5, 7, 8])
    trees = [random_paths(12, 1), random_paths(12, 2)]
    return Problem(events, trees, CHAINS, CACHES, adaptive_rate=0.0)


@cache
def large_story() -> Problem:
    events = words_before(random_words(6000, 180, 5), is_rare=range(90, 180))
    return Problem(events, [random_paths(180, 1), random_paths(180, 2)], CHAINS, CACHES)


def all_weights(problem: Problem, kernel: _core.TreeModelKernel) -> Weights:
    return [one for history in HISTORIES for one in problem.weights(kernel, history, history)]


def learn(
    kernel: _core.TreeModelKernel,
    events: Sequence[naive.Event],
    blocks: Sequence[tuple[int, int, int]],
    weights: Weights,
    *,
    squares: Weights | None = None,
    used: Sequence[int] | None = None,
    rate: float = 0.0,
    leave_out: bool = False,
    seed: int = 0,
    threads: int = 1,
) -> list[float]:
    """Learn from blocks: where the words for the cache begin, where the block does, and its end."""
    columns = np.array(blocks, np.int64).reshape(-1, 3).T
    return kernel.learn(
        ids([event.word for event in events]),
        [stream_of(events, number) for number in range(len(events[0].values))],
        ids([event.of_class for event in events]),
        np.zeros(len(events), np.uint8),
        columns[1].copy(),
        columns[2].copy(),
        columns[0].copy(),
        np.array([1] * len(events) if used is None else used, np.uint8),
        weights,
        [np.ones_like(one) for one in weights] if squares is None else squares,
        rate,
        leave_out,
        seed,
        None,
        threads,
    )


@pytest.mark.parametrize("chains", [CHAINS, [CHAINS[0], CHAINS[2]], CHAINS[2:]])
def test_steps_of_adagrad_are_those_of_the_twin(chains: list[naive.Chain]) -> None:
    problem = replace(story(), chains=chains)
    kernel, rate, seed = problem.kernel(), 0.03, 5
    events = words_before(random_words(12, 12, 7), is_rare=[5, 7, 8])
    weights = all_weights(problem, kernel)
    before = [one.copy() for one in weights]
    squares = [np.ones_like(one) for one in weights]
    sums = learn(kernel, events, [(0, 0, 12)], weights, squares=squares, rate=rate, seed=seed)
    for number in range(len(weights)):
        history, tree = divmod(number, 2)
        twin = problem.twins()[tree]
        expected, expected_squares = before[number].astype(float).tolist(), [1.0] * len(before[number])
        # The kernel counts the blocks that it has seen.
        total = twin.learn(events, rate, seed + 1, expected, expected_squares, history)
        steps = sum(len(twin.paths[event.word]) for event in events)
        # A step is at most `rate` times the gradient, which is off by as much as evidence times the weights.
        close = rate * steps * 4 * ROUNDING
        np.testing.assert_allclose(weights[number], expected, atol=close, rtol=2**-23)
        np.testing.assert_allclose(squares[number], expected_squares, atol=2 * steps * ROUNDING)
        assert np.abs(weights[number] - before[number]).max() > 20 * close
        assert sums[number] == pytest.approx(total, abs=20 * steps * ROUNDING)


def test_a_rate_of_zero_learns_nothing() -> None:
    problem = story()
    kernel = problem.kernel()
    weights = all_weights(problem, kernel)
    before = [one.tobytes() for one in weights]
    sums = learn(kernel, problem.events, [(0, 0, 200)], weights)
    assert [one.tobytes() for one in weights] == before
    for history in HISTORIES:
        scores = score(kernel, problem.events, history, weights[2 * history : 2 * history + 2])
        assert sums[2 * history : 2 * history + 2] == pytest.approx(scores.sum(axis=1).tolist(), rel=1e-12)


def test_certain_decisions_teach_nothing() -> None:
    """Where the log-odds of the right side are 16, an event is off by less than 0.0001 at each node."""
    problem = story()
    kernel = problem.kernel()
    weights = [np.full(kernel.n_weights(0), 1000.0, np.float32) for _ in range(2)]
    scores = score(kernel, problem.events, 0, weights)[0]
    assert scores.max() > -1e-5
    assert scores.min() < -15
    for place, is_certain in ((int(scores.argmax()), True), (int(scores.argmin()), False)):
        learned = [one.copy() for one in weights]
        learn(kernel, [problem.events[place]], [(0, 0, 1)], learned, rate=0.03)
        assert (learned[0].tobytes() == weights[0].tobytes()) == is_certain


def test_unused_events_are_not_learned() -> None:
    problem = story()
    kernel = problem.kernel()
    used = [int(i % 3 == 0) for i in range(200)]
    some, chosen = all_weights(problem, kernel)[:2], all_weights(problem, kernel)[:2]
    found = learn(kernel, problem.events, [(0, 0, 200)], some, used=used, rate=0.03)
    events = [event for event, use in zip(problem.events, used, strict=True) if use]
    expected = learn(kernel, events, [(0, 0, len(events))], chosen, rate=0.03)
    assert found == expected
    assert [one.tobytes() for one in some] == [one.tobytes() for one in chosen]


def test_words_before_a_block_fill_the_cache() -> None:
    problem = story()
    kernel = problem.kernel()
    weights = all_weights(problem, kernel)
    found = learn(kernel, problem.events, [(20, 50, 90)], weights)
    scores = score(kernel, problem.events[20:90], 2, weights[4:])[:, 30:]
    assert found[4:] == pytest.approx(scores.sum(axis=1).tolist(), rel=1e-12)
    scores = score(kernel, problem.events[50:90], 1, weights[2:4])
    assert found[2:4] == pytest.approx(scores.sum(axis=1).tolist(), rel=1e-12)


@pytest.mark.parametrize("leave_out", [False, True])
def test_the_same_bytes_for_any_number_of_threads(leave_out: bool) -> None:
    """More events than a batch of the kernel has."""
    problem = large_story()
    kernel = problem.kernel()
    blocks = [(max(0, at - 50), at, min(at + 700, 6000)) for at in range(0, 6000, 700)]
    found = []
    for threads in (1, 2, 3):
        weights = all_weights(problem, kernel)
        squares = [np.ones_like(one) for one in weights]
        sums = learn(
            kernel, problem.events, blocks, weights,
            squares=squares, rate=0.03, leave_out=leave_out, seed=3, threads=threads,
        )  # fmt: skip
        found.append((sums, [one.tobytes() for one in (*weights, *squares)]))
    assert found[0] == found[1] == found[2]


# ---- leaving out


def counts_without(problem: Problem, begin: int, end: int) -> dict[str, Any]:
    """Return the arguments of a kernel with the counts of the rest of the text, and the discounts of all."""
    whole, rest = problem.arguments(), replace(problem, events=problem.events[:begin] + problem.events[end:])
    discounts = _core.TreeModelKernel(**whole).node_discounts(1 << 30, 1)
    levels = [
        (*of_rest[:3], of_all[3], of_nodes)
        for of_rest, of_all, of_nodes in zip(rest.levels(), whole["levels"], discounts, strict=True)
    ]
    return whole | {"levels": levels}


@pytest.mark.parametrize(
    ("begin", "end"), [(0, 1), (0, 30), (57, 58), (50, 120), (190, 200), (0, 200), (10, 10)]
)
def test_left_out_counts_are_those_of_the_rest(begin: int, end: int) -> None:
    problem = story()
    kernel = problem.kernel()
    weights = all_weights(problem, kernel)[:4]
    found = learn(kernel, problem.events, [(begin, begin, end)], weights, leave_out=True)
    block = problem.events[begin:end]
    if not block:
        assert found == [0.0] * 4
        return
    without = _core.TreeModelKernel(**counts_without(problem, begin, end))
    for history in (0, 1):
        of_history = weights[2 * history : 2 * history + 2]
        scores = score(without, block, history, of_history)
        assert found[2 * history : 2 * history + 2] == pytest.approx(scores.sum(axis=1).tolist(), rel=1e-12)
        rest = problem.events[:begin] + problem.events[end:]
        twin = problem.twins()[0].left_out(rest)
        for event, log_prob in list(zip(block, scores[0], strict=True))[:8]:
            expected = twin.log_prob(event, of_history[0].tolist(), history)
            # At most 12 nodes, with some twenty inputs that weigh up to 0.5.
            assert log_prob == pytest.approx(expected, abs=12 * 20 * 0.5 * ROUNDING)


@pytest.mark.parametrize(("begin", "end"), [(0, 2000), (1234, 1235), (3000, 5999)])
def test_left_out_counts_of_long_lists(begin: int, end: int) -> None:
    problem = large_story()
    kernel = problem.kernel()
    assert any(len(level[2][0][0]) > 1 for level in problem.levels())
    weights = all_weights(problem, kernel)[:4]
    found = learn(kernel, problem.events, [(begin, begin, end)], weights, leave_out=True)
    without = _core.TreeModelKernel(**counts_without(problem, begin, end))
    for history in (0, 1):
        scores = score(without, problem.events[begin:end], history, weights[2 * history : 2 * history + 2])
        assert found[2 * history : 2 * history + 2] == pytest.approx(scores.sum(axis=1).tolist(), rel=1e-12)


def test_left_out_of_counts_without_rare_contexts() -> None:
    """The rest of the text has no more than the counts had: contexts of a single event stay left out."""
    problem = replace(story(), min_count=2)
    kernel = problem.kernel()
    weights = all_weights(problem, kernel)[:4]
    found = learn(kernel, problem.events, [(50, 50, 60)], weights, leave_out=True)
    whole = problem.twins()[0]
    rest = whole.left_out(problem.events[:50] + problem.events[60:])
    kept = [
        [
            {context: words for context, words in of_rest.items() if context in of_all}
            for of_rest, of_all in pair
        ]
        for pair in (zip(*levels, strict=True) for levels in zip(rest.levels, whole.levels, strict=True))
    ]
    twin = replace(rest, levels=kept)
    for history in (0, 1):
        expected = sum(
            twin.log_prob(event, weights[2 * history].tolist(), history) for event in problem.events[50:60]
        )
        assert found[2 * history] == pytest.approx(expected, abs=10 * 12 * 20 * 0.5 * ROUNDING)


def test_blocks_are_left_out_one_at_a_time() -> None:
    problem = story()
    kernel = problem.kernel()
    weights = all_weights(problem, kernel)[:2]
    blocks = [(0, 0, 60), (60, 60, 61), (61, 100, 200)]
    together = learn(kernel, problem.events, blocks, weights, leave_out=True)
    each = [learn(kernel, problem.events, [block], weights, leave_out=True) for block in blocks]
    assert together == pytest.approx(np.sum(each, axis=0).tolist(), rel=1e-12)
