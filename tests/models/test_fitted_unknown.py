"""The probability of <unk> fitted to held-out text: one number, and everything else in proportion."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive.model_changes import naive_of, unknown_scaled
from naive.ngram_models import distribution
from stategram import Mixture, NgramModel, corpus_from_sentences, merge_ngrams, read_arpa, write_arpa
from stategram.models import SMOOTHINGS, compact_model
from stategram.models.ngrams.model import unknown_factor
from stategram.models.ngrams.plain import scale_unknown
from story import sentences
from texts import Text, histories, make_corpus, texts


@settings(max_examples=60)
@given(
    texts(),
    st.integers(1, 4),
    st.sampled_from(SMOOTHINGS),
    st.sampled_from([0.0, 1e-3]),
    st.sampled_from([1e-6, 0.5, 1.0, 30.0, 1e6]),
    st.booleans(),
)
def test_it_is_its_twin(
    text: Text, order: int, smoothing: str, prune: float, factor: float, has_unknown: bool
) -> None:
    corpus = make_corpus(*text)
    if has_unknown:  # n-grams of <unk> too
        corpus = corpus.in_vocabulary(corpus.vocabulary.take(np.arange(len(corpus.vocabulary) // 2 + 2)))
    model = NgramModel.train(corpus, order, smoothing=smoothing, prune=prune)
    found = model._with_trie(scale_unknown(model.plain(), factor))
    found.check()
    naive = naive_of(model)
    for history in histories(corpus, order):
        ids = tuple(model.vocabulary.id(word) for word in history)
        expected = unknown_scaled(distribution(naive, ids), factor)
        actual = found.distribution(list(history), sentence_start=False)
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-7)
        assert actual.sum() == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("size", [None, 6])
def test_no_other_number_is_better(smoothing: str, size: int | None) -> None:
    corpus = corpus_from_sentences(sentences(100, seed=1), vocabulary_size=size)
    model = NgramModel.train(corpus, 3, smoothing=smoothing)
    heldout = [line.replace("maria", "joanna") for line in sentences(60, seed=2)]
    fitted = model.fit_unknown(heldout)
    factor = fitted.training_info["unknown_factor"]
    best = fitted.score(heldout).log_probs.sum()
    assert best > model.score(heldout).log_probs.sum()
    for other in (0.97, 1.03):
        changed = model._with_trie(scale_unknown(model.plain(), factor * other))
        assert changed.score(heldout).log_probs.sum() < best
    # As many unknown words are expected as there are.
    scores = fitted.score(heldout)
    rows = [fitted.distribution(scores_of)[0] for scores_of in prefixes(heldout)]
    assert sum(rows) == pytest.approx(np.count_nonzero(scores.unknown), rel=1e-4)
    # The number is learned once: there is nothing to learn again.
    again = fitted.fit_unknown(heldout).training_info["unknown_factor"]
    assert again == pytest.approx(factor, rel=1e-4)


def prefixes(lines: list[str]) -> list[str]:
    words = map(str.split, lines)
    return [" ".join(line[:i]) for line in words for i in range(len(line) + 1)]


def test_an_arpa_file_has_the_fitted_number(tmp_path: Path) -> None:
    model = NgramModel.train(sentences(100, seed=1), 3).fit_unknown(["peter sees a zebra"] * 9)
    write_arpa(model, tmp_path / "model.arpa")
    read = read_arpa(tmp_path / "model.arpa")
    id = model.vocabulary.id("peter")
    assert read.vocabulary.words == model.vocabulary.words
    for history in ("", "peter", "peter sees"):
        expected = model.distribution(history)[[0, id]]
        # The seven digits of the file.
        np.testing.assert_allclose(read.distribution(history)[[0, id]], expected, rtol=2e-6)
    assert read.distribution("")[0] > 1.5 * NgramModel.train(sentences(100, seed=1), 3).distribution("")[0]


def test_what_cannot_be_fitted_stays_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    model = NgramModel.train(sentences(100, seed=1), 3)
    assert model.fit_unknown(sentences(30, seed=2)) is model  # which has no unknown words
    assert not caplog.messages
    rounded = compact_model(model)
    assert rounded.fit_unknown(["peter sees a zebra"]) is rounded
    assert "is compact; its p(<unk>) is not fitted" in caplog.text
    sure = with_unknown(model, 0.0)
    assert sure.fit_unknown(["peter sees a zebra"]) is sure
    impossible = with_unknown(model, -2.0, "</s>", -math.inf)
    assert impossible.fit_unknown(["peter sees a zebra"]) is impossible
    assert caplog.text.count("p(<unk>) is not fitted: it, or that of a held-out word, is 0 or 1") == 2
    assert unknown_factor(np.ones(4), 2) is unknown_factor(np.zeros(4), 2) is None


def test_a_probability_that_is_nearly_none_is_fitted() -> None:
    model = with_unknown(NgramModel.train(sentences(100, seed=1), 1), -60.0)
    fitted = model.fit_unknown(["peter sees a zebra"] * 9)
    assert fitted.distribution("")[0] == pytest.approx(0.2, rel=0.02)


def with_unknown(model: NgramModel, log10_prob: float, word: str = "<unk>", other: float = 0.0) -> NgramModel:
    trie = model.plain()
    log_probs = trie.log_probs.copy()
    log_probs[1 + trie.numbers[model.vocabulary.id(word)]] = other
    log_probs[1 + trie.numbers[0]] = log10_prob
    return model._with_trie(replace(trie, log_probs=log_probs))


def test_mixtures_fit_their_parts_by_the_words_of_each() -> None:
    text = sentences(100, seed=1)
    small = NgramModel.train(corpus_from_sentences(text, vocabulary_size=5), 2)
    large = NgramModel.train(text, 3)
    heldout = [line.replace("maria", "joanna") for line in sentences(60, seed=2)]
    mixture = Mixture.fit([large, small], heldout)
    fitted = mixture.fit_unknown(heldout)
    for part, alone in zip(fitted.parts, (large, small), strict=True):
        expected = alone.fit_unknown(heldout).training_info["unknown_factor"]
        assert part.training_info["unknown_factor"] == pytest.approx(expected, rel=1e-9)
    refitted = Mixture.fit(fitted.parts, heldout)
    assert refitted.perplexity(heldout) < mixture.perplexity(heldout)
    merged = merge_ngrams([part for part in fitted.parts if isinstance(part, NgramModel)], [0.5, 0.5])
    assert math.isclose(merged.distribution("peter").sum(), 1.0, abs_tol=1e-6)
