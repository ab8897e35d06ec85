"""Models word by word: no array and no state makes a kernel read out of bounds; `make sanitize` looks on."""

from __future__ import annotations

import copy
import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from stategram import NgramModel, _core

N_WORDS = 6
WORDS = ["<unk>", "<s>", "</s>", "a", "b", "c"]


def ints(*values: int) -> NDArray[np.uint32]:
    return np.array(values, np.uint32)


def ngram_stepper() -> _core.Stepper:
    return NgramModel.train(["a b c", "a b b c", "c a"], 3).stepper


def table_arrays(table: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """0.1 of each row is distributed over all categories, the rest is that of its cells."""
    n_states, n_categories = table.shape
    return {
        "offsets": np.arange(n_states + 1) * n_categories,
        "columns": np.tile(np.arange(n_categories, dtype=np.uint32), n_states),
        "probs": (table - 0.1 / n_categories).reshape(-1),
        "taken": np.full(n_states, 0.1),
        "fractions": np.full(n_categories, 1 / n_categories),
    }


def tree_arrays() -> dict[str, Any]:
    """Contexts of two words: a, b; then c a, b b."""
    return {
        "maps": [np.arange(N_WORDS, dtype=np.uint32), ints(0, 0, 0, 1, 1, 2)],
        "distances": [1, 2],
        "values": [ints(3, 4), ints(2, 1)],
        "first_child": [ints(0, 1, 2)],
        "states": [ints(0, 1), ints(1, 0)],
        "buckets": [np.array([2, 1], np.uint8), np.array([1, 1], np.uint8)],
        "inherited": [ints(1), ints(1, 0)],
    }


def clustered_arrays() -> dict[str, Any]:
    table = np.array([[0.2, 0.3, 0.5], [0.6, 0.2, 0.2]])
    return {
        "tables": [_core.StateTable(**table_arrays(one)) for one in (table, table[::-1])],
        "weights": np.array([[0.0, 0.5, 0.9], [0.1, 0.5, 0.8]]),
        "frequencies": np.array([0.3, 0.3, 0.4]),
        "categories": ints(0, 0, 1, 1, 2, 2),
        "word_probs": np.array([1.0, 0.0, 0.5, 0.5, 0.25, 0.75]),
    }


def clustered_stepper(**changed: Any) -> _core.ClusteredStepper:
    arguments = {**tree_arrays(), **clustered_arrays(), **changed}
    tree = _core.StateTree(**{name: arguments.pop(name) for name in tree_arrays()})
    return _core.ClusteredStepper(tree, **arguments)


def decoder(stepper: _core.Stepper) -> _core.DecoderModel:
    letters = np.frombuffer("".join(WORDS).encode(), np.uint8)
    offsets = np.cumsum([0, *map(len, WORDS)])
    return _core.DecoderModel(letters, offsets, stepper, None, ValueError)


def test_a_clustered_model_by_hand() -> None:
    one = decoder(clustered_stepper())
    # After c a: on level 1 state 0 with weight 0.9, on level 2 state 1 with 0.5; b is in category 2.
    first = 0.4 + 0.9 * (0.5 - 0.4)
    second = first + 0.5 * (0.5 - first)
    found = [score for score, _, _ in one.full_scores("c a b", eos=False)]
    assert 10 ** found[2] == pytest.approx(second * 0.25, rel=1e-12)
    # After </s>, which nothing follows, all is as without words.
    null = one.score("b", bos=False, eos=False)
    assert one.score("a </s> b", eos=False) == pytest.approx(one.score("a") + null, rel=1e-12)
    assert one.score("<s>", bos=False, eos=False) == -99


def test_a_text_is_its_words() -> None:
    stepper = clustered_stepper()
    ids, starts = ints(5, 3, 4, 4, 2, 3, 2, 0, 4, 4, 4), np.array([0, 5, 5, 7, 11], np.int64)
    for threads in (1, 3):
        found, states, (first, second) = stepper.score_text(
            ids, starts, ints(1, 1), True, [True, False], threads
        )
        expected: list[float] = []
        for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            sentence = " ".join(WORDS[id] for id in ids[begin:end].tolist())
            expected += [score for score, _, _ in decoder(stepper).full_scores(sentence, eos=False)]
        assert (found / math.log(10)).tolist() == pytest.approx(expected, rel=1e-12)
        assert len(second) == 0
        # The first word has no known context: state 1, and what is in its place on level 2. The third one
        # follows c a.
        assert (states[0], first[0], states[2], first[2]) == (0.0, 0.0, 1.0, 2.0)


@cache
def steppers() -> dict[str, _core.Stepper]:
    ngrams = ngram_stepper()
    clustered = clustered_stepper()
    categories = _core.CategoryStepper(ngrams, ints(0, 1, 2, 3, 3, 3), np.full(N_WORDS, 0.5))
    gate = _core.GateTables(3)
    rows = np.full((3, 3), 1 / 3)
    gate.add(["length", "backoff"], 0, np.array([0, 1, 3]), np.array([0.5]), rows)
    gate.add(["state"], 1, np.array([0, 1, 2, 3]), np.empty(0), rows)
    gate.add(["category"], 2, np.array([0, 1, 2, 3]), np.empty(0), rows)
    same, whole, parts = np.empty(0, np.uint32), np.empty(0), [ngrams, clustered, categories]
    shares = [whole, whole, np.array([0.5, 1.0, 1.0, 0.5, 1.0, 1.0])]
    mixture = _core.MixtureStepper(parts, [same, same, ints(0, 1, 2, 0, 3, 4)], shares, gate)
    halves = _core.GateTables(2)
    halves.add([], 0, np.array([0, 1]), np.empty(0), np.full((1, 2), 0.5))
    nested = _core.MixtureStepper([mixture, ngrams], [same, same], [whole, whole], halves)
    return {
        "ngrams": ngrams,
        "clustered": clustered,
        "categories": categories,
        "mixture": mixture,
        "nested": nested,
    }


@pytest.mark.parametrize("kind", ["ngrams", "clustered", "categories", "mixture", "nested"])
@settings(deadline=None, max_examples=50)
@given(data=st.data())
def test_states_of_any_bytes_are_refused_or_harmless(kind: str, data: st.DataObject) -> None:
    one, null = decoder(steppers()[kind]), _core.DecoderState()
    one.NullContextWrite(null)
    size = len(null.__getstate__()[0])
    values = st.one_of(st.integers(0, N_WORDS), st.sampled_from([255, 2**16, 2**31, 2**32 - 1]))
    words = data.draw(st.lists(values, min_size=size // 4 + 1, max_size=size // 4 + 1))
    hostile = np.array(words, np.uint32).tobytes()[: data.draw(st.integers(size - 4, size + 4))]
    state = _core.DecoderState.__new__(_core.DecoderState)
    state.__setstate__((hostile, None))
    try:
        assert one.BaseScore(state, "a", _core.DecoderState()) < 0
    except ValueError as error:
        assert "none of this model" in str(error)  # noqa: PT017


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_arrays_of_any_values_are_refused_or_harmless(data: st.DataObject) -> None:
    arguments = {**tree_arrays(), **clustered_arrays()}
    of_table = copy.deepcopy(table_arrays(np.array([[0.2, 0.3, 0.5], [0.6, 0.2, 0.2]])))
    name = data.draw(st.sampled_from(sorted({*arguments, *of_table} - {"distances", "tables"})))
    changed: dict[str, Any] = of_table if name in of_table else arguments
    arrays = changed[name]
    at = data.draw(st.integers(0, len(arrays) - 1)) if isinstance(arrays, list) else None
    array = arrays if at is None else arrays[at]
    if data.draw(st.booleans()):
        place = data.draw(st.integers(0, array.size - 1))
        largest = np.iinfo(array.dtype).max if array.dtype.kind in "ui" else 1e300
        array.flat[place] = data.draw(st.sampled_from([0, 2, 3, 9, largest]))
    else:
        array = array[: data.draw(st.integers(0, len(array)))].copy()
    if at is None:
        changed[name] = array
    else:
        arrays[at] = array
        if data.draw(st.booleans()):
            arrays.pop()
    try:
        if changed is of_table:
            arguments["tables"][0] = _core.StateTable(**of_table)
        stepper = clustered_stepper(**arguments)
        stepper.score_text(ints(3, 3, 5, 3, 4), np.array([0, 5]), ints(1, 1), True, [True, True], 1)
        decoder(stepper).score("c a b zebra b b")
    except ValueError:
        pass


def test_what_does_not_fit_is_refused() -> None:
    stepper, same, whole = steppers()["ngrams"], np.empty(0, np.uint32), np.empty(0)
    gate = _core.GateTables(1)
    with pytest.raises(ValueError, match="weights for each part"):
        _core.MixtureStepper([stepper], [same], [whole], gate)
    gate.add(["state"], 0, np.array([0, 1]), np.empty(0), np.ones((1, 1)))
    with pytest.raises(ValueError, match="does not know a feature"):
        _core.MixtureStepper([stepper], [same], [whole], gate)
    plain = _core.GateTables(1)
    plain.add([], 0, np.array([0, 1]), np.empty(0), np.ones((1, 1)))
    with pytest.raises(ValueError, match="not below the number of words"):
        _core.MixtureStepper([stepper], [ints(*range(N_WORDS - 1), N_WORDS)], [whole], plain)
    with pytest.raises(ValueError, match="a share for each word"):
        _core.MixtureStepper([stepper], [same], [np.ones(N_WORDS)], plain)
    with pytest.raises(ValueError, match="not in the n-gram model"):
        _core.CategoryStepper(stepper, ints(0, 1, 2, 3, 4, N_WORDS), np.ones(N_WORDS))
    with pytest.raises(ValueError, match="a category, and a probability"):
        _core.CategoryStepper(stepper, ints(0, 1, 2), np.ones(N_WORDS))
    clustered = clustered_stepper()
    for ids, history in ((ints(N_WORDS), ints(1, 1)), (ints(3), ints(1, N_WORDS)), (ints(3), ints(1))):
        with pytest.raises(ValueError, match=r"not below the number of words|does not fit"):
            clustered.score_text(ids, np.array([0, 1]), history, False, [False, False], 1)
    for distances in ([0, 1], [1]):
        with pytest.raises(ValueError, match=r"a word before|do not fit"):
            clustered_stepper(distances=distances)
    for first, second in (((2,), (0, 1)), ((0,), (0, 2)), ((0,), (0,)), ((0, 1), (0, 1))):
        with pytest.raises(ValueError, match=r"no probabilities|have no state"):
            clustered_stepper(inherited=[ints(*first), ints(*second)])
    letters, offsets = np.frombuffer(b"abab", np.uint8), np.array([0, 1, 2, 3, 4])
    with pytest.raises(ValueError, match="not that of the model"):
        _core.DecoderModel(letters, offsets, stepper, None, ValueError)
    with pytest.raises(ValueError, match="do not cover"):
        _core.DecoderModel(letters, np.array([0, 1, 2, 3, 5]), None, 3, ValueError)
    with pytest.raises(ValueError, match="needs a stepper"):
        _core.DecoderModel(letters, offsets, None, None, ValueError)
