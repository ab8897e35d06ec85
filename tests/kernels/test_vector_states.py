"""Vector states: the networks and their learning are those of the twin, for any threads and in any pieces."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import naive.vector_states as naive
from naive.word_tree import Cache
from stategram import _core
from vector_problems import (
    DECAYS,
    N_WORDS,
    Network,
    VectorProblem,
    random_bias,
    random_resets,
    score,
    tree_arrays,
    words_of,
)
from word_tree_problems import BEGIN, END, ids, random_paths

SENTENCE, DOCUMENT, ADAPTIVE = HISTORIES = range(3)
WIDTH, N_POSITIONS = 32, 3
KINDS = ("linear", "recurrent")
# Kernels round to 2^-24. A log-odds is a sum of WIDTH products, each of which is rounded twice, of a vector
# whose elements are sums of fewer than eight products.
ROUNDING = 2**-24 * (2 * WIDTH + 8)
TREES = [random_paths(N_WORDS, seed) for seed in (1, 2)]
Rates = tuple[float, float]


# ---- learning: linear states


def linear_learners(seed: int = 7, trees: Sequence[list[str]] = TREES) -> tuple[_core.LinearLearner, Any]:
    bias = [random_bias(paths, number) for number, paths in enumerate(trees)]
    kernel = _core.LinearLearner(tree_arrays(trees), bias, WIDTH, N_POSITIONS, list(DECAYS), seed)
    of = naive.Linear.new(N_WORDS, WIDTH, N_POSITIONS, DECAYS, naive.Random(seed))
    nodes = [naive.Nodes.new(paths, WIDTH, one) for paths, one in zip(trees, bias, strict=True)]
    return kernel, naive.LinearLearner(of, nodes)


def assert_rounded(found: tuple[NDArray[Any], NDArray[Any]], expected: NDArray[Any], close: float) -> None:
    """Rows in 4 bits are those of the twin: each number is the nearest one."""
    data, scales = found
    np.testing.assert_allclose(scales, np.abs(expected).max(axis=1) / (8 * 255), atol=close, rtol=2**-22)
    of_rows = scales.repeat(WIDTH // 32).astype(float)
    of_blocks, _ = naive.blocks(data)
    least = np.abs(expected).reshape(-1, 32).max(axis=1) / 8
    assert (of_blocks * of_rows <= (least + of_rows) * (1 + 2**-16) + close).all()
    errors = np.abs(naive.unrounded(data, scales) - expected).reshape(-1, 32).max(axis=1)
    assert (errors <= of_blocks * of_rows / 2 * (1 + 2**-16) + close).all()


def assert_nodes(kernel: Any, nodes: Sequence[naive.Nodes], close: float) -> None:
    for (vectors, scales, bias), one in zip(kernel.nodes(), nodes, strict=True):
        assert_rounded((vectors, scales), one.vectors, close)
        np.testing.assert_allclose(bias, one.bias, atol=close, rtol=close)


def assert_linear(kernel: _core.LinearLearner, twin: naive.LinearLearner, close: float) -> None:
    of = twin.of
    assert_rounded(kernel.near_vectors(), of.near, close)
    assert_rounded(kernel.far_vectors(), of.far, close)
    for found, expected in (
        (kernel.positions(), of.positions.reshape(-1)),
        (kernel.sums(), of.sums.reshape(-1)),
    ):
        np.testing.assert_allclose(found, expected, atol=close, rtol=close)
    assert_nodes(kernel, twin.nodes, close)


def assert_linear_learns(
    words: Sequence[int], resets: Sequence[int], cuts: Sequence[int], rates: Sequence[Rates]
) -> None:
    kernel, twin = linear_learners()
    learned = [
        (
            kernel.learn(ids(words), np.array(resets, np.uint8), begin, end, *of_pass),
            twin.learn(words, resets, begin, end, of_pass),
        )
        for of_pass in rates
        for begin, end in pairwise(cuts)
    ]
    # An error that is nearly the least that teaches may be on the other side of it.
    if min((min(one.close_calls, default=1.0) for one in twin.nodes), default=1.0) < 1e-5:
        reject()
    # What each event is off goes into the next ones, as a random walk.
    close = ROUNDING * math.sqrt(len(words) * len(rates))
    for found, expected in learned:
        assert found == pytest.approx(expected, abs=20 * close, rel=close)
    assert_linear(kernel, twin, close)


@pytest.mark.parametrize("rates", [[(0.1, 0.01)], [(0.1, 0.1), (0.1, 0.01)], [(0.0, 0.0)]])
def test_a_linear_state_learns_as_its_twin(rates: list[Rates]) -> None:
    assert_linear_learns(words_of(150, 3), random_resets(150, 1).tolist(), [0, 150], rates)


def test_a_linear_state_learns() -> None:
    kernel, twin = linear_learners()
    start = [one.copy() for one in (twin.of.near, twin.of.far, twin.of.positions, twin.of.sums)]
    words, resets = words_of(150, 3), random_resets(150, 1)
    twin.learn(words, resets, 0, 150, (0.1, 0.1))
    now = [twin.of.near, twin.of.far, twin.of.positions, twin.of.sums]
    changes = [np.abs(one - before).max() for one, before in zip(now, start, strict=True)]
    assert min(changes) > 100 * ROUNDING * math.sqrt(150)
    sums = [kernel.learn(ids(words), resets, 0, 150, 0.1, 0.1)[0] for _ in range(5)]
    assert sums == sorted(sums)


@settings(max_examples=20)
@given(st.lists(st.sampled_from([0, 2, 3, 4, 11]), min_size=1, max_size=80), st.data())
def test_small_texts_of_linear_states(words: list[int], data: st.DataObject) -> None:
    n = len(words)
    resets = data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    cuts = sorted({0, n, *data.draw(st.lists(st.integers(0, n), max_size=3))})
    rate = st.sampled_from([0.0, 0.01, 0.1])
    assert_linear_learns(words, resets, cuts, [data.draw(st.tuples(rate, rate))])


def learned_bytes(kernel: _core.LinearLearner) -> list[bytes]:
    arrays = (*kernel.near_vectors(), *kernel.far_vectors(), kernel.sums())
    return [one.tobytes() for one in (*arrays, *(one for nodes in kernel.nodes() for one in nodes))]


def test_a_linear_state_learns_the_same_in_pieces() -> None:
    """Gradients are carried back within 32 events: pieces of as many change nothing at all."""
    words, resets = ids(words_of(1000, 4)), random_resets(1000, 2)
    found = []
    for cuts in ([0, 1000], [0, 32, 64, 640, 1000]):
        kernel, _ = linear_learners()
        for begin, end in pairwise(cuts):
            kernel.learn(words, resets, begin, end, 0.05, 0.05)
        found.append(learned_bytes(kernel))
    assert found[0] == found[1]


def test_seeds() -> None:
    made = {seed: learned_bytes(linear_learners(seed)[0]) for seed in (0, 1, 2**64 - 1)}
    assert len({one[0] for one in made.values()}) == 3
    assert learned_bytes(linear_learners(1)[0]) == made[1]


# ---- learning: recurrent states


def recurrent_learners(
    dropout: tuple[float, float], seed: int = 5, trees: Sequence[list[str]] = TREES
) -> tuple[_core.RecurrentLearner, naive.RecurrentLearner]:
    bias = [random_bias(paths, number) for number, paths in enumerate(trees)]
    kernel = _core.RecurrentLearner(tree_arrays(trees), bias, WIDTH, *dropout, seed)
    random = naive.Random(seed)
    of = naive.Recurrent.new(N_WORDS, WIDTH, random)
    nodes = [naive.Nodes.new(paths, WIDTH, one) for paths, one in zip(trees, bias, strict=True)]
    return kernel, naive.RecurrentLearner(of, nodes, dropout, random)


@pytest.mark.parametrize("dropout", [(0.0, 0.0), (0.2, 0.35)])
@pytest.mark.parametrize("trees", [TREES, TREES[:1]])
def test_a_recurrent_state_learns_as_its_twin(dropout: tuple[float, float], trees: list[list[str]]) -> None:
    words, resets = words_of(2300, 6), random_resets(2300, 8)
    kernel, twin = recurrent_learners(dropout, trees=trees)
    matrix_rate, row_rate = 0.004, 0.1
    assert kernel.n_batches(len(words)) == 2
    assert kernel.matrix() == pytest.approx(twin.of.matrix.reshape(-1), rel=2**-22)
    # A node that is on every way learns a thousand times in a batch: a random walk of what is off.
    close = ROUNDING * math.sqrt(1024)
    allowed: dict[str, Any] = dict.fromkeys(("matrix", "bias"), 2**-22)
    for batch in range(2):
        before = {name: getattr(twin.of, name).copy() for name in ("matrix", "bias")}
        rates = matrix_rate, row_rate
        found = kernel.learn(ids(words), resets, batch, batch + 1, rates, rates)
        expected = twin.learn(words, resets.tolist(), batch, *rates)
        assert all(min(one.close_calls) > 1e-6 for one in twin.nodes)
        assert found == pytest.approx(expected, rel=close)
        assert_rounded(kernel.word_vectors(), twin.of.words, close)
        assert_nodes(kernel, twin.nodes, close)
        for name, of_kernel in (("matrix", kernel.matrix()), ("bias", kernel.bias())):
            # A step of Adam is at most about the rate, whatever the gradient is: of one near 0, which is
            # off by as much as the largest one is rounded, only that is known.
            gradient = np.abs(twin.gradients[name])
            unsure = np.minimum(2, 2 * ROUNDING * gradient.max() / (gradient + 1e-8))
            allowed[name] = allowed[name] + matrix_rate * unsure
            error = np.abs(of_kernel.reshape(gradient.shape) - getattr(twin.of, name))
            assert (error <= allowed[name]).all()
            assert unsure.mean() < 0.1
            assert np.abs(getattr(twin.of, name) - before[name]).max() > matrix_rate / 2


def test_long_gradients_are_made_shorter() -> None:
    """As if every word came from nowhere: with large vectors of nodes a mean gradient is longer than 1."""
    _, twin = recurrent_learners((0.0, 0.0))
    for one in twin.nodes:
        one.vectors[:] = 30 * np.random.default_rng(1).normal(size=one.vectors.shape)
    twin.learn(words_of(1024, 6), [0] * 1024, 0, 0.004, 0.0001)
    norm = math.sqrt(sum(float((one**2).sum()) for one in twin.gradients.values()))
    assert norm == pytest.approx(1.0)


def test_gradients_of_a_recurrent_state_are_those_of_finite_differences() -> None:
    random = np.random.default_rng(2)
    width, n_steps, n_streams = 4, 6, 3
    of = naive.Recurrent(
        random.normal(size=(9, width)),
        random.normal(size=(2 * width, 4 * width)) / 2,
        random.normal(size=4 * width),
    )
    inputs, given_gradient = random.normal(size=(2, n_steps, n_streams, width))
    resets = random.random((n_steps, n_streams)) < 0.2
    start = random.normal(size=(2, n_streams, width))

    def total() -> float:
        return float((given_gradient * of.forward(inputs, resets, *start).hidden).sum())

    found = of.forward(inputs, resets, *start).backward(given_gradient)
    step = 1e-6
    for values, gradient in zip((of.matrix, of.bias, inputs), found, strict=True):
        for place in np.ndindex(values.shape):
            kept = values[place]
            values[place] = kept + step
            above = total()
            values[place] = kept - step
            below = total()
            values[place] = kept
            # The error is of the order of step^2, and what is rounded over step.
            assert gradient[place] == pytest.approx((above - below) / (2 * step), abs=1e-7)


def test_a_recurrent_state_learns_the_same_in_pieces() -> None:
    words, resets = ids(words_of(5000, 4)), random_resets(5000, 2)
    found = []
    for cuts in ([0, 4], [0, 1, 3, 4]):
        kernel, _ = recurrent_learners((0.2, 0.3))
        for begin, end in pairwise(cuts):
            kernel.learn(words, resets, begin, end, (0.002, 0.05), (0.002, 0.05))
        arrays = (kernel.matrix(), kernel.bias(), *kernel.word_vectors(), *kernel.nodes()[1])
        found.append([one.tobytes() for one in arrays])
    assert found[0] == found[1]


@pytest.mark.parametrize("n_events", [0, 1, 31, 1023])
def test_a_text_of_less_than_a_batch_teaches_a_recurrent_state_nothing(n_events: int) -> None:
    kernel, _ = recurrent_learners((0.0, 0.0))
    before = kernel.matrix().tobytes()
    assert kernel.n_batches(n_events) == 0
    words = ids(words_of(n_events, 1) if n_events else [])
    assert kernel.learn(words, np.zeros(n_events, np.uint8), 0, 0, (0.1, 0.1), (0.1, 0.1)) == [0.0, 0.0]
    assert kernel.matrix().tobytes() == before
    assert not any(nodes[0].any() for nodes in kernel.nodes())


# ---- scoring


@cache
def both() -> VectorProblem:
    return VectorProblem([Network.random("linear", 1), Network.random("recurrent", 2)])


@cache
def kernel_of_both() -> _core.TreeModelKernel:
    return both().kernel()


STARTS = [2 if place % 20 == 0 else int(place % 7 == 0) for place in range(70)]


@pytest.mark.parametrize("history", [SENTENCE, DOCUMENT])
@pytest.mark.parametrize("network", [0, 1])
def test_a_network_alone_scores_as_its_twin(network: int, history: int) -> None:
    problem, kernel = both(), kernel_of_both()
    weights = problem.weights_of(kernel, history, [2 + network])
    words = words_of(70, 9)
    twin = problem.networks[network].twin()
    is_start = [one > (1 if history else 0) for one in STARTS]
    expected = naive.log_probs(twin.vector, problem.twin_nodes(network), words, is_start)
    for threads in (1, 2, 3):
        found = score(kernel, words, STARTS, history, weights, threads=threads)
        # At most 12 nodes; a log-odds is of the size of its vector, below 15, or clamped.
        np.testing.assert_allclose(found, expected, atol=12 * 15 * ROUNDING)
    assert np.ptp(expected) > 1


def test_all_networks_together_add_up() -> None:
    problem, kernel = both(), kernel_of_both()
    words = words_of(30, 9)
    nodes = [problem.twin_nodes(number) for number in (0, 1)]
    vectors = [one.twin().vector for one in problem.networks]
    found = score(kernel, words, [0] * 30, DOCUMENT, problem.weights_of(kernel, DOCUMENT, [2, 3]))
    for tree in range(2):
        root = kernel.root_log_odds(tree)
        for place, word in enumerate(words):
            read = [END, *words[:place]]
            expected = 0.0
            for node, right in nodes[0][tree].walk(word):
                odds = [of[tree].log_odds(node, at(read)) for of, at in zip(nodes, vectors, strict=True)]
                logit = min(max(sum(odds) - float(root[node]), -16.0), 16.0)
                expected += naive.log_sigmoid(logit if right else -logit)
            assert found[tree, place] == pytest.approx(expected, abs=2 * 12 * 15 * ROUNDING)


@pytest.mark.parametrize("history", HISTORIES)
def test_pieces_are_the_whole_to_the_last_bit(history: int) -> None:
    problem, kernel = both(), kernel_of_both()
    weights = problem.weights_of(kernel, history, range(2, kernel.n_inputs(history)))
    n = 5000
    words = words_of(n, 11)
    starts = [int(random > 0.9) + int(random > 0.97) for random in np.random.default_rng(3).random(n)]
    whole = score(kernel, words, starts, history, weights, threads=3)
    state = kernel.start(history, True)
    pieces = [
        score(kernel, words[begin:end], starts[begin:end], history, weights, state, 1)
        for begin, end in pairwise([0, 1, 2, 130, 4097, n])
    ]
    assert np.concatenate(pieces, axis=1).tobytes() == whole.tobytes()


@pytest.mark.parametrize("n_sentences", [1, 2, 3, 7, 8, 9, 10, 11, 31, 32, 33, 70])
def test_sentences_read_side_by_side_are_each_alone(n_sentences: int) -> None:
    """Products of matrices with any number of rows; sentences of one length, and of many."""
    problem, kernel = both(), kernel_of_both()
    weights = problem.weights_of(kernel, SENTENCE, [2, 3])
    for lengths in ([4] * n_sentences, [1 + one * 7 % 11 for one in range(n_sentences)]):
        words, cuts = words_of(sum(lengths), 12), [0, *np.cumsum(lengths).tolist()]
        starts = [int(place in cuts) for place in range(len(words))]
        alone = [score(kernel, words[a:b], starts[a:b], SENTENCE, weights) for a, b in pairwise(cuts)]
        for threads in (1, 2, 5):
            found = score(kernel, words, starts, SENTENCE, weights, threads=threads)
            assert found.tobytes() == np.concatenate(alone, axis=1).tobytes()


@settings(max_examples=25)
@given(st.data())
def test_any_text_in_any_pieces(data: st.DataObject) -> None:
    problem, kernel = both(), kernel_of_both()
    words = data.draw(st.lists(st.sampled_from([0, 2, 3, 4, 7, 11]), min_size=1, max_size=60))
    n = len(words)
    starts = data.draw(st.lists(st.sampled_from([0, 0, 1, 2]), min_size=n, max_size=n))
    history, threads = data.draw(st.integers(0, 2)), data.draw(st.integers(1, 3))
    cut, known = data.draw(st.integers(0, n)), data.draw(st.booleans())
    weights = problem.weights_of(kernel, history, [2, 3])
    state, whole_state = (kernel.start(history, known) for _ in range(2))
    whole = score(kernel, words, starts, history, weights, whole_state, threads)
    pieces = [
        score(kernel, words[begin:end], starts[begin:end], history, weights, state)
        for begin, end in ((0, cut), (cut, n))
        if begin < end
    ]
    assert np.concatenate(pieces, axis=1).tobytes() == whole.tobytes()
    assert state.vectors() == whole_state.vectors()
    if history == SENTENCE:
        twin = problem.networks[0].twin()
        read = () if not known else (END,)
        expected = naive.log_probs(
            twin.vector, problem.twin_nodes(0), words, [one > 0 for one in starts], read
        )
        alone = score(
            kernel,
            words,
            starts,
            history,
            problem.weights_of(kernel, history, [2]),
            kernel.start(history, known),
        )
        np.testing.assert_allclose(alone, expected, atol=12 * 15 * ROUNDING)


# ---- states


def state_vectors(state: _core.TextState) -> NDArray[np.float32]:
    return np.frombuffer(state.vectors(), np.float32)


def test_states_are_those_of_the_twin() -> None:
    for number, kind in enumerate(KINDS):
        problem = VectorProblem([both().networks[number]])
        kernel, twin = problem.kernel(), problem.networks[0].twin()
        assert not state_vectors(kernel.start(DOCUMENT, False)).any()
        state = kernel.start(DOCUMENT, True)
        words = words_of(40, 2)
        for n in (0, 1, 2, 5, 32):
            at = len(words) - 40
            state = kernel.start(DOCUMENT, True)
            if n:
                score(kernel, words[at : at + n], [0] * n, DOCUMENT, problem.weights_of(kernel, 1, []), state)
            read = [END, *words[:n]]
            found = state_vectors(state)
            if kind == "recurrent":
                expected: Any = np.concatenate(twin.state(read))
            else:
                near = twin.near_words(read)
                head = [len(near), *near] + [0] * (N_POSITIONS - len(near))
                assert found[: 1 + N_POSITIONS].view(np.uint32).tolist() == head
                found, expected = found[1 + N_POSITIONS :], twin.states(read).reshape(-1)
            np.testing.assert_allclose(found, expected, atol=ROUNDING * (n + 1))
        # A state is its bytes.
        again = _core.TextState(state.vectors())
        weights = problem.weights_of(kernel, DOCUMENT, [2])
        scores = [score(kernel, words, [0] * 40, DOCUMENT, weights, one) for one in (state, again)]
        assert scores[0].tobytes() == scores[1].tobytes()


def gates_of(values: NDArray[np.float32], gate: int) -> NDArray[np.float32]:
    """What one gate of an LSTM makes of numbers: its other gates are open, or their value is 1."""
    found = []
    for begin in range(0, len(values), WIDTH):
        some = np.zeros(WIDTH, np.float32)
        some[: len(values[begin : begin + WIDTH])] = values[begin : begin + WIDTH]
        bias = np.full((4, WIDTH), 40.0, np.float32)  # a value of 40 is 1 after both functions
        bias[gate] = some
        words, scales, matrix, _ = Network.random("recurrent", 1).arrays
        network = Network("recurrent", (words, scales, matrix * 0, bias.reshape(-1)))
        cells = state_vectors(VectorProblem([network]).kernel().start(DOCUMENT, True))[WIDTH:]
        found.append(cells[: len(values[begin : begin + WIDTH])])
    return np.concatenate(found)


@pytest.mark.parametrize(("gate", "function"), [(0, naive.sigmoid), (3, np.tanh)], ids=["sigmoid", "tanh"])
def test_functions_of_gates(gate: int, function: Callable[[Any], Any]) -> None:
    """They end at 30 and 15; e^x is off by two units in the last place, and 1 + e^x, 1 / x round once."""
    values = np.concatenate((np.linspace(-50, 50, 301), [0.0, -0.0, 1e-30, 3e38, -3e38, 1e-4])).astype(
        np.float32
    )
    found, expected = gates_of(values, gate), function(values.astype(float).clip(-700, 700))
    np.testing.assert_allclose(found, expected, atol=2**-22 if gate else 2**-40, rtol=2**-21)
    in_order = found[:301]
    assert (np.diff(in_order) >= -(2**-23)).all()


# ---- proper distributions


@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize("n_networks", [1, 2])
def test_probabilities_sum_to_one_after_every_history(history: int, n_networks: int) -> None:
    problem = VectorProblem(both().networks[:n_networks], caches=[Cache((), 0.9)])
    kernel = problem.kernel()
    weights = problem.weights_of(kernel, history, range(2, kernel.n_inputs(history)))
    words, unknown = words_of(50, 4), [ids([_core.NO_VALUE])] * 5
    for n in (0, 1, 3, 50):
        state = kernel.start(history, n > 0)
        if n:
            score(kernel, words[:n], [0] * n, history, weights, state)
        each = [
            score(kernel, [word], [0], history, weights, state.copy())[:, 0]
            for word in range(N_WORDS)
            if word != 1
        ]
        expected = np.exp(each).T
        assert expected.sum(axis=1) == pytest.approx(1.0, abs=1e-9)
        for threads in (1, 2):
            found = kernel.distributions(unknown, 0, history, weights, state, threads)
            # 1 - p loses digits where p is nearly one: logits are at most 16.
            np.testing.assert_allclose(np.delete(found, 1, axis=1), expected, rtol=math.exp(16) * 2**-50)


@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize("n_events", [1, 7, 8, 9, 16, 17, 50])
def test_rows_of_many_events_are_the_distributions_of_each(history: int, n_events: int) -> None:
    problem = VectorProblem(both().networks, caches=[Cache((), 0.9)])
    kernel = problem.kernel()
    weights = problem.weights_of(kernel, history, range(2, kernel.n_inputs(history)))
    words, starts = words_of(n_events, 4), np.array(STARTS[:n_events], np.uint8)
    of_trees, of_rows = np.array([0.25, 0.75]), np.linspace(0.5, 2, n_events)
    unknown = [np.full(n_events, _core.NO_VALUE, np.uint32)] * 5
    state, expected = kernel.start(history, True), []
    for word, start, weight in zip(words, starts, of_rows, strict=True):
        each = [
            of_trees @ np.exp(score(kernel, [one], [start], history, weights, state.copy())[:, 0])
            for one in range(N_WORDS)
            if one != BEGIN
        ]
        expected.append(weight * np.insert(each, BEGIN, 0.0))
        score(kernel, [word], [start], history, weights, state)
    for threads in (1, 2, 3):
        rows, state = np.zeros((n_events, N_WORDS)), kernel.start(history, True)
        kernel.add_rows(
            ids(words), unknown, np.zeros(n_events, np.uint32), starts, history, weights, state,
            of_trees, of_rows, rows.reshape(-1), threads,
        )  # fmt: skip
        np.testing.assert_allclose(rows.sum(axis=1), of_rows, rtol=1e-9)
        # 1 - p loses digits where p is nearly one: logits are at most 16.
        np.testing.assert_allclose(rows, expected, rtol=math.exp(16) * 2**-50)


# ---- adaptive states


def adaptive_problem(n_words: int = N_WORDS, n_trees: int = 2) -> VectorProblem:
    networks = [
        Network.random(kind, seed, n_words=n_words) for seed, kind in ((3, "linear"), (4, "recurrent"))
    ]
    caches = [Cache((), 0.9), Cache((0,), 0.9)]
    return VectorProblem(networks, n_trees, n_words, caches)


@pytest.mark.parametrize("n_trees", [1, 2])
def test_a_linear_state_goes_on_learning_as_its_twin(n_trees: int) -> None:
    problem = replace(adaptive_problem(n_trees=n_trees), adaptive_rate=0.0)
    kernel = problem.kernel()
    # After the caches.
    weights = problem.weights_of(kernel, ADAPTIVE, [kernel.n_inputs(DOCUMENT) + 2])
    network = problem.networks[0]
    twin = naive.AdaptiveLinear(network.twin(), problem.twin_nodes(0))
    words = words_of(70, 9)
    expected = []
    for word, start in zip(words, STARTS, strict=True):
        if start == 2:
            twin.start()
        expected.append(twin.learn(word))
    assert all(min(one.close_calls) > 1e-5 for one in twin.nodes)
    found = score(kernel, words, STARTS, ADAPTIVE, weights)
    np.testing.assert_allclose(found.T, expected, atol=12 * 15 * ROUNDING * 70)
    static = score(kernel, words, STARTS, DOCUMENT, problem.weights_of(kernel, DOCUMENT, [2]))
    assert found[:, 40:].mean() > static[:, 40:].mean() + 0.1


@pytest.mark.parametrize("kind", ["linear", "recurrent"])
def test_words_after_similar_histories_are_those_of_the_twin(kind: str) -> None:
    network = Network.random(kind, 3)
    problem = VectorProblem([network], caches=[Cache((), 0.9)], adaptive_rate=0.0)
    kernel, words, twin = problem.kernel(), words_of(70, 9), network.twin()
    # After the cache, the adaptive state and the match.
    after = kernel.n_inputs(DOCUMENT) + 2 + (kind == "linear")
    read, vectors = [END], []
    for word, start in zip(words, STARTS, strict=True):
        read = [END] if start == 2 else read
        vectors.append(twin.vector(read))
        read = [*read, word]
    distances = np.concatenate([naive.cosines(vectors[:n]) for n in range(1, 71)]) - naive.MIN_COSINE
    assert np.abs(distances).min() > 1e-5
    found = score(kernel, words, STARTS, ADAPTIVE, problem.weights_of(kernel, ADAPTIVE, [after]))
    for tree, paths in enumerate(problem.trees):
        root, numbers = kernel.root_log_odds(tree).astype(float), naive.node_numbers(paths)
        for place, word in enumerate(words):
            expected = 0.0
            for depth, bit in enumerate(paths[word]):
                node = paths[word][:depth]
                right = naive.sigmoid(root[numbers[node]])
                masses = naive.similar_masses(vectors[: place + 1], words[:place], paths, node)
                logit = np.log((masses[1] + right) / (masses[0] + 1 - right))
                expected += naive.log_sigmoid(logit if bit == "1" else -logit)
            assert found[tree, place] == pytest.approx(expected, abs=1e-4), (tree, place)


def test_copies_of_adaptive_states_go_their_own_ways() -> None:
    """Also once so much has changed, more than 4096 rows, that copies share it."""
    problem = adaptive_problem(3000)
    kernel = problem.kernel()
    weights = problem.weights_of(kernel, ADAPTIVE, [kernel.n_inputs(DOCUMENT) + 2])
    words = np.random.default_rng(1).integers(2, 3000, 2400).tolist()
    whole_state = kernel.start(ADAPTIVE, True)
    whole = score(kernel, words, [0] * 2400, ADAPTIVE, weights, whole_state)
    state, found, copies = kernel.start(ADAPTIVE, True), [], []
    for begin in range(0, 2400, 400):
        copies.append(state.copy())
        piece = words[begin : begin + 400]
        found.append(score(kernel, piece, [0] * 400, ADAPTIVE, weights, state))
    assert np.concatenate(found, axis=1).tobytes() == whole.tobytes()
    for number, copy in enumerate(copies):
        # A copy is where it was made.
        piece = words[number * 400 : number * 400 + 400]
        again = score(kernel, piece, [0] * 400, ADAPTIVE, weights, copy)
        assert again.tobytes() == found[number].tobytes()


# ---- learning the weights


def test_weights_are_learned_with_the_vectors_of_scoring() -> None:
    """Blocks begin anew; what is known of a document is read from the words before a block."""
    problem = VectorProblem(both().networks, caches=[Cache((), 0.9)], adaptive_rate=0.0)
    kernel = problem.kernel()
    words = words_of(120, 5)
    starts = np.array([2 if place % 50 == 0 else int(place % 7 == 0) for place in range(120)], np.uint8)
    weights = [
        one
        for history in HISTORIES
        for one in problem.weights_of(kernel, history, range(2, kernel.n_inputs(history)))
    ]
    blocks = [(0, 30, 60), (60, 60, 60), (60, 80, 119), (119, 120, 120)]
    warms, begins, ends = np.array(blocks).T.copy()
    unknown = [np.full(120, _core.NO_VALUE, np.uint32)] * 5
    squares = [np.ones_like(one) for one in weights]
    for threads in (1, 2, 3):
        found = kernel.learn(
            ids(words), unknown, np.zeros(120, np.uint32), starts, begins, ends, warms,
            np.ones(120, np.uint8), weights, squares, 0.0, False, 1, None, threads,
        )  # fmt: skip
        for history in HISTORIES:
            expected = np.zeros(2)
            for warm, begin, end in blocks:
                if begin == end:
                    continue
                first = begin if history == SENTENCE else warm
                # Where the states begin anew, those of a sentence too.
                of_block = [2, *starts[first + 1 : end].tolist()]
                scores = score(
                    kernel, words[first:end], of_block, history, weights[2 * history : 2 * history + 2]
                )
                expected += scores[:, begin - first :].sum(axis=1)
            assert found[2 * history : 2 * history + 2] == pytest.approx(expected.tolist(), rel=1e-12), (
                history
            )
