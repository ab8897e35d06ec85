"""One n-gram model made of several: it is its twin, and it sums to one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive.model_changes import merged, naive_of
from stategram import Mixture, NgramModel, Vocabulary, corpus_from_sentences, merge_ngrams
from stategram.errors import UsageError
from stategram.evaluation import history_sums
from stategram.models import Gate
from stategram.resources import use_resources
from stategram.text import UNKNOWN
from texts import Text, long_text, make_corpus, texts

# Half a unit in the last place of a float32 near 8, times the slope of 10**x.
CLOSE = 2.0**-22 * math.log(10)
FEW = ["the cat sat", "the dog sat on the mat", "a cat ran"] * 3
OTHERS = ["the cow ran", "a cow sat on a cat", "the <unk> ran", "cows ran"] * 3


def check_twin(models: list[NgramModel], weights: list[float], threads: int = 2) -> None:
    with use_resources(threads=threads):
        found = merge_ngrams(models, weights)
    vocabulary = found.vocabulary
    own_ids = [[model.vocabulary.id(word) for word in vocabulary.words] for model in models]
    expected = merged([naive_of(model) for model in models], own_ids, weights, len(vocabulary))
    actual = naive_of(found)
    assert actual.probs == pytest.approx(expected.probs, rel=CLOSE, abs=0.0)
    # A difference of nearly equal numbers, here at least 1/1000 of them.
    assert actual.backoffs == pytest.approx(expected.backoffs, rel=1000 * CLOSE, abs=1e-6)


@settings(max_examples=30)
@given(texts(), texts(), st.integers(1, 4), st.integers(1, 4), st.floats(0, 1))
def test_small_models_are_their_twin(one: Text, two: Text, order: int, other: int, weight: float) -> None:
    first = NgramModel.train(make_corpus(*one), order, prune=1e-3)
    second = NgramModel.train(make_corpus(*two), other)
    check_twin([first, second], [weight, 1 - weight])


def test_larger_models_are_their_twin() -> None:
    corpus = make_corpus(*long_text(1500))
    cut = corpus.n_sentences // 2
    first = NgramModel.train(corpus.sentences(0, cut), 4, prune=1e-4)
    words = Vocabulary.from_words([*corpus.vocabulary.words[3:20], "new", "words"])
    second = NgramModel.train(corpus.sentences(cut, corpus.n_sentences).in_vocabulary(words), 3)
    check_twin([first, second, first], [0.5, 0.3, 0.2], threads=3)


def test_it_is_like_the_mixture() -> None:
    models = [NgramModel.train(FEW, 3), NgramModel.train(OTHERS, 2)]
    static, dynamic = merge_ngrams(models, [0.7, 0.3]), Mixture(tuple(models), Gate.constant([0.7, 0.3]))
    assert static.vocabulary == dynamic.vocabulary
    # The same unigrams, and the same after a history that both know and with words that have n-grams.
    np.testing.assert_allclose(
        static.distribution("", sentence_start=False),
        dynamic.distribution("", sentence_start=False),
        rtol=1e-6,
    )
    id = static.vocabulary.id("cat")
    assert static.distribution("the")[id] == pytest.approx(dynamic.distribution("the")[id], rel=1e-6)
    assert max(one.error for one in history_sums(static)) < 1e-6
    assert max(one.error for one in history_sums(dynamic)) < 1e-6
    static.check()
    same = merge_ngrams(models[:1] * 2, [0.25, 0.75])
    test = corpus_from_sentences(FEW, vocabulary=same.vocabulary)
    np.testing.assert_allclose(same.score(test).log_probs, models[0].score(test).log_probs, rtol=1e-5)


def test_weights_that_are_none() -> None:
    model = NgramModel.train(FEW, 2)
    for weights, message in (
        ([1.0], "1 for 2 models"),
        ([0.5, 0.6], "sum to one"),
        ([1.5, -0.5], "0 to 1"),
        ([math.nan, 0.5], "0 to 1"),
    ):
        with pytest.raises(UsageError, match=message):
            merge_ngrams([model, model], weights)
    with pytest.raises(UsageError, match="0 for 0 models"):
        merge_ngrams([], [])
    assert merge_ngrams([model], [0.9999]).training_info["parts"][0]["weight"] == 1.0
    assert model.vocabulary.id("cow") == UNKNOWN
