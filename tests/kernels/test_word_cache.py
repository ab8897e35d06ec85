"""The cache of words is its plain twin, whether a text comes whole or in pieces."""

from __future__ import annotations

import copy
import math
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import naive.word_cache as naive
from stategram import _core

BEGIN, END = 1, 2
# A count is a sum of less than a hundred powers, each rounded a few times.
CLOSE = 1e-12

words = st.sampled_from([0, BEGIN, END, 3, 4, 5])
decay = st.sampled_from([0.01, 0.5, 0.9, 0.9999, 1.0])
decays_of_orders = st.lists(decay, min_size=1, max_size=3)
UNIGRAM = np.array([0.1, 0.0, 0.2, 0.3, 0.15, 0.25])


def ids_of(given: list[int]) -> NDArray[np.uint32]:
    return np.array(given, np.uint32)


def cache_of(decays: list[float], given: list[int], capacity: int = 1000) -> _core.WordCache:
    return _core.WordCache(decays, BEGIN, END, capacity, ids_of(given))


def score(
    cache: _core.WordCache, given: list[int], starts: list[int] | None = None
) -> tuple[list[float], _core.WordCache]:
    sentences = np.array([0, len(given)] if starts is None else starts, np.int64)
    log_probs, after = cache.score(ids_of(given), sentences, UNIGRAM)
    return log_probs.tolist(), after


def log(probability: float) -> float:
    return math.log(probability) if probability > 0 else -math.inf


@settings(deadline=None)
@given(decays_of_orders, st.lists(words, max_size=12), st.lists(words, max_size=30), st.integers(2, 50))
def test_the_kernel_is_its_twin(
    decays: list[float], before: list[int], text: list[int], capacity: int
) -> None:
    cache = cache_of(decays, before, capacity)
    log_probs, after = score(cache, text)
    for i in range(len(text) + 1):
        recent = naive.kept(before + text[:i], capacity)
        expected = naive.probabilities(recent, UNIGRAM.tolist(), decays, BEGIN, END)
        found = cache_of(decays, recent, capacity).distribution(UNIGRAM).tolist()
        assert found == pytest.approx(expected, rel=CLOSE)
        assert sum(found) == pytest.approx(1.0, rel=CLOSE)
        assert found[BEGIN] == 0.0
        if i < len(text):
            assert log_probs[i] == pytest.approx(log(expected[text[i]]), rel=CLOSE, abs=CLOSE)
    assert after.words.tolist() == naive.kept(before + text, capacity)
    assert cache.words.tolist() == naive.kept(before, capacity)


@settings(deadline=None)
@given(decays_of_orders, st.lists(words, max_size=60), st.integers(2, 30), st.data())
def test_pieces_are_the_whole_to_the_last_bit(
    decays: list[float], text: list[int], capacity: int, data: st.DataObject
) -> None:
    start = cache_of(decays, [BEGIN], capacity)
    whole, after = score(start, text)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)))) | {0, len(text)})
    cache, found = start, []
    for begin, end in pairwise(cuts):
        log_probs, cache = score(cache, text[begin:end])
        cache = pickle.loads(pickle.dumps(cache))
        found += log_probs
    assert found == whole
    assert (cache, hash(cache)) == (after, hash(after))
    assert cache.distribution(UNIGRAM).tobytes() == after.distribution(UNIGRAM).tobytes()


def test_all_sentences_but_the_first_start_anew() -> None:
    decays = [0.9, 0.9, 0.9]
    start = cache_of(decays, [3])
    log_probs, after = score(start, [4, 5, 3, 4, END, 4], [0, 2, 2, 5, 6])
    assert after.words.tolist() == [3, 4, 5, BEGIN, 3, 4, END, 4]
    marked, _ = score(start, [4, 5, BEGIN, 3, 4, END, 4])
    assert marked.pop(2) == -math.inf
    assert log_probs == marked


def test_caches_are_values() -> None:
    cache = cache_of([0.9, 0.8], [3, 4])
    assert cache == copy.deepcopy(cache) == cache_of([0.9, 0.8], [3, 4])
    assert cache != cache_of([0.9, 0.7], [3, 4])
    assert cache != cache_of([0.9, 0.8], [3, 5])
    assert cache != cache_of([0.9, 0.8], [3, 4], 50)
    assert cache != "3 4"
    assert len({cache, copy.copy(cache), score(cache, [3])[1]}) == 2


def test_long_texts_and_many_words() -> None:
    random = np.random.default_rng(1)
    text = random.zipf(1.3, 20_000) % 3000 + 3
    unigram = np.full(3003, 1 / 3002)
    unigram[BEGIN] = 0.0
    start = _core.WordCache([0.99, 0.999, 0.9999], BEGIN, END, 1 << 12, ids_of([BEGIN]))
    ids, starts = text.astype(np.uint32), np.array([0, len(text)], np.int64)
    log_probs, after = start.score(ids, starts, unigram)
    recent = naive.kept([BEGIN, *text.tolist()], 1 << 12)
    assert after.words.tolist() == recent
    expected = naive.probabilities(recent, unigram.tolist(), [0.99, 0.999, 0.9999], BEGIN, END)
    np.testing.assert_allclose(after.distribution(unigram), expected, rtol=1e-10)
    assert np.isfinite(log_probs).all()


# Of a text of two words; UNIGRAM has six.
@pytest.mark.parametrize("starts", [[], [0, 3], [1, 2], [-1, 2], [0, 2, 1, 2], [0, 2**62, 2]])
def test_sentences_that_are_not_the_text_are_refused(starts: list[int]) -> None:
    with pytest.raises(ValueError, match="do not cover"):
        score(cache_of([0.9], []), [3, 4], starts)


@pytest.mark.parametrize("word", [6, 2**31, 2**32 - 1])
def test_words_without_a_probability_are_refused(word: int) -> None:
    with pytest.raises(ValueError, match="id is not below"):
        score(cache_of([0.9], [word]), [3, word])
