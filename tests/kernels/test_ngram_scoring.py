"""Scoring with a back-off model equals the recursion of the ARPA format."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from naive.trie import Ngrams
from ngram_problems import BEGIN, models, random_model
from stategram._core import TrieReader
from stategram.models import NgramTrie, PlainTrie

THREADS = (1, 2, 4)
# A sum of at most 6 float32 in float64, in another order: 5 roundings of values below 32.
TOLERANCE = 5 * 32 * np.finfo(np.float64).eps
NO_WORDS = b""


def score(
    trie: NgramTrie, sentences: list[list[int]], threads: int
) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    ids = np.array(list(itertools.chain(*sentences)), np.uint32)
    starts = np.cumsum([0, *map(len, sentences)], dtype=np.int64)
    reader = trie.reader()
    begin = begin_state(reader, trie)
    log10_probs, orders, *features = reader.score_events(
        ids, starts, trie.numbers, begin, begin, False, threads
    )
    assert [one.size for one in features] == [0, 0]
    return log10_probs, orders


def begin_state(reader: TrieReader, trie: NgramTrie) -> bytes:
    return reader.advance(NO_WORDS, int(trie.numbers[BEGIN]))[1]


def random_sentences(model: Ngrams, seed: int, lengths: list[int]) -> list[list[int]]:
    """Mostly the words of long n-grams, so that long n-grams are found."""
    rng = np.random.default_rng(seed)
    ngrams = sorted(model.log_probs, key=len)
    sentences = []
    for length in lengths:
        words: list[int] = []
        while len(words) < length:
            words += ngrams[int(len(ngrams) * (1 - rng.random() ** 2))]
        sentences.append(words[:length])
    return sentences


@given(models(), st.integers(0, 2**32), st.lists(st.integers(0, 20), max_size=40))
def test_the_kernel_scores_as_its_twin_on_any_number_of_threads(
    model: Ngrams, seed: int, lengths: list[int]
) -> None:
    trie = model.trie()
    trie.reader().check(1)
    sentences = random_sentences(model, seed, lengths)
    expected = [event for sentence in sentences for event in model.score(sentence, BEGIN)]
    for threads in THREADS:
        log10_probs, orders = score(trie, sentences, threads)
        assert orders.tolist() == [length for _, length in expected]
        np.testing.assert_allclose(log10_probs, [value for value, _ in expected], rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("lengths", [[100_000], [255, 256, 257, 0, 1, 40_000, 0, 70_000, 3]])
def test_long_sentences_are_cut_without_a_trace(lengths: list[int]) -> None:
    model = random_model(7, 30, 5, 8)
    sentences = random_sentences(model, 1, lengths)
    expected = [event for sentence in sentences for event in model.score(sentence, BEGIN)]
    one, *others = (score(model.trie(), sentences, threads) for threads in THREADS)
    assert one[1].tolist() == [length for _, length in expected]
    np.testing.assert_allclose(one[0], [value for value, _ in expected], rtol=0, atol=TOLERANCE)
    for other in others:
        assert [part.tobytes() for part in other] == [part.tobytes() for part in one]


@given(models(), st.integers(0, 2**32), st.lists(st.integers(0, 600), max_size=8))
def test_features_of_a_history_are_those_of_its_state(model: Ngrams, seed: int, lengths: list[int]) -> None:
    trie = model.trie()
    reader = trie.reader()
    sentences = random_sentences(model, seed, lengths)
    ids = np.array(list(itertools.chain(*sentences)), np.uint32)
    starts = np.cumsum([0, *map(len, sentences)], dtype=np.int64)
    begin = begin_state(reader, trie)
    # The first sentence may go on from any state, even that of no words at all.
    some = reader.state_after(NO_WORDS, trie.numbers[np.array(random_sentences(model, seed, [9])[0])])
    for first in (begin, NO_WORDS, some):
        expected = []
        for number, sentence in enumerate(sentences):
            state = begin if number else first
            for word in sentence:
                log10_prob, following, length = reader.advance(state, int(trie.numbers[word]))
                nodes = np.frombuffer(state, np.uint32)
                backoff = 0.0
                if len(nodes):
                    backoff = float(reader.plain_level(len(nodes), 1)[2][nodes[-1]])
                expected.append((log10_prob, length, len(nodes), backoff))
                state = following
        for threads in THREADS:
            found = reader.score_events(ids, starts, trie.numbers, begin, first, True, threads)
            assert list(zip(*(values.tolist() for values in found), strict=True)) == expected


def test_no_events() -> None:
    trie = random_model(1, 5, 3, 3).trie()
    for n_sentences in range(3):
        log10_probs, orders = score(trie, [[]] * n_sentences, 2)
        assert (log10_probs.size, orders.size) == (0, 0)


@given(models(), st.lists(st.integers(0, 29), max_size=12))
def test_a_step_and_a_state_equal_the_twin(model: Ngrams, words: list[int]) -> None:
    trie = model.trie()
    reader = trie.reader()
    words = [word % model.n_words for word in words]
    state = NO_WORDS
    for i, word in enumerate(words):
        log10_prob, state, length = reader.advance(state, int(trie.numbers[word]))
        history = tuple(words[max(0, i - model.order + 1) : i])
        expected, expected_length = model.log_prob(history, word)
        assert length == expected_length
        assert abs(log10_prob - expected) <= TOLERANCE
        assert state == reader.state_after(NO_WORDS, trie.numbers[np.array(words[: i + 1], np.int64)])


@given(models(), st.lists(st.integers(0, 29), max_size=6))
def test_the_distribution_equals_the_twin(model: Ngrams, words: list[int]) -> None:
    trie = model.trie()
    reader = trie.reader()
    words = [word % model.n_words for word in words]
    state = reader.state_after(NO_WORDS, trie.numbers[np.array(words, np.int64)])
    history = tuple(words[max(0, len(words) - model.order + 1) :])
    expected = [10 ** model.log_prob(history, word)[0] for word in range(model.n_words)]
    # Up to six powers and five products, each of a few roundings.
    np.testing.assert_allclose(reader.distribution(state), expected, rtol=64 * np.finfo(np.float64).eps * 8)


@pytest.mark.parametrize("children", [1, 2, 16, 17, 18, 100, 1000, 9999, 10_000])
@pytest.mark.parametrize("spread", ["even", "low", "high", "both ends"])
def test_a_child_is_found_wherever_it_lies(children: int, spread: str) -> None:
    """A root of 10,000 words, the first of which has children whose numbers lie evenly or badly."""
    size = 10_000
    chosen = {
        "even": np.sort(np.random.default_rng(3).permutation(size)[:children]),
        "low": np.arange(children),
        "high": np.arange(size - children, size),
        "both ends": np.r_[np.arange(children // 2), np.arange(size - children + children // 2, size)],
    }[spread].astype(np.uint32)
    total = 1 + size + children
    first_child = np.full(size + 2, total, np.uint32)
    first_child[:2] = 1, 1 + size
    numbers = np.arange(size, dtype=np.uint32)
    plain = PlainTrie(
        numbers,
        np.array([0, 1, 1 + size, total]),
        np.concatenate([[np.uint32(0)], numbers, chosen]).astype(np.uint32),
        np.concatenate([np.zeros(size + 1), -1 - np.arange(children)]).astype(np.float32),
        np.zeros(size + 1, np.float32),
        first_child,
    )
    reader = NgramTrie.from_plain(plain).reader()
    reader.check(1)
    first = reader.state_after(NO_WORDS, np.zeros(1, np.uint32))
    expected = dict(zip(chosen.tolist(), (-1.0 - np.arange(children)).tolist(), strict=True))
    assert [reader.advance(first, number)[0] for number in range(size)] == [
        expected.get(number, 0.0) for number in range(size)
    ]


def test_what_does_not_fit_is_refused() -> None:
    trie = random_model(1, 5, 3, 3).trie()
    reader = trie.reader()
    ids, starts = np.array([0, 4], np.uint32), np.array([0, 2], np.int64)
    no, none = NO_WORDS, np.array([trie.sizes[0]], np.uint32).tobytes()
    for bad_starts in ([], [0], [1, 2], [0, 3], [0, 9, 2], [0, -1, 2]):
        with pytest.raises(ValueError, match="do not cover"):
            reader.score_events(ids, np.array(bad_starts, np.int64), trie.numbers, no, no, False, 1)
    with pytest.raises(ValueError, match="not below"):
        reader.score_events(np.array([0, 5], np.uint32), starts, trie.numbers, no, no, False, 1)
    with pytest.raises(ValueError, match="not below"):
        reader.score_events(ids, starts, trie.numbers + np.uint32(1), no, no, False, 1)
    with pytest.raises(ValueError, match="no such state"):
        reader.score_events(ids, starts, trie.numbers, none, no, False, 1)
    with pytest.raises(ValueError, match="no such state"):
        reader.score_events(ids, starts, trie.numbers, no, none, False, 1)
    with pytest.raises(ValueError, match="at least 1"):
        reader.score_events(ids, starts, trie.numbers, no, no, False, 0)
    with pytest.raises(ValueError, match="no such state"):
        reader.advance(none, 0)
    with pytest.raises(ValueError, match="no such state"):
        reader.distribution(none)
    for bad_state in (b"1", b"123456789", bytes(4 * trie.order)):
        with pytest.raises(ValueError, match="no such state"):
            reader.distribution(bad_state)
    with pytest.raises(ValueError, match="no such state"):
        reader.state_after(none, ids)
    with pytest.raises(ValueError, match="not below"):
        reader.advance(no, 5)
    with pytest.raises(ValueError, match="not below"):
        reader.state_after(no, np.array([5], np.uint32))
