"""Every distribution of every n-gram model, cache and word tree model sums to one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from stategram import _core
from stategram.counts import count_ngrams
from stategram.models import HISTORIES, SMOOTHINGS, Model, NgramModel, random_history
from stategram.models.ngrams.estimate import default_min_counts, estimate
from stategram.text import Corpus, Vocabulary
from texts import Text, histories, long_text, make_corpus, texts
from word_tree_models import train_word_tree


def assert_sums(model: Model, corpus: Corpus) -> None:
    for history in histories(corpus, model.order):
        for sentence_start in (True, False):
            distribution = model.distribution(history, sentence_start=sentence_start)
            assert abs(distribution.sum() - 1.0) < 1e-6, history
            assert distribution.min() >= 0.0
            assert distribution[1] == 0.0


@settings(deadline=None)
@given(
    texts(),
    st.integers(1, 5),
    st.sampled_from(SMOOTHINGS),
    st.sampled_from([0.0, 1e-6, 1e-3, 0.1]),
    st.data(),
)
def test_of_small_texts(text: Text, order: int, smoothing: str, prune: float, data: st.DataObject) -> None:
    above = data.draw(st.lists(st.integers(1, 3), min_size=order - 1, max_size=order - 1))
    corpus = make_corpus(*text)
    model = NgramModel.train(corpus, order, smoothing=smoothing, min_counts=[1, *sorted(above)], prune=prune)
    assert_sums(model, corpus)
    model.check()


@pytest.mark.parametrize("prune", [0.0, 1e-6, 1e-4])
@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_of_a_longer_text(smoothing: str, prune: float) -> None:
    corpus = make_corpus(*long_text(20_000, 300))
    model = NgramModel.train(corpus, 4, smoothing=smoothing, prune=prune)
    assert_sums(model, corpus)
    model.check()


def test_of_histories_after_which_nearly_all_words_were_seen() -> None:
    # Little is left for the others: back-off weights are great, and so are errors that they multiply.
    random = np.random.default_rng(2)
    lines = [" ".join(random.choice(list("abc"), 9, p=[0.8, 0.15, 0.05])) for _ in range(1000)]
    for order in (3, 4):
        model = NgramModel.train(lines, order, smoothing="katz", prune=1e-6)
        for _ in range(100):
            total = model.distribution(random_history(model, random)).sum()
            assert total == pytest.approx(1.0, abs=1e-7)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_to_nine_digits_before_they_are_rounded(smoothing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exact values on their way to the logarithms: backoffs of length k - 1, then probabilities of k."""
    exact: list[NDArray[np.float64]] = []
    log10_floats = _core.log10_floats

    def keep(values: NDArray[np.float64], logs: NDArray[np.float32], threads: int) -> None:
        exact.append(values.copy())
        log10_floats(values, logs, threads)

    corpus = make_corpus(*long_text(20_000, 300))
    order = 4
    counts = count_ngrams(corpus, order)
    levels: list[Any] = list(counts.levels)
    monkeypatch.setattr(_core, "log10_floats", keep)
    estimates = estimate(counts, smoothing, default_min_counts(smoothing, order))
    lower = exact[2]
    assert abs(lower.sum() - 1.0) < 1e-9
    for k in range(2, order + 1):
        backoffs, probs = exact[2 * k - 1], exact[2 * k]
        kept = (
            estimates.levels[k].keep.astype(bool)
            if len(estimates.levels[k].keep)
            else np.ones(len(probs), bool)
        )
        first_child = levels[k - 1].first_child.astype(np.int64)
        history_of = np.repeat(np.arange(len(backoffs)), np.diff(first_child))
        own = np.bincount(history_of[kept], probs[kept], len(backoffs))
        seen_lower = np.bincount(history_of[kept], lower[levels[k].suffixes[kept]], len(backoffs))
        sums = own + backoffs * (1.0 - seen_lower)
        assert np.abs(sums - 1.0).max() < 1e-9
        lower = probs


def test_a_vocabulary_with_words_that_the_text_lacks() -> None:
    vocabulary = Vocabulary.from_words(["a", "b", "c", "never", "ever"])
    corpus = Corpus(np.array([3, 4, 2, 3, 5, 2], np.uint32), np.array([0, 3, 6], np.int64), vocabulary)
    for smoothing in SMOOTHINGS:
        model = NgramModel.train(corpus, 3, smoothing=smoothing)
        assert_sums(model, corpus)
        assert model.distribution("a")[vocabulary.id("never")] > 0.0


@settings(deadline=None, max_examples=20)
@given(texts().filter(lambda text: text[1] > 3), st.sampled_from(HISTORIES))
def test_of_word_trees(text: Text, history: str) -> None:
    corpus = make_corpus(*text)
    chains = ["w-1 w-2", "counts: g1-1 w-2", "counts: r-1"]
    model = train_word_tree(corpus, chains=chains, classes=[2, 1], rare=0.2, n_events=50)
    model = model.with_history(history)
    assert_sums(model, corpus)
    distribution = model.distribution(model.score(corpus).state)
    assert abs(distribution.sum() - 1.0) < 1e-9
    assert (distribution[[0, *range(2, len(distribution))]] > 0.0).all()
    model.check()
