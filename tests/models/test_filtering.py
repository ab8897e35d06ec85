"""Models of fewer words: the words that stay are as probable as before."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive.model_changes import filtered, naive_of
from stategram import CategoryNgramModel, Mixture, Model, NgramModel, Vocabulary, corpus_from_sentences
from stategram.errors import UsageError
from stategram.evaluation import history_sums
from texts import Text, histories, long_text, make_corpus, texts

CLOSE = 2.0**-22 * math.log(10)


def check_twin(model: NgramModel, vocabulary: Vocabulary) -> NgramModel:
    found = model.filter(vocabulary)
    kept = [id for id, word in enumerate(model.vocabulary.words) if word in vocabulary]
    assert found.vocabulary.words == tuple(model.vocabulary.words[id] for id in kept)
    assert found.vocabulary.counts.tolist() == model.vocabulary.counts[kept].tolist()
    expected, actual = filtered(naive_of(model), kept), naive_of(found)
    renamed = {tuple(kept[id] for id in ngram): p for ngram, p in actual.probs.items()}
    # Of <unk> a sum of rounded numbers, in which a difference may be lost.
    assert renamed == pytest.approx(expected.probs, rel=10 * CLOSE, abs=1e-6)
    for ngram, weight in actual.backoffs.items():
        assert weight == pytest.approx(expected.backoffs[tuple(kept[id] for id in ngram)], rel=CLOSE)
    assert sum(found.trie.sizes) <= sum(model.trie.sizes)
    found.check()
    return found


@settings(max_examples=40)
@given(texts(), st.integers(1, 4), st.sampled_from([0.0, 1e-3]), st.data())
def test_it_is_its_twin(text: Text, order: int, prune: float, data: st.DataObject) -> None:
    model = NgramModel.train(make_corpus(*text), order, prune=prune)
    words = data.draw(st.sets(st.sampled_from([*model.vocabulary.words[3:], "other"])))
    found = check_twin(model, Vocabulary.from_words(words))
    assert max(one.error for one in history_sums(found, 20)) < 1e-6


def test_words_that_stay_are_as_probable_as_before() -> None:
    corpus = make_corpus(*long_text(2000))
    model = NgramModel.train(corpus, 4)
    few = check_twin(model, Vocabulary.from_words(corpus.vocabulary.words[3::2]))
    words = few.vocabulary.words
    ids = [model.vocabulary.id(word) for word in words]
    for history in histories(corpus, 3):
        if all(word in words for word in history):
            before, after = model.distribution(history)[ids], few.distribution(history)
            np.testing.assert_allclose(after[1:], before[1:], rtol=1e-6)
            assert after[0] == pytest.approx(1 - before[1:].sum(), abs=1e-6)
    # All words, or all and more: nothing changes.
    same = model.filter(Vocabulary.from_words([*corpus.vocabulary.words[3:], "more"]))
    assert same.trie.sizes == model.trie.sizes
    np.testing.assert_allclose(same.score(corpus).log_probs, model.score(corpus).log_probs, rtol=1e-6)


def test_categories() -> None:
    text = ["the cat sat", "the dog sat", "a cat ran", "a dog ran"] * 3
    classes = {"the": 0, "a": 0, "cat": 1, "dog": 1, "sat": 2, "ran": 2}
    model = CategoryNgramModel.train(text, classes, 3)
    found = model.filter(Vocabulary.from_words(["the", "a", "cat"]))
    found.check()
    assert found.n_categories == 2  # none of sat and ran
    before = model.distribution("the")
    after = found.distribution("the")
    assert after.sum() == pytest.approx(1, abs=1e-6)
    animals = before[[model.vocabulary.id(word) for word in ("cat", "dog")]].sum()
    assert after[found.vocabulary.id("cat")] == pytest.approx(animals, rel=1e-6)
    # What sat and ran had is what <unk> has more.
    after, before = found.distribution("the cat"), model.distribution("the cat")
    verbs = before[[model.vocabulary.id(word) for word in ("sat", "ran", "<unk>")]].sum()
    assert after[0] == pytest.approx(verbs, rel=1e-5)


def test_what_cannot_be_filtered() -> None:
    corpus = corpus_from_sentences(["the cat sat"])
    models: list[Model] = [NgramModel.train(corpus, order) for order in (1, 2)]
    with pytest.raises(UsageError, match=r"prune the parts of a mixture and mix them again"):
        Mixture.fit(models, corpus).filter(corpus.vocabulary)
