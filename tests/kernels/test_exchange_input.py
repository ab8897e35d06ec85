"""No input makes an exchange kernel read or write where it must not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from exchange_problems import Tied, array, rows_of
from naive.exchange import closed_bigrams, transposed
from stategram import _core


def good_tied() -> dict[str, object]:
    pairs = closed_bigrams([0, 1, 2, 0, 2, 1])
    successors, predecessors = rows_of(pairs, 3), rows_of(transposed(pairs), 3)
    return {
        "successor_offsets": successors[0],
        "successors": successors[1],
        "successor_counts": successors[2],
        "predecessor_offsets": predecessors[0],
        "predecessors": predecessors[1],
        "predecessor_counts": predecessors[2],
        "labels": array([0, 1, 1]),
        "classes": 2,
        "targets": 2,
        "threads": 1,
    }


def good_two_sided() -> dict[str, object]:
    pairs = {(0, 0): 3, (0, 2): 1, (1, 1): 2, (1, 0): 1}
    words, contexts = rows_of(pairs, 2), rows_of(transposed(pairs), 3)
    return {
        "word_offsets": words[0],
        "words": words[1],
        "word_counts": words[2],
        "context_offsets": contexts[0],
        "contexts": contexts[1],
        "context_counts": contexts[2],
        "states": array([0, 1]),
        "categories": array([0, 1, 2]),
        "n_states": 2,
        "state_targets": 2,
        "n_categories": 3,
        "category_targets": 3,
        "states_move": True,
        "threads": 1,
    }


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("successor_offsets", np.array([0, 2, 4], np.int64), "do not fit together"),
        ("successor_offsets", np.array([], np.int64), "do not fit together"),
        ("successor_offsets", np.array([1, 2, 4, 6], np.int64), "do not fit together"),
        ("successor_offsets", np.array([0, 2, 4, 7], np.int64), "do not fit together"),
        ("successor_offsets", np.array([0, 9, 4, 6], np.int64), "offsets fall"),
        ("successor_offsets", np.array([0, -9, 4, 6], np.int64), "offsets fall"),
        ("successors", array([1, 2, 0, 2, 0, 3]), "out of range"),
        ("successors", array([1, 2, 0, 2, 0]), "do not fit together"),
        ("successors", array([1, 2, 0, 0, 0, 1]), "transpose"),
        ("successor_counts", array([1, 1, 1, 1, 1, 2]), "transpose"),
        ("successor_counts", array([1, 1, 1, 1, 1, 0]), "a count is 0"),
        ("successor_counts", array([1, 1, 1, 1, 1, 2**31 - 1]), "transpose"),
        ("predecessor_offsets", np.array([0, 1, 4, 6], np.int64), "transpose"),
        ("predecessors", array([1, 2, 0, 2, 0, 0]), "transpose"),
        ("predecessors", array([1, 2, 0, 2, 0, 4_000_000_000]), "out of range"),
        ("predecessor_counts", array([1, 1, 1, 1, 1]), "do not fit together"),
        ("predecessor_counts", array([1, 1, 1, 1, 2, 1]), "transpose"),
        ("labels", array([0, 1]), "do not fit together"),
        ("labels", array([0, 1, 2]), "not below the number of clusters"),
        ("labels", array([0, 1, 4_294_967_295]), "not below the number of clusters"),
        ("targets", 0, "targets must be"),
        ("targets", 3, "targets must be"),
        ("threads", 0, "threads must be at least 1"),
        ("threads", -1, "threads must be at least 1"),
    ],
)
def test_unusable_tied_problems_are_refused(name: str, value: object, message: str) -> None:
    good = good_tied()
    _core.TiedExchange(**good)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=message):
        _core.TiedExchange(**{**good, name: value})  # type: ignore[arg-type]


def test_a_word_needs_as_many_predecessors_as_successors() -> None:
    pairs = {(0, 1): 2, (1, 0): 1}
    with pytest.raises(ValueError, match="as many predecessors as successors"):
        Tied(pairs, [0, 0], 1, 1).kernel()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("word_offsets", np.array([0, 4], np.int64), "do not fit together"),
        ("words", array([0, 2, 0, 3]), "out of range"),
        ("words", array([0, 1, 0, 1]), "transpose"),
        ("word_counts", array([1, 3, 1, 2]), "transpose"),
        ("word_counts", array([3, 1, 0, 2]), "a count is 0"),
        ("context_offsets", np.array([0, 1, 3, 4], np.int64), "transpose"),
        ("contexts", array([0, 1, 1, 2]), "out of range"),
        ("contexts", array([0, 0, 1, 0]), "transpose"),
        ("context_counts", array([3, 1, 1, 1]), "transpose"),
        ("context_counts", array([2**31, 1, 1, 1]), "transpose"),
        ("states", array([0]), "do not fit together"),
        ("states", array([0, 2]), "not below the number of clusters"),
        ("categories", array([0, 1]), "out of range"),
        ("categories", array([0, 1, 3]), "not below the number of clusters"),
        ("state_targets", 0, "targets must be"),
        ("state_targets", 3, "targets must be"),
        ("category_targets", 0, "targets must be"),
        ("category_targets", 4, "targets must be"),
        ("threads", 0, "threads must be at least 1"),
    ],
)
@pytest.mark.parametrize("states_move", [True, False])
def test_unusable_two_sided_problems_are_refused(
    states_move: bool, name: str, value: object, message: str
) -> None:
    good = {**good_two_sided(), "states_move": states_move}
    _core.TwoSidedExchange(**good)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=message):
        _core.TwoSidedExchange(**{**good, name: value})  # type: ignore[arg-type]


def test_fewer_counts_on_one_side_are_refused() -> None:
    good = good_two_sided()
    fewer = rows_of({(0, 0): 3, (2, 0): 1, (1, 1): 2}, 3)
    good.update(zip(("context_offsets", "contexts", "context_counts"), fewer, strict=True))
    with pytest.raises(ValueError, match="transpose"):
        _core.TwoSidedExchange(**good)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("order", "scales", "temperature", "message"),
    [
        ([0, 3], 3, 0.0, "element 3 does not exist"),
        ([0], 2, 0.0, "one scale for each element"),
        ([0], 4, 0.0, "one scale for each element"),
        ([0], 3, -0.1, "the temperature must be"),
        ([0], 3, math.nan, "the temperature must be"),
        ([0], 3, math.inf, "the temperature must be"),
        ([0], 3, 1e300, "the temperature must be"),
    ],
)
def test_unusable_sweeps_are_refused(order: list[int], scales: int, temperature: float, message: str) -> None:
    tied_kernel = _core.TiedExchange(**good_tied())  # type: ignore[arg-type]
    words = _core.TwoSidedExchange(**good_two_sided())  # type: ignore[arg-type]
    for visit in (tied_kernel.visit, words.visit_words):
        with pytest.raises(ValueError, match=message):
            visit(array(order), np.ones(scales, np.float32), temperature, 0)


def test_scores_of_elements_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ValueError, match="element 3 does not exist"):
        _core.TiedExchange(**good_tied()).scores(3)  # type: ignore[arg-type]
    kernel = _core.TwoSidedExchange(**good_two_sided())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="element 3 does not exist"):
        kernel.word_scores(3)
    with pytest.raises(ValueError, match="element 2 does not exist"):
        kernel.context_scores(2)
    with pytest.raises(ValueError, match="cluster 9 takes no elements"):
        kernel.context_gains(9)


def test_states_that_do_not_move_cannot_be_swept() -> None:
    kernel = _core.TwoSidedExchange(**{**good_two_sided(), "states_move": False})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="do not move"):
        kernel.visit_contexts(array([0]), np.ones(2, np.float32), 0.0, 0)
    with pytest.raises(ValueError, match="do not move"):
        kernel.context_scores(0)
    with pytest.raises(ValueError, match="do not move"):
        kernel.context_gains(0)


def test_no_words_are_no_problem() -> None:
    kernel = Tied({}, [], 3, 3).kernel()
    assert kernel.visit(array([]), np.ones(0, np.float32), 1.0, 0) == 0
    assert kernel.criterion == 0.0
    assert kernel.labels().size == 0


def test_an_element_comes_once_in_an_order() -> None:
    kernel = _core.TiedExchange(**good_tied())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="element 1 is a duplicate"):
        kernel.visit(array([0, 1, 1]), np.ones(3, np.float32), 0.0, 1)


def test_arrays_of_another_type_are_not_converted() -> None:
    wrong = good_tied() | {"labels": np.array([0.7, 1.9, 1.2])}
    with pytest.raises(TypeError):
        _core.TiedExchange(**wrong)  # type: ignore[arg-type]
