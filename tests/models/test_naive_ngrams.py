"""The plain n-gram models, which the kernels are compared with, against sums by hand and their definition."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import exp, fsum, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive.entropy_pruning import entropy_prune, relative_entropies, word_frequencies
from naive.ngram_models import (
    BEGIN,
    END,
    NaiveNgramModel,
    absolute,
    absolute_discount,
    backoff,
    distribution,
    good_turing_discounts,
    katz,
    kneser_ney,
    kneser_ney_discounts,
    prob,
    witten_bell,
)

Estimator = Callable[[list[list[int]], int, int, list[int]], NaiveNgramModel]
ESTIMATORS: list[Estimator] = [kneser_ney, katz, absolute, witten_bell]
A, B = 3, 4

# Few words, so that n-grams repeat and some histories are followed by the whole vocabulary.
corpora = st.lists(
    st.lists(st.sampled_from([0, 3, 4, 5, 6]), max_size=12).map(lambda s: [*s, END]), max_size=25
)
vocabulary_sizes = st.integers(7, 9)
cutoffs = st.sampled_from([[1, 1, 1], [1, 1, 2], [1, 2, 2], [1, 2, 3]])


def check_sums(model: NaiveNgramModel) -> None:
    # BEGIN stands first in a history or nowhere; the ids from 7 on were never seen.
    words = [0, *range(3, model.vocabulary_size)]
    histories = [(), (BEGIN,), *product(words), *product([BEGIN, *words], words), (3, 4, 5, 6)]
    for history in histories:
        p = distribution(model, history)
        assert p[BEGIN] == 0
        assert min(p[:BEGIN] + p[BEGIN + 1 :]) > 0
        assert fsum(p) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("estimate", ESTIMATORS)
@given(corpus=corpora, size=vocabulary_sizes, order=st.integers(1, 3), min_counts=cutoffs)
def test_distributions_sum_to_one(
    estimate: Estimator, corpus: list[list[int]], size: int, order: int, min_counts: list[int]
) -> None:
    check_sums(estimate(corpus, size, order, min_counts[:order]))


@pytest.mark.parametrize("estimate", ESTIMATORS)
@given(corpus=corpora, size=vocabulary_sizes, min_counts=cutoffs, threshold=st.floats(0, 0.1))
def test_pruned_distributions_sum_to_one(
    estimate: Estimator, corpus: list[list[int]], size: int, min_counts: list[int], threshold: float
) -> None:
    model = estimate(corpus, size, 3, min_counts)
    pruned = entropy_prune(model, threshold)
    check_sums(pruned)
    assert pruned.probs.items() <= model.probs.items()
    assert all(g[:-1] in pruned.probs or g[:-1] == (BEGIN,) for g in pruned.probs if len(g) > 1)
    assert set(pruned.backoffs) == {g[:-1] for g in pruned.probs if len(g) > 1}


@pytest.mark.parametrize("estimate", ESTIMATORS)
@given(corpus=corpora, size=vocabulary_sizes)
def test_relative_entropy_is_that_of_the_two_distributions(
    estimate: Estimator, corpus: list[list[int]], size: int
) -> None:
    model = estimate(corpus, size, 2, [1, 1])
    for v in (0, 3):
        siblings = [g for g in model.probs if len(g) == 2 and g[0] == v]
        if len(siblings) < 2:
            continue
        g, found = next(iter(relative_entropies(model, siblings).items()))
        probs = {n: p for n, p in model.probs.items() if n != g}
        weight = backoff(model, {n: probs[n] for n in siblings if n != g})
        without = NaiveNgramModel(size, 2, probs, {**model.backoffs, (v,): weight})
        pairs = zip(distribution(model, (v,)), distribution(without, (v,)), strict=True)
        expected = word_frequencies(model)[v] * sum(p * log(p / q) for p, q in pairs if p > 0)
        assert found == pytest.approx(expected, abs=1e-12)


def test_kneser_ney_by_hand() -> None:
    # "a b", "a a" and "b": bigrams <s>a 2, <s>b 1, ab 1, b</s> 2, aa 1, a</s> 1, with the fallback discounts.
    model = kneser_ney([[A, B, END], [A, A, END], [B, END]], 5, 2, [1, 1])
    # Different words before a: <s> a; before b: <s> a; before </s>: a b. Each 2 - 1 of 6; 3 of 6 are left for
    # the 4 words <unk>, </s>, a, b.
    assert [prob(model, (), w) for w in range(5)] == pytest.approx([1 / 8, 0, *[1 / 6 + 1 / 8] * 3])
    # After a: b, a and </s>, each 1 - 0.5 of 3; after b: </s> alone, 2 - 1 of 2.
    assert model.backoffs == pytest.approx({(BEGIN,): 1.5 / 3, (A,): 1.5 / 3, (B,): 1 / 2})
    assert prob(model, (A,), B) == pytest.approx(0.5 / 3 + 0.5 * 7 / 24)
    assert prob(model, (BEGIN,), A) == pytest.approx(1 / 3 + 0.5 * 7 / 24)
    assert prob(model, (B,), A) == pytest.approx(0.5 * 7 / 24)
    # Cut off below 2: only <s>a and b</s> stay; what <s>b had goes to the weight of <s>.
    cut = kneser_ney([[A, B, END], [A, A, END], [B, END]], 5, 2, [1, 2])
    assert cut.backoffs == pytest.approx({(BEGIN,): 2 / 3, (B,): 1 / 2})
    assert cut.probs[BEGIN, A] == pytest.approx(1 / 3 + 2 / 3 * 7 / 24)


def test_witten_bell_by_hand() -> None:
    model = witten_bell([[A, A, END]], 5, 2, [1, 1])
    # 3 events of 2 types; the mass 2 / 5 is spread over 4 words.
    assert [prob(model, (), w) for w in range(5)] == pytest.approx([0.1, 0, 0.2 + 0.1, 0.4 + 0.1, 0.1])
    assert prob(model, (A,), A) == pytest.approx((1 + 2 * 0.5) / 4)
    assert prob(model, (A,), B) == pytest.approx(2 * 0.1 / 4)


def test_katz_by_hand() -> None:
    model = katz([[A, A, END]], 5, 2)
    # Nothing can be discounted: 3 + 1 events, and the 1 / 4 goes to <unk> and b.
    assert [prob(model, (), w) for w in range(5)] == pytest.approx([1 / 8, 0, 1 / 4, 2 / 4, 1 / 8])
    assert prob(model, (A,), A) == pytest.approx(1 / 3)
    assert prob(model, (A,), B) == pytest.approx(1 / 3 / 2)


def test_discounts_by_hand() -> None:
    assert kneser_ney_discounts(8, 4, 2, 1) == pytest.approx((0.5, 1.25, 2.0))
    # None counted 4 times; D2 = 2 - 3 * 2/3 * 1 = 0; D3 = 3 - 4 * 1/2 * 5/2 < 0.
    for n in [(8, 4, 2, 0), (4, 1, 1, 1), (8, 4, 2, 5)]:
        assert kneser_ney_discounts(*n) == (0.5, 1.0, 1.5)
    assert absolute_discount(6, 2) == 0.6
    assert absolute_discount(0, 2) == absolute_discount(2, 0) == 0.5
    # k = 2: A = 3 * 2 / 12 = 1/2; d_1 = (2 * 4 / 12 - 1/2) / (1/2), d_2 = (3 * 2 / (2 * 4) - 1/2) / (1/2).
    assert good_turing_discounts([0, 12, 4, 2], 2) == pytest.approx([1, 1 / 3, 1 / 2])
    # With k = 1, d_1 is 0, which is no discount; without n-grams counted once there is none either.
    assert good_turing_discounts([0, 12, 4], 1) == good_turing_discounts([0, 0, 4], 1) == [1, 1]


def test_pruning_keeps_what_the_threshold_asks_for() -> None:
    sentences = [[A, B, END], [A, B, B, END], [A, A, B, END], [B, A, END], [B, END]]
    bigrams = absolute(sentences, 5, 2, [1, 1])
    siblings = [(A, A), (A, B), (A, END)]
    rises = {g: exp(d) - 1 for g, d in relative_entropies(bigrams, siblings).items()}
    small, large = min(rises.values()), max(rises.values())
    kept = entropy_prune(bigrams, (small + large) / 2).probs
    assert {g for g in siblings if g in kept} == {g for g in siblings if rises[g] > (small + large) / 2}
    # In a trigram model a bigram stays as long as a trigram begins with it.
    trigrams = absolute(sentences, 5, 3, [1, 1, 1])
    assert entropy_prune(trigrams, -1.0).probs == trigrams.probs
    assert entropy_prune(trigrams, 1e9).probs == {g: p for g, p in trigrams.probs.items() if len(g) == 1}
