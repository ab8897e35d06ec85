"""Backing off in plain n-grams is what the recursion of the ARPA format says, in any model."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive.model_changes import plain_of
from naive.trie import Ngram, Ngrams
from ngram_problems import models
from stategram.models import PlainTrie


def plain(model: Ngrams) -> PlainTrie:
    return plain_of(model.log_probs, model.backoffs, model.n_words, model.order)


def in_order(model: Ngrams) -> list[Ngram]:
    return sorted(model.log_probs, key=lambda ngram: (len(ngram), ngram))


@settings(max_examples=60)
@given(models(), st.integers(1, 3))
def test_lower_probabilities_and_suffixes(model: Ngrams, threads: int) -> None:
    trie, ngrams = plain(model), in_order(model)
    lower, links = trie.kernel.lower_log_probs(threads), trie.kernel.links(threads)
    nodes = {(): 0} | {ngram: node for node, ngram in enumerate(ngrams, 1)}
    for ngram, found, link in zip(ngrams, lower[1:].tolist(), links[1:].tolist(), strict=True):
        if len(ngram) > 1:
            assert found == pytest.approx(model.log_prob(ngram[1:-1], ngram[-1])[0], rel=1e-6, abs=1e-6)
            assert link == next(nodes[ngram[i:]] for i in range(1, len(ngram)) if ngram[i:] in nodes)


@settings(max_examples=60)
@given(models(), models(), st.integers(1, 3))
def test_a_model_gives_probabilities_to_n_grams_of_another(
    model: Ngrams, other: Ngrams, threads: int
) -> None:
    numbers = np.random.default_rng(model.n_words).integers(0, model.n_words, other.n_words, np.uint32)
    trie, asked = plain(model), plain(other)
    found = trie.kernel.score(asked.kernel, numbers, threads)
    for ngram, log_prob in zip(in_order(other), found[1:].tolist(), strict=True):
        *history, word = (int(numbers[id]) for id in ngram)
        known = tuple(history[max(0, len(history) - model.order + 1) :])
        assert log_prob == pytest.approx(model.log_prob(known, word)[0], rel=1e-9, abs=1e-9)


@settings(max_examples=60)
@given(models(), st.integers(1, 3))
def test_back_off_weights_make_sums_of_one(model: Ngrams, threads: int) -> None:
    # Probabilities after each history that leave something for the words without an n-gram.
    words = range(model.n_words)
    probs: dict[Ngram, float] = {}
    siblings = Counter(ngram[:-1] for ngram in model.log_probs)
    for ngram in model.log_probs:
        left = siblings[ngram[:-1]] < model.n_words
        probs[ngram] = float(np.float32(np.log10(1 / (model.n_words + left))))
    trie = plain_of(probs, {}, model.n_words, model.order)
    of_words = float((10.0 ** trie.log_probs[1 : trie.begins[2]].astype(np.float64)).sum())
    backoffs = trie.kernel.normalising_backoffs(model.n_words, of_words, threads)
    inner = [(), *(ngram for ngram in in_order(model) if len(ngram) < model.order)]
    weighted = Ngrams(
        model.n_words, model.order, probs, dict(zip(inner[1:], backoffs[1:].tolist(), strict=True))
    )
    for history in inner:
        total = sum(10.0 ** weighted.log_prob(history, word)[0] for word in words)
        assert total == pytest.approx(1, abs=2e-7)


def test_a_weight_that_is_never_asked_for_is_one() -> None:
    half = float(np.float32(np.log10(0.5)))
    probs = {(0,): half, (1,): half, (0, 0): half, (0, 1): half}
    trie = plain_of(probs, {}, 2, 2)
    found = trie.kernel.normalising_backoffs(2, 1.0, 1)
    assert found.tolist() == [0.0, 0.0, 0.0]
