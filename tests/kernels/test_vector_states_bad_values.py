"""Networks and texts of vector states that do not fit together are refused; no number leads out of bounds."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from stategram import _core
from vector_problems import (
    DECAYS,
    N_WORDS,
    Network,
    VectorProblem,
    random_bias,
    score,
    tree_arrays,
    words_of,
)
from word_tree_problems import ids, random_paths

NAN, INFINITE = float("nan"), float("inf")
FINITE = "is not finite"
WIDTH_MESSAGE = "not a multiple of 32 up to 1024"
Change = Callable[[NDArray[Any]], NDArray[Any]]
LINEAR = ("near", "near-scales", "far", "far-scales", "positions", "sums", "decays")
RECURRENT = ("words", "word-scales", "matrix", "bias")


def shorter(array: NDArray[Any]) -> NDArray[Any]:
    return array[:-1].copy()


def with_one(value: float) -> Change:
    def change(array: NDArray[Any]) -> NDArray[Any]:
        found = array.copy()
        found[len(found) // 2] = value
        return found

    return change


def changed(kind: str, name: str, change: Change) -> Network:
    names = LINEAR if kind == "linear" else RECURRENT
    arrays = Network.random(kind, 1).arrays
    return Network(
        kind, tuple(change(one) if name == at else one for at, one in zip(names, arrays, strict=True))
    )


@pytest.mark.parametrize(
    ("kind", "name", "change", "message"),
    [
        *(
            ("linear", name, shorter, message)
            for name, message in (
                ("near", WIDTH_MESSAGE),
                ("near-scales", "each word needs its vectors"),
                ("far", "each word needs its vectors"),
                ("far-scales", "each word needs its vectors"),
                ("positions", "each position and each sum"),
                ("sums", "each position and each sum"),
                ("decays", "each position and each sum"),
            )
        ),
        ("linear", "near", lambda of: of[:0].copy(), WIDTH_MESSAGE),
        ("linear", "near", lambda of: of[: 16 * N_WORDS].copy(), WIDTH_MESSAGE),
        ("linear", "near", lambda of: np.tile(of, 33), WIDTH_MESSAGE),
        ("linear", "positions", lambda of: of[:0].copy(), "each position and each sum"),
        *(("linear", name, with_one(NAN), FINITE) for name in LINEAR[1:2] + LINEAR[3:6]),
        *(("linear", name, with_one(-INFINITE), FINITE) for name in LINEAR[1:2] + LINEAR[3:6]),
        *(("linear", "decays", with_one(one), "decay of a sum") for one in (NAN, INFINITE, -0.1, 1.0, 1e30)),
        ("recurrent", "words", shorter, WIDTH_MESSAGE),
        ("recurrent", "words", lambda of: np.append(of, np.uint8(1)), "each word needs its vector"),
        ("recurrent", "words", lambda of: of[: 16 * N_WORDS].copy(), WIDTH_MESSAGE),
        ("recurrent", "word-scales", shorter, "each word needs its vector"),
        ("recurrent", "matrix", shorter, "does not have its size"),
        ("recurrent", "bias", shorter, "does not have its size"),
        *(("recurrent", name, with_one(NAN), FINITE) for name in RECURRENT[1:]),
        *(("recurrent", name, with_one(INFINITE), FINITE) for name in RECURRENT[1:]),
    ],
)
def test_networks_that_do_not_fit_together(kind: str, name: str, change: Change, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        changed(kind, name, change).kernel()


@pytest.mark.parametrize("kind", ["linear", "recurrent"])
def test_networks_without_the_end_of_a_sentence(kind: str) -> None:
    for n_words in (1, 2):
        with pytest.raises(ValueError, match="words of a vocabulary"):
            Network.random(kind, 1, n_words=n_words).kernel(n_words)
    with pytest.raises(ValueError, match=WIDTH_MESSAGE):
        Network.random(kind, 1).kernel(0)


@cache
def good() -> VectorProblem:
    return VectorProblem([Network.random("linear", 1), Network.random("recurrent", 2)])


@pytest.mark.parametrize(
    ("place", "change", "message"),
    [
        *((place, shorter, "each node needs a vector") for place in range(3)),
        (0, lambda of: np.tile(of, 2), "each node needs a vector"),
        *((place, with_one(NAN), FINITE) for place in range(1, 3)),
        *((place, with_one(INFINITE), FINITE) for place in range(1, 3)),
    ],
)
@pytest.mark.parametrize("tree", [0, 1])
def test_vectors_of_nodes_that_do_not_fit(tree: int, place: int, change: Change, message: str) -> None:
    of = good().arguments()
    network, nodes = of["vectors"][0]
    nodes[tree] = tuple(change(one) if at == place else one for at, one in enumerate(nodes[tree]))
    with pytest.raises(ValueError, match=message):
        _core.TreeModelKernel(**of | {"vectors": [(network, nodes)]})


def test_networks_of_other_words_and_trees() -> None:
    of = good().arguments()
    network, nodes = of["vectors"][0]
    for wrong in (nodes[:1], [], [*nodes, nodes[0]]):
        with pytest.raises(ValueError, match="each tree needs the vectors"):
            _core.TreeModelKernel(**of | {"vectors": [(network, wrong)]})
    for kind in ("linear", "recurrent"):
        for n_words in (N_WORDS - 1, N_WORDS + 1):
            other = Network.random(kind, 1, n_words=n_words).kernel(n_words)
            with pytest.raises(ValueError, match="other words than the trees"):
                _core.TreeModelKernel(**of | {"vectors": [(other, nodes)]})
        wide = Network.random(kind, 1, width=64).kernel()
        with pytest.raises(ValueError, match="each node needs a vector"):
            _core.TreeModelKernel(**of | {"vectors": [(wide, nodes)]})


def test_states_of_another_size_are_refused() -> None:
    kernel = good().kernel()
    weights = good().weights_of(kernel, 1, [2, 3])
    size = kernel.n_vector_bytes()
    for n in (0, 4, size - 4, size + 4):
        with pytest.raises(ValueError, match="state is that of another model"):
            score(kernel, [3], [0], 1, weights, _core.TextState(bytes(n)))


@settings(max_examples=40)
@given(st.data())
def test_any_bytes_are_a_state(data: st.DataObject) -> None:
    """Words that are not there, more words than are kept, and no numbers: what follows is proper."""
    kernel = good().kernel()
    weights = good().weights_of(kernel, 1, [2, 3])
    state = bytearray(kernel.start(1, True).vectors())
    for place in data.draw(st.lists(st.integers(0, 40), max_size=6)):
        nasty = data.draw(
            st.sampled_from(
                [b"\xff" * 4, b"\0\0\xc0\x7f", b"\0\0\x80\xff", b"\xff\xff\x7f\x7f", b"\x0c\0\0\0"]
            )
        )
        state[4 * place : 4 * place + 4] = nasty
    made = _core.TextState(bytes(state))
    (found, _) = kernel.distributions([ids([_core.NO_VALUE])] * 5, 0, 1, weights, made, 1)
    assert found.sum() == pytest.approx(1.0, abs=1e-9)
    score(kernel, words_of(20, 1), [0] * 20, 1, weights, made)


@settings(max_examples=40)
@given(st.data())
def test_probabilities_are_proper_whatever_the_numbers_are(data: st.DataObject) -> None:
    """Damaged files that are not compared with checksums: any integers, any finite numbers."""
    networks = []
    large = st.sampled_from([0.0, -1.0, 3e38, -3e38, 1e-45, 1e20])
    for one in good().networks:
        arrays = [array.copy() for array in one.arrays]
        for number in data.draw(st.lists(st.integers(0, len(arrays) - 1), max_size=3)):
            array = arrays[number]
            for place in data.draw(st.lists(st.integers(0, 2**16), max_size=4)):
                value = data.draw(st.integers(0, 255) if array.dtype == np.uint8 else large)
                array[place % len(array)] = value
        networks.append(Network(one.kind, tuple(arrays)))
    problem = VectorProblem(networks)
    with contextlib.suppress(ValueError):
        kernel = problem.kernel()
        for history in range(3):
            weights = problem.weights_of(kernel, history, range(2, kernel.n_inputs(history)))
            state = kernel.start(history, True)
            score(kernel, words_of(40, 1), [0] * 40, history, weights, state)
            (found, _) = kernel.distributions([ids([_core.NO_VALUE])] * 5, 0, history, weights, state, 1)
            assert found.sum() == pytest.approx(1.0, abs=1e-9)
            rows = np.zeros(20 * N_WORDS)
            kernel.add_rows(
                ids(words_of(20, 1)), [np.full(20, _core.NO_VALUE, np.uint32)] * 5, np.zeros(20, np.uint32),
                np.zeros(20, np.uint8), history, weights, kernel.start(history, True),
                np.array([0.5, 0.5]), np.ones(20), rows, 1,
            )  # fmt: skip
            np.testing.assert_allclose(rows.reshape(20, -1).sum(axis=1), 1.0, atol=1e-9)


# ---- learning

TREES = [random_paths(N_WORDS, seed) for seed in (1, 2)]


def learner(kind: str, **changes: Any) -> Any:
    of: dict[str, Any] = {
        "trees": tree_arrays(TREES),
        "bias": [random_bias(paths, 1) for paths in TREES],
        "width": 32,
        "seed": 1,
    }
    if kind == "linear":
        of |= {"n_positions": 3, "decays": list(DECAYS)}
        return _core.LinearLearner(**of | changes)
    return _core.RecurrentLearner(**of | {"input_dropout": 0.1, "output_dropout": 0.1} | changes)


LARGE = [0, 1, 31, 33, 1056, 2**31, 2**59, 2**60, 2**63]


@pytest.mark.parametrize("kind", ["linear", "recurrent"])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        *(({"width": width}, WIDTH_MESSAGE) for width in LARGE),
        ({"trees": []}, "each tree needs the bias"),
        ({"bias": []}, "each tree needs the bias"),
        ({"trees": tree_arrays(TREES[:1])}, "each tree needs the bias"),
        ({"trees": tree_arrays([TREES[0], TREES[1][:-1]])}, "a code in each tree"),
        (
            {"trees": [tree_arrays(TREES)[0], (tree_arrays(TREES)[1][0], np.zeros(3, np.uint8))]},
            "a code in each tree",
        ),
        (
            {"trees": [(of[0] * 0, of[1]) for of in tree_arrays(TREES)]},
            "codes of the words are not those of a",
        ),
        ({"trees": tree_arrays([["0", "1"]] * 2)}, "words of a vocabulary"),
        ({"bias": [np.zeros(3, np.float32)] * 2}, "each node needs a bias"),
        ({"bias": [with_one(NAN)(random_bias(TREES[0], 1))] * 2}, FINITE),
        ({"bias": [with_one(INFINITE)(random_bias(TREES[0], 1))] * 2}, FINITE),
    ],
)
def test_learners_that_do_not_fit_together(kind: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        learner(kind, **changes)


@pytest.mark.parametrize("n_positions", [0, 1025, 2**59, 2**63])
def test_positions(n_positions: int) -> None:
    with pytest.raises(ValueError, match="1 to 1024 positions"):
        learner("linear", n_positions=n_positions)


@pytest.mark.parametrize("decay", [NAN, -0.1, 1.0, INFINITE])
def test_decays(decay: float) -> None:
    with pytest.raises(ValueError, match="decay of a sum"):
        learner("linear", decays=[0.9, decay])
    learner("linear", decays=[])


@pytest.mark.parametrize("dropout", [NAN, -0.1, 1.0, INFINITE])
@pytest.mark.parametrize("name", ["input_dropout", "output_dropout"])
def test_dropouts(name: str, dropout: float) -> None:
    with pytest.raises(ValueError, match="a dropout is from 0 to below 1"):
        learner("recurrent", **{name: dropout})


def taught(kind: str) -> dict[str, Any]:
    of: dict[str, Any] = {"words": ids(words_of(1100, 1)), "resets": np.zeros(1100, np.uint8), "begin": 0}
    if kind == "linear":
        return of | {"end": 1100, "first_rate": 0.1, "last_rate": 0.1}
    return of | {"end": 1, "first_rates": (0.1, 0.1), "last_rates": (0.1, 0.1)}


def with_word(word: int) -> Callable[[Any], Any]:
    def change(words: Any) -> Any:
        found = words.copy()
        found[7] = word
        return found

    return change


@pytest.mark.parametrize("kind", ["linear", "recurrent"])
@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("words", with_word(N_WORDS), "not a word of the trees"),
        ("words", with_word(2**32 - 1), "not a word of the trees"),
        ("resets", shorter, "whether it is a reset"),
        ("words", shorter, "whether it is a reset"),
        ("begin", lambda _: 1101, "there are no such"),
        ("end", lambda of: of + 1, "there are no such"),
        ("end", lambda _: 2**63, "there are no such"),
    ],
)
def test_texts_that_cannot_be_learned(
    kind: str, name: str, change: Callable[[Any], Any], message: str
) -> None:
    made, of = learner(kind), taught(kind)
    if (kind, name, message) == ("linear", "words", "whether it is a reset"):
        of["end"] = 1000
    with pytest.raises(ValueError, match=message):
        made.learn(**of | {name: change(of[name])})
    made.learn(**of)


@pytest.mark.parametrize("rate", [NAN, -0.1, 1.1, INFINITE])
def test_rates(rate: float) -> None:
    for name in ("first_rate", "last_rate"):
        with pytest.raises(ValueError, match="a rate is from 0 to 1"):
            learner("linear").learn(**taught("linear") | {name: rate})
    for name in ("first_rates", "last_rates"):
        for rates in ((rate, 0.1), (0.1, rate)):
            with pytest.raises(ValueError, match="a rate is from 0 to 1"):
                learner("recurrent").learn(**taught("recurrent") | {name: rates})


@pytest.mark.parametrize("kind", ["linear", "recurrent"])
def test_words_that_are_in_no_tree_are_read_but_not_predicted(kind: str) -> None:
    made, of = learner(kind), taught(kind)
    assert made.learn(**of | {"words": np.full(1100, 1, np.uint32)}) == [0.0, 0.0]


@pytest.mark.parametrize("kind", ["linear", "recurrent"])
def test_the_largest_rates_end_in_numbers(kind: str) -> None:
    made, of = learner(kind), taught(kind)
    rates = {name: 1.0 if kind == "linear" else (1.0, 1.0) for name in of if name.endswith(("rate", "rates"))}
    for _ in range(5):
        assert np.isfinite(made.learn(**of | rates)).all()
    assert all(np.isfinite(array).all() for nodes in made.nodes() for array in nodes)


def test_blocks_that_do_not_follow_each_other() -> None:
    """They would be read side by side."""
    kernel = good().kernel()
    words, unknown = ids(words_of(20, 1)), [np.full(20, _core.NO_VALUE, np.uint32)] * 5
    weights = [one for history in range(2) for one in good().weights_of(kernel, history, [2])]
    squares = [np.ones_like(one) for one in weights]

    def learn(*blocks: tuple[int, int, int]) -> list[float]:
        warms, begins, ends = np.array(blocks).T.copy()
        return kernel.learn(
            words, unknown, np.zeros(20, np.uint32), np.zeros(20, np.uint8), begins, ends, warms,
            np.ones(20, np.uint8), weights, squares, 0.1, False, 1, None, 2,
        )  # fmt: skip

    for blocks in ([(0, 5, 10), (9, 10, 20)], [(10, 12, 20), (0, 3, 10)], [(0, 0, 20), (0, 0, 20)]):
        with pytest.raises(ValueError, match="do not follow each other"):
            learn(*blocks)
    for blocks in ([(0, 20, 20)], [(20, 20, 20)], [(0, 0, 0), (0, 0, 20), (20, 20, 20)], [(3, 20, 20)]):
        learn(*blocks)
