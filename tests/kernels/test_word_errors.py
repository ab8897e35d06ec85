"""Word errors, and where they change along a weight, against their plain twins."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import word_errors as naive
from stategram import _core

texts = st.lists(st.integers(0, 3), max_size=7)
hypotheses = st.tuples(st.integers(-4, 4), st.integers(-4, 4), st.integers(0, 5))
utterances = st.lists(st.lists(hypotheses, min_size=1, max_size=6), max_size=5)


def flat(lists: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    starts = np.array([0, *accumulate(map(len, lists))], np.int64)
    return np.array([one for words in lists for one in words], np.uint32), starts


@given(st.lists(texts, min_size=1, max_size=3), st.lists(st.tuples(texts, st.integers(0, 2)), max_size=6))
def test_errors_are_those_of_the_twin(said: list[list[int]], found: list[tuple[list[int], int]]) -> None:
    references = [number % len(said) for _, number in found]
    expected = [
        naive.word_errors(words, said[number]) for (words, _), number in zip(found, references, strict=True)
    ]
    for threads in (1, 3):
        counted = _core.word_errors(
            *flat([words for words, _ in found]), *flat(said), np.array(references, np.uint32), threads
        )
        assert list(zip(*(kind.tolist() for kind in counted), strict=True)) == expected


@given(utterances, st.integers(-3, 0), st.integers(1, 3))
def test_errors_change_where_the_twin_says(lists: list[list[naive.Hypothesis]], low: int, high: int) -> None:
    lines = [line for utterance in lists for line in utterance]
    starts = np.array([0, *accumulate(map(len, lists))], np.int64)
    offsets, slopes = (np.array([line[i] for line in lines], np.float64) for i in (0, 1))
    errors = np.array([line[2] for line in lines], np.uint32)
    pieces = naive.error_envelope(lists, low, high)
    for threads in (1, 2):
        at_low, places, changes = _core.error_envelope(starts, offsets, slopes, errors, low, high, threads)
        total, found = at_low, [(float(low), at_low)]
        for place in np.unique(places).tolist():
            total += int(changes[places == place].sum())
            if total != found[-1][1]:
                found.append((place, total))
        assert found == [(float(place), count) for place, count in pieces]


def test_what_does_not_fit_is_refused() -> None:
    ids, starts = np.zeros(2, np.uint32), np.array([0, 2], np.int64)
    one = np.zeros(1, np.uint32)
    with pytest.raises(ValueError, match="no such reference"):
        _core.word_errors(ids, starts, ids, starts, one + 1, 1)
    with pytest.raises(ValueError, match="do not cover"):
        _core.word_errors(ids, np.array([0, 3], np.int64), ids, starts, one, 1)
    with pytest.raises(ValueError, match="needs a reference"):
        _core.word_errors(ids, starts, ids, starts, ids, 1)
    values, errors = np.zeros(2), np.zeros(2, np.uint32)
    with pytest.raises(ValueError, match="no hypotheses"):
        _core.error_envelope(np.array([0, 0, 2], np.int64), values, values, errors, 0, 1, 1)
    with pytest.raises(ValueError, match="not finite"):
        _core.error_envelope(starts, values, np.array([0.0, np.nan]), errors, 0, 1, 1)
    with pytest.raises(ValueError, match="empty"):
        _core.error_envelope(starts, values, values, errors, 1, 1, 1)
