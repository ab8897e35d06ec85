"""Entropies, and rows of distributions, beside their naive twins."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive.word_cache as naive_cache
from naive.entropy import category_entropy, entropy
from naive.trie import Ngrams
from ngram_problems import BEGIN, models, random_model
from stategram import _core

# Sums of at most a few hundred terms of size 10, each rounded a few times.
CLOSE = 1e-11
NO_WORDS = b""


def histories(
    ngrams: Ngrams, sentences: list[list[int]], threads: int = 1
) -> tuple[_core.TrieReader, np.ndarray]:
    trie = ngrams.trie()
    reader = trie.reader()
    begin = reader.advance(NO_WORDS, int(trie.numbers[BEGIN]))[1]
    ids = np.array(list(itertools.chain(*sentences)), np.uint32)
    starts = np.cumsum([0, *map(len, sentences)], dtype=np.int64)
    return reader, reader.histories(ids, starts, trie.numbers, begin, begin, threads)


def texts(ngrams: Ngrams, seed: int, n: int) -> list[list[int]]:
    random = np.random.default_rng(seed)
    known = sorted(ngrams.log_probs)
    return [[id for place in random.integers(0, len(known), 3) for id in known[place]] for _ in range(n)]


def naive_distributions(ngrams: Ngrams, sentences: list[list[int]]) -> list[list[float]]:
    """The probability of each id, 0 for 1, which here stands for a word that is never predicted."""
    found = []
    for sentence in sentences:
        words = (BEGIN, *sentence)
        for end in range(1, len(words)):
            history = words[max(0, end - ngrams.order + 1) : end]
            found.append(
                [0.0 if id == 1 else 10 ** ngrams.log_prob(history, id)[0] for id in range(ngrams.n_words)]
            )
    return found


@settings(deadline=None)
@given(models(), st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_entropies_of_ngrams(ngrams: Ngrams, seed: int, threads: int) -> None:
    sentences = texts(ngrams, seed, 4)
    reader, states = histories(ngrams, sentences, threads)
    numbers = ngrams.trie().numbers
    random = np.random.default_rng(seed)
    masses, entropies = random.random((2, ngrams.n_words))
    masses[1:2] = entropies[1:2] = 0.0
    by_number = np.argsort(numbers)
    n_events = sum(map(len, sentences))
    expected = naive_distributions(ngrams, sentences)
    plain = reader.entropies(
        states, n_events, (by_number != 1).astype(np.float64), np.zeros(ngrams.n_words), threads
    )
    assert plain.tolist() == pytest.approx([entropy(row) for row in expected], rel=CLOSE, abs=CLOSE)
    found = reader.entropies(states, n_events, masses[by_number], entropies[by_number], threads)
    assert found.tolist() == pytest.approx(
        [category_entropy(row, masses, entropies) for row in expected], rel=CLOSE, abs=CLOSE
    )
    rows = np.ones((n_events, ngrams.n_words))
    weights = random.random(n_events)
    unigram = np.array([0.0 if id == 1 else 10 ** ngrams.log_probs[id,] for id in range(ngrams.n_words)])
    reader.add_rows(states, weights, unigram, by_number.astype(np.uint32), rows.reshape(-1), threads)
    np.testing.assert_allclose(rows, 1 + weights[:, None] * np.array(expected), rtol=CLOSE)


def test_entropies_do_not_depend_on_the_number_of_threads() -> None:
    ngrams = random_model(3, 30, 4, 8)
    found = []
    for threads in (1, 2, 4):
        reader, states = histories(ngrams, texts(ngrams, 5, 3000), threads)
        n_events = len(states) // 3
        ones, zeros = np.ones(30), np.zeros(30)
        found.append((states.tobytes(), reader.entropies(states, n_events, ones, zeros, threads).tobytes()))
    assert len(set(found)) == 1
    assert n_events > 2 * 4096  # more than a task


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 70), st.integers(1, 3))
def test_row_entropies(seed: int, n_words: int, threads: int) -> None:
    random = np.random.default_rng(seed)
    rows = random.dirichlet(np.full(n_words, 0.2), 5) if n_words > 1 else np.ones((5, 1))
    rows[0] = 10.0 ** random.uniform(-320, 0, n_words)  # denormal numbers too
    rows[1, :] = 0.0
    masses, entropies = random.random((2, n_words))
    found = _core.row_entropies(rows.reshape(-1), masses, entropies, threads)
    expected = [category_entropy(row.tolist(), masses, entropies) for row in rows]
    assert found.tolist() == pytest.approx(expected, rel=CLOSE, abs=1e-300)


words = st.sampled_from([0, 1, 2, 3, 4, 5])


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([0.5, 0.9, 1.0]), min_size=1, max_size=3),
    st.lists(words, max_size=12),
    st.lists(words, max_size=20),
    st.integers(2, 40),
)
def test_rows_of_a_cache(decays: list[float], before: list[int], text: list[int], capacity: int) -> None:
    unigram = np.array([0.1, 0.0, 0.2, 0.3, 0.15, 0.25])
    cache = _core.WordCache(decays, 1, 2, capacity, np.array(before, np.uint32))
    ids, starts = np.array(text, np.uint32), np.array([0, len(text)])
    weights = np.linspace(0.1, 1, len(text))
    rows = np.ones((len(text), 6))
    after = cache.add_rows(ids, starts, unigram, weights, rows.reshape(-1))
    assert after == cache.score(ids, starts, unigram)[1]
    for i, (weight, row) in enumerate(zip(weights, rows, strict=True)):
        recent = naive_cache.kept(before + text[:i], capacity)
        expected = np.array(naive_cache.probabilities(recent, unigram.tolist(), decays, 1, 2))
        np.testing.assert_allclose(row, 1 + weight * expected, rtol=CLOSE)


def test_bad_arrays_are_refused() -> None:
    ngrams = random_model(3, 10, 3, 4)
    reader, states = histories(ngrams, [[3, 4, 5]])
    ones, zeros = np.ones(10), np.zeros(10)
    ids, rows = np.arange(10, dtype=np.uint32), np.zeros(30)
    for bad in (states[:-1], np.full(6, 10**6, np.uint32)):
        with pytest.raises(ValueError, match="state"):
            reader.entropies(bad, 3, ones, zeros, 1)
        with pytest.raises(ValueError, match="state"):
            reader.add_rows(bad, np.ones(3), zeros, ids, rows, 1)
    with pytest.raises(ValueError, match="each word"):
        reader.entropies(states, 3, ones[1:], zeros, 1)
    with pytest.raises(ValueError, match="not below"):
        reader.add_rows(states, np.ones(3), zeros, ids + 1, rows, 1)
    with pytest.raises(ValueError, match="place in each row"):
        reader.add_rows(states, np.ones(3), zeros, ids, rows[1:], 1)
    with pytest.raises(ValueError, match="each column"):
        _core.row_entropies(rows, ones[:7], zeros[:7], 1)
    cache = _core.WordCache([0.5], 1, 2, 10, np.array([9], np.uint32))
    with pytest.raises(ValueError, match="not below"):
        cache.add_rows(ids[:0], np.zeros(1, np.int64), np.ones(5), ones[:0], rows[:0])
