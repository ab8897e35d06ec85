"""The kernels that choose n-grams, beside their naive twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from naive.backoff import chosen_words
from naive.trie import Ngrams
from ngram_problems import models
from stategram import _core, use_resources


@given(models(), st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_rows_are_distributions(ngrams: Ngrams, seed: int, threads: int) -> None:
    index = ngrams.plain()
    ids = np.argsort(index.numbers)
    random = np.random.default_rng(seed)
    nodes = random.integers(0, index.n_histories, 4).astype(np.uint32)
    weights = random.random(4, np.float32)
    rows = np.ones((4, ngrams.n_words), np.float32)
    with use_resources(threads=threads):
        index.add_rows(nodes, weights, rows)
    for node, weight, row in zip(nodes, weights, rows, strict=True):
        length = int(index.lengths[node])
        numbers = index.words_of(nodes[nodes == node][:1], max(length, 1))[0][:length]
        history = tuple(ids[numbers].tolist())
        expected = [1 + weight * 10 ** ngrams.log_prob(history, int(id))[0] for id in ids]
        np.testing.assert_allclose(row, expected, rtol=1e-5)
        words = np.arange(ngrams.n_words, dtype=np.uint32)
        found = index.probs_after(np.full(ngrams.n_words, node, np.uint32), words)
        np.testing.assert_allclose(1 + weight * found, expected, rtol=1e-5)


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 200), st.integers(1, 3))
def test_category_rows(seed: int, n_categories: int, n_words: int, threads: int) -> None:
    random = np.random.default_rng(seed)
    of_categories = random.random((3, n_categories), np.float32)
    categories = random.integers(0, n_categories, n_words).astype(np.int32)
    word_probs = random.random(n_words, np.float32)
    rows = np.ones((3, n_words), np.float32)
    _core.add_category_rows(
        of_categories.reshape(-1), categories, word_probs, n_categories, rows.reshape(-1), threads
    )
    np.testing.assert_allclose(rows, 1 + of_categories[:, categories] * word_probs, rtol=1e-6)


def _distributions(random: np.random.Generator, n: int, n_words: int) -> NDArray[np.float32]:
    rows = random.dirichlet(np.full(n_words, 0.3), n) + 1e-9
    return rows.astype(np.float32)


@given(
    st.integers(0, 2**32 - 1), st.integers(2, 300), st.integers(1, 4), st.floats(1e-4, 0.3), st.integers(1, 3)
)
def test_chosen_words(seed: int, n_words: int, rounds: int, threshold: float, threads: int) -> None:
    random = np.random.default_rng(seed)
    targets, lower = _distributions(random, 5, n_words), _distributions(random, 2, n_words)
    lower_rows = random.integers(0, 2, 5).astype(np.uint32)
    occupancies = random.random(5) * 2
    counts, words, probs, gains = _core.choose_ngrams(
        targets.reshape(-1), lower.reshape(-1), lower_rows, occupancies, threshold, rounds, n_words, threads
    )
    begin = 0
    for i, count in enumerate(counts.tolist()):
        expected = chosen_words(
            targets[i].tolist(), lower[lower_rows[i]].tolist(), occupancies[i], threshold, rounds
        )
        here = slice(begin, begin + count)
        assert words[here].tolist() == sorted(expected)
        np.testing.assert_array_equal(probs[here], targets[i][words[here]])
        np.testing.assert_allclose(gains[here], [expected[word] for word in words[here].tolist()], rtol=1e-5)
        begin += count
    assert begin == len(words)


def test_wrong_arrays_are_refused() -> None:
    rows, ones = np.full(6, 1 / 3, np.float32), np.ones(2)
    places = np.array([0, 1], np.uint32)
    with pytest.raises(ValueError, match="do not fit together"):
        _core.choose_ngrams(rows[:5], rows, places, ones, 0.1, 2, 3, 1)
    with pytest.raises(ValueError, match="is not there"):
        _core.choose_ngrams(rows, rows[:3], places, ones, 0.1, 2, 3, 1)
    categories = np.array([0, 1, 2], np.int32)
    with pytest.raises(ValueError, match="is not among them"):
        _core.add_category_rows(rows[:4], categories, rows[:3], 2, rows, 1)
    index = Ngrams(3, 2, {(0,): -1, (1,): -1, (2,): -1, (0, 1): -1}, {(0,): -0.1}).plain()
    with pytest.raises(ValueError, match="cannot be a history"):
        index.add_rows(np.array([4], np.uint32), np.ones(1, np.float32), rows[:3])
