"""Damaged counts, trees and events of word trees are refused, or read without leaving their arrays."""

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

import naive.word_tree as naive
from stategram import _core
from word_tree_problems import Problem, ids, random_paths, random_words, stream_of, tree_of, words_before

CHAINS = [naive.Chain((0, 1)), naive.Chain((3,), uses_continuation=False)]
LARGEST = 2**32 - 1
Arguments = dict[str, Any]


@cache
def problem() -> Problem:
    """Two levels, the first with long lists."""
    return Problem(
        words_before(random_words(1500, 100, 5)),
        [random_paths(100, 1), random_paths(100, 2)],
        CHAINS,
        [naive.Cache((), 0.9), naive.Cache((0,), 0.95)],
    )


@cache
def good() -> Arguments:
    found = problem().arguments()
    assert len(found["levels"][0][2][0][0]) > 1
    return found


def arguments() -> Arguments:
    return good() | {"levels": list(good()["levels"])}


@cache
def good_kernel() -> _core.TreeModelKernel:
    return problem().kernel()


def with_level(place: int, value: object, number: int = 0) -> Callable[[Arguments], None]:
    """Change one of: directory, entries, long lists of the trees, discount, discounts at nodes."""

    def change(of: Arguments) -> None:
        level = list(of["levels"][number])
        level[place] = value(level[place]) if callable(value) else value
        of["levels"][number] = tuple(level)

    return change


def with_lists(place: int, value: Callable[[NDArray[Any]], NDArray[Any]]) -> Callable[[Arguments], None]:
    """Change the beginnings or the bytes of the long lists of the last tree."""

    def change(lists: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        last = list(lists[-1])
        last[place] = value(last[place])
        return [*lists[:-1], tuple(last)]

    return with_level(2, change)


def with_argument(name: str, value: object) -> Callable[[Arguments], None]:
    return lambda of: of.update({name: value(of[name]) if callable(value) else value})


def changed(array: NDArray[Any], place: int, value: int) -> NDArray[Any]:
    found = array.copy()
    found[place] = value
    return found


FOLLOW = "long lists do not follow each other"
SIZE = "directory does not have its size"
TREE = "codes of the words are not those of a"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (with_level(0, ids([])), SIZE),
        (with_level(0, ids([0])), SIZE),
        (with_level(0, ids([0, 0])), SIZE),
        (with_level(0, lambda of: of[:-1].copy()), SIZE),
        (with_level(2, []), "each tree needs its long lists"),
        (with_level(2, lambda of: of[:1]), "each tree needs its long lists"),
        (with_level(4, [[0.5, 0.5]]), "each tree needs its discounts"),
        (with_level(4, [[0.5, 0.5]] * 2), "three discounts"),
        (with_lists(0, lambda of: of[:-1].copy()), "different long lists"),
        (with_lists(0, lambda of: changed(of, 0, 1)), FOLLOW),
        (with_lists(0, lambda of: changed(of, 1, 2**62)), FOLLOW),
        (with_lists(0, lambda of: changed(of, -1, 3)), FOLLOW),
        (with_lists(1, lambda of: of[:23].copy()), "different long lists"),
        (with_lists(1, lambda of: of[:-5].copy()), FOLLOW),
        (with_argument("trees", []), "each word needs its counts"),
        (with_argument("contexts", ids([1])), "each word needs its counts"),
        (with_argument("counts", ids([1])), "each word needs its counts"),
        (with_argument("trees", lambda of: [of[0], (of[1][0][:-1].copy(), of[1][1])]), "a code in each tree"),
        (with_argument("trees", lambda of: [(changed(of[0][0], 7, 1), of[0][1]), of[1]]), TREE),
        (with_argument("trees", lambda of: [(of[0][0], changed(of[0][1], 7, 33)), of[1]]), "longer than 32"),
        (with_argument("trees", lambda of: [(of[0][0], changed(of[0][1], 7, 0)), of[1]]), TREE),
        (with_argument("trees", lambda of: [(of[0][0] * 0, of[0][1] * 0), of[1]]), TREE),
        (with_argument("trees", lambda of: [of[0], tree_of(["", "0", "1", *[""] * 97])]), "different words"),
        (with_argument("chains", lambda of: [([], True, False), *of]), "no values"),
        (with_argument("chains", lambda of: [([0, 9], True, False), of[1]]), "value that is not there"),
        (with_argument("chains", lambda of: [*of, of[0]]), "needs its counts"),
        (with_argument("chains", lambda of: of[:1]), "needs its counts"),
        (with_argument("chains", lambda of: [(*of[0][:2], True), of[1]]), "chains of sentences come first"),
        (with_argument("n_frequent_nodes", 2**60 - 32), "too many weights"),
        (with_argument("n_classes", 2**60), "too many weights"),
    ],
)
def test_what_does_not_fit_together(change: Callable[[Arguments], None], message: str) -> None:
    of = arguments()
    change(of)
    with pytest.raises(ValueError, match=message):
        _core.TreeModelKernel(**of)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (with_level(0, lambda of: changed(of, 0, LARGEST)), "directory does not rise"),
        (with_level(1, lambda of: of | 128), "reaches beyond|ends inside|too large|too long|is missing"),
        (with_level(1, lambda of: changed(of, 3, 254)), "reaches beyond|ends inside|not a word|too long"),
        (with_level(1, lambda of: of[:-8].copy(), 1), "reaches beyond"),
        (with_lists(1, lambda of: of | 1), "no sums"),
        (with_lists(1, lambda of: np.full_like(of, 255)), "no sums"),
        (with_lists(1, lambda of: np.full_like(of, 126)), "part of a long list is missing|cut off"),
    ],
)
def test_damaged_lists_are_found(change: Callable[[Arguments], None], message: str) -> None:
    _core.TreeModelKernel(**arguments()).check(2)
    of = arguments()
    change(of)
    for threads in (1, 2):
        with pytest.raises(ValueError, match=message):
            _core.TreeModelKernel(**of).check(threads)


def lists_of(*records: int) -> Callable[[Arguments], None]:
    """Let the last tree have one long list: its sums, and then these bytes."""

    def change(lists: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        data = [0, 0, 0, 9, 9, 9, *records]
        n_lists = len(lists[-1][0]) - 1
        begins = np.arange(n_lists + 1) * len(data)
        return [*lists[:-1], (begins, np.array(data * n_lists + [0] * 24, np.uint8))]

    return with_level(2, change)


NODE = (0, 5, 4, 3, 3, 3)  # node 5, whose left side has 4 bytes


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ((1,), "has no words"),
        ((*NODE, 7, 2, 2, 2, 5, 2, 2), None),
        ((*NODE, 7, 2, 0, 2, 5, 2, 2), "not in order"),
        ((*NODE, 5, 2, 2, 2, 5, 2, 2), "not in order"),
        ((0, 5, 0, 3, 3, 3, 7, 2, 2, 2, 5, 2, 2), "not in order"),
        ((*NODE, 7, 2, 2, 2, 0, 200, 2, 3, 3, 3, 3, 2, 3, 2), "missing"),
    ],
)
def test_long_lists_that_are_not_in_order(records: tuple[int, ...], message: str | None) -> None:
    of = arguments()
    lists_of(*records)(of)
    kernel = _core.TreeModelKernel(**of)
    if message is None:
        kernel.node_discounts(1 << 20, 1)
        return
    with pytest.raises(ValueError, match=message):
        kernel.node_discounts(1 << 20, 1)


@pytest.mark.parametrize(
    ("cache", "message"),
    [(([], decay), "decay") for decay in (0.0, 1.0, -0.5, float("nan"))]
    + [(([5], 0.9), "a cache has a value that is not there")],
)
def test_caches(cache: tuple[list[int], float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _core.TreeModelKernel(**arguments() | {"caches": [cache]})


# ---- events


def scored() -> Arguments:
    events = problem().events[:20]
    return {
        "words": ids([event.word for event in events]),
        "streams": [stream_of(events, number) for number in range(5)],
        "classes": ids([event.of_class for event in events]),
        "history": 1,
        "weights": problem().weights(good_kernel(), 1, 0),
        "starts": np.zeros(20, np.uint8),
        "state": good_kernel().start(1, True),
        "threads": 1,
    }


def learned() -> Arguments:
    weights = [one for history in range(3) for one in problem().weights(good_kernel(), history, 0)]
    of_score = scored()
    return {name: of_score[name] for name in ("words", "streams", "classes", "starts")} | {
        "begins": np.array([5, 10]),
        "ends": np.array([10, 20]),
        "cache_begins": np.array([0, 10]),
        "used": np.ones(20, np.uint8),
        "weights": weights,
        "squares": [np.ones_like(one) for one in weights],
        "rate": 0.01,
        "leave_out": True,
        "seed": 1,
        "state": None,
        "threads": 2,
    }


EVENTS: list[tuple[str, object, str]] = [
    ("words", lambda of: changed(of, 3, 100), "not a word of the trees"),
    ("words", lambda of: changed(of, 3, LARGEST), "not a word of the trees"),
    ("words", lambda of: changed(of, 3, 1), "not a word of the trees"),  # <s>
    ("words", lambda of: of[:-1].copy(), "a value of each stream"),
    ("streams", lambda of: of[:-1], "a value of each stream"),
    ("streams", lambda of: [*of[:-1], of[0][:-1].copy()], "a value of each stream"),
    ("classes", lambda of: changed(of, 3, 3), "class of the last word"),
    ("classes", lambda of: of[:-1].copy(), "a value of each stream"),
    ("starts", lambda of: of[:-1].copy(), "a value of each stream"),
    ("weights", lambda of: of[:-1], "needs weights"),
    ("weights", lambda of: [*of[:-1], of[0][:-1].copy()], "too few or too many"),
]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        *EVENTS,
        ("history", 3, "three histories"),
        ("history", -1, "three histories"),
        ("history", 2, "too few or too many"),
        ("state", lambda _: good_kernel().start(2, True), "cache is needed"),
        ("state", lambda _: _core.TextState(bytes(4)), "state is that of another"),
        ("threads", 0, "threads"),
    ],
)
def test_bad_events_are_not_scored(name: str, value: Any, message: str) -> None:
    kernel, of = good_kernel(), scored()
    kernel.score(**of)
    of[name] = value(of[name]) if callable(value) else value
    with pytest.raises(ValueError, match=message):
        kernel.score(**of)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        *EVENTS,
        ("squares", lambda of: of[:-1], "needs weights"),
        ("squares", lambda of: [*of[:-1], of[0][:-1].copy()], "too few or too many"),
        ("begins", np.array([5]), "each block needs"),
        ("begins", np.array([5, 21]), "not in the text"),
        ("begins", np.array([-1, 10]), "not in the text"),
        ("ends", np.array([10, 21]), "not in the text"),
        ("ends", np.array([4, 20]), "not in the text"),
        ("cache_begins", np.array([6, 10]), "not in the text"),
        ("cache_begins", np.array([-(2**62), 10]), "not in the text"),
        ("used", np.ones(19, np.uint8), "each block needs"),
        ("threads", 0, "threads"),
    ],
)
def test_bad_events_are_not_learned(name: str, value: Any, message: str) -> None:
    kernel, of = good_kernel(), learned()
    kernel.learn(**of)
    of[name] = value(of[name]) if callable(value) else value
    with pytest.raises(ValueError, match=message):
        kernel.learn(**of)


def test_bad_histories_have_no_distribution() -> None:
    kernel, of = good_kernel(), scored()
    streams, weights, trees = of["streams"], of["weights"], np.array([0.5, 0.5])
    with pytest.raises(ValueError, match="at least one word"):
        kernel.likeliest(streams, 0, 1, weights, of["state"], trees, 0)
    with pytest.raises(ValueError, match="each tree needs a weight"):
        kernel.likeliest(streams, 0, 1, weights, of["state"], np.array([1.0]), 3)
    for bad_streams, of_class in ((streams[:-1], 0), (streams, 3), ([ids([])] * 5, 0)):
        with pytest.raises(ValueError, match="history needs a value"):
            kernel.distributions(bad_streams, of_class, 1, weights, of["state"], 1)
        with pytest.raises(ValueError, match="history needs a value"):
            kernel.likeliest(bad_streams, of_class, 1, weights, of["state"], trees, 3)


def test_events_that_were_never_counted_may_be_left_out() -> None:
    """Counts fall below zero: the result is of no use, but nothing is read outside of its array."""
    of = learned() | {"words": np.full(20, 99, np.uint32)}
    good_kernel().learn(**of)


# ---- anything at all


nasty = st.sampled_from([0, 1, 2, 3, 4, 5, 64, 127, 128, 255, 256, 2**31 - 1, 2**31, LARGEST - 1, LARGEST])


@settings(max_examples=150)
@given(st.data())
def test_no_integers_lead_out_of_bounds(data: st.DataObject) -> None:
    of = arguments()
    number = data.draw(st.integers(0, 2))
    level = list(of["levels"][number])
    arrays = {"directory": level[0], "entries": level[1]}
    arrays |= {f"lists {i}": array for i, array in enumerate(level[2][-1])}
    for name in data.draw(st.lists(st.sampled_from(sorted(arrays)), unique=True, min_size=1, max_size=2)):
        array = arrays[name].copy()
        for place in data.draw(st.lists(st.integers(0, 2**16), max_size=4)) if len(array) else ():
            array[place % len(array)] = np.int64(data.draw(nasty)).astype(array.dtype)
        arrays[name] = array
    level[0], level[1] = arrays["directory"], arrays["entries"]
    level[2] = [*level[2][:-1], tuple(arrays[f"lists {i}"] for i in range(2))]
    of["levels"][number] = tuple(level)
    with contextlib.suppress(ValueError):
        kernel = _core.TreeModelKernel(**of)
        use, taught = scored(), learned()
        for call in (
            lambda: kernel.check(1),
            lambda: kernel.node_discounts(1 << 20, 1),
            lambda: kernel.score(**use),
            lambda: kernel.distributions(use["streams"], 0, 1, use["weights"], use["state"], 1),
            lambda: kernel.learn(**taught),
        ):
            with contextlib.suppress(ValueError):
                call()


LISTS: Arguments = {
    "begins": np.array([0, 2, 5]),
    "words": ids([0, 2, 3, 4, 0]),
    "counts": ids([1, 2, 3, 1, 1]),
    "contexts": ids([1, 1, 2, 1, 1]),
    "codes": tree_of(["000", "", "1", "001", "01"])[0],
    "lengths": tree_of(["000", "", "1", "001", "01"])[1],
    "has_longer": True,
    "threads": 2,
}
REPEATED = "not the only one of its word"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("begins", np.array([0, 2, 4]), "do not follow"),
        ("begins", np.array([0, 6, 5]), "do not follow"),
        ("begins", np.array([], np.int64), "do not follow"),
        ("begins", np.array([0, 0, 5]), "no words"),
        ("words", ids([0, 2, 3, 4, 5]), "not a word"),
        ("words", ids([0, 2, 3, 4, 1]), "not a word of the tree"),
        ("words", ids([0, 2, 3, 4, 4]), REPEATED),
        ("counts", ids([1, 2, 3, 1, 0]), "no counts"),
        ("counts", ids([1, 2, 3, 1]), "needs its counts"),
        ("contexts", ids([1, 2, 0, 1, 1]), "no counts"),
        ("contexts", ids([1, 2, 3, 1]), "needs its counts"),
        ("codes", ids([0, 0, 0, 0]), "a code and its length"),
        ("codes", ids([0, 0, 0, 0, 0]), TREE),
        ("threads", 0, "threads"),
    ],
)
def test_bad_long_lists_are_not_divided(name: str, value: object, message: str) -> None:
    _core.divide_long_lists(**LISTS)
    with pytest.raises(ValueError, match=message):
        _core.divide_long_lists(**LISTS | {name: value})


def test_codes_that_fill_the_space_but_are_no_tree() -> None:
    # Lengths 2, 1, 2 sum to a whole tree, but the path of length 1 would cross its middle.
    codes, lengths = ids([0, 0, 0x40000000, 0xC0000000]), np.array([2, 0, 1, 2], np.uint8)
    lists = {"begins": np.array([0, 1]), "words": ids([0]), "counts": ids([1]), "contexts": ids([1])}
    with pytest.raises(ValueError, match=TREE):
        _core.divide_long_lists(**LISTS | lists | {"codes": codes, "lengths": lengths})


def test_bad_events_are_not_counted() -> None:
    hashes, words = np.ones(3, np.uint64), ids([0, 1, 2])
    _core.count_chain_level(hashes, words, words, 1, 1)
    with pytest.raises(ValueError, match="each event needs"):
        _core.count_chain_level(hashes[:2].copy(), words, None, 1, 1)
    with pytest.raises(ValueError, match="each event needs"):
        _core.count_chain_level(hashes, words, words[:2].copy(), 1, 1)
    with pytest.raises(ValueError, match="too large a number"):
        _core.count_chain_level(hashes, words + np.uint32(2**27), None, 1, 1)
    with pytest.raises(ValueError, match="each context needs a value"):
        _core.extend_context_hashes(hashes, words[:2].copy(), 1)
