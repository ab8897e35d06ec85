"""The lines of scores equal those of the plain twin, for every number of threads."""

from __future__ import annotations

import locale
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from naive import score_lines as naive
from stategram import _core
from stategram.text import Vocabulary

VOCABULARY = Vocabulary.from_words(["cat", "Größe", "x" * 50, "日本"])

log10_probs = st.one_of(
    st.floats(max_value=0.0, allow_nan=False),
    st.sampled_from([0.0, -0.0, -1e-7, -5e-7, -0.0000005, -0.9999999, -1e11, -math.inf]),
)
events = st.tuples(st.integers(0, len(VOCABULARY) - 1), log10_probs, st.integers(1, 9), st.booleans())
sentences = st.lists(st.lists(events, min_size=1, max_size=6), max_size=8)


def lines(text: list[list[tuple[int, float, int, bool]]], by_sentence: bool, threads: int = 1) -> str:
    flat = [event for sentence in text for event in sentence]
    starts = np.cumsum([0, *map(len, text)]).astype(np.int64)
    return _core.score_lines(
        np.array([event[0] for event in flat], np.uint32),
        starts,
        np.arange(len(text), dtype=np.int64) * 3 + 5,
        VOCABULARY.letters,
        VOCABULARY.offsets,
        np.array([event[1] for event in flat], np.float64),
        np.array([event[2] for event in flat], np.uint8),
        np.array([event[3] for event in flat], np.uint8),
        by_sentence,
        threads,
    ).decode()


@given(sentences)
@example([])
@example([[(0, -0.0000015, 1, True)]])
def test_a_line_a_word(text: list[list[tuple[int, float, int, bool]]]) -> None:
    expected = "".join(
        naive.word_line(5 + 3 * i, position, VOCABULARY.word(id), log10_prob, order, unknown)
        for i, sentence in enumerate(text)
        for position, (id, log10_prob, order, unknown) in enumerate(sentence, 1)
    )
    assert lines(text, False) == expected


@given(sentences)
def test_a_line_a_sentence(text: list[list[tuple[int, float, int, bool]]]) -> None:
    expected = "".join(
        naive.sentence_line(5 + 3 * i, [event[1] for event in sentence], [event[3] for event in sentence])
        for i, sentence in enumerate(text)
    )
    assert lines(text, True) == expected


@pytest.mark.parametrize("by_sentence", [False, True])
def test_the_number_of_threads_does_not_matter(by_sentence: bool) -> None:
    random = np.random.default_rng(0)
    cuts = [0, *np.unique(random.integers(1, 60_000, 900)).tolist(), 60_000]
    values = (-random.exponential(3.0, 60_000)).tolist()
    text = [[(i % 7, values[i], 1 + i % 3, i % 5 == 0) for i in range(a, b)] for a, b in pairwise(cuts)]
    one = lines(text, by_sentence)
    assert one.count("\n") == (len(text) if by_sentence else 60_000)
    for threads in (2, 3, 7):
        assert lines(text, by_sentence, threads) == one


def test_arrays_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        lines([[(len(VOCABULARY), -1.0, 1, False)]], False)
    with pytest.raises(ValueError, match="do not fit"):
        _core.score_lines(
            np.zeros(2, np.uint32),
            np.array([0, 1], np.int64),  # the second event is in no sentence
            np.array([1], np.int64),
            VOCABULARY.letters,
            VOCABULARY.offsets,
            np.zeros(2),
            np.ones(2, np.uint8),
            np.zeros(2, np.uint8),
            False,
            1,
        )


def test_large_numbers_have_a_point_in_any_locale() -> None:
    before = locale.setlocale(locale.LC_NUMERIC)
    for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "C"):
        try:
            locale.setlocale(locale.LC_NUMERIC, name)
        except locale.Error:
            continue
        try:
            assert lines([[(0, -1.5e11, 1, False)]], False).split("\t")[3:5] == [
                "-1.500000e+11",
                "4.982892e+11",
            ]
        finally:
            locale.setlocale(locale.LC_NUMERIC, before)
