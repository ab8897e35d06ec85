"""Category n-gram models: the plain twin, sums, files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive.category_ngram as naive
import naive.ngram_models as ngrams
from stategram import CategoryNgramModel, WordClasses
from stategram.errors import BadDataError, UsageError
from stategram.resources import use_resources
from stategram.text import BEGIN
from texts import Text, histories, long_text, make_corpus, texts

# The twin's n-gram probabilities are float64, the model's float32 logarithms, of which four are added.
CLOSE = 1e-5


@settings(deadline=None)
@given(texts(), st.integers(1, 4), st.data())
def test_the_model_is_its_twin(text: Text, order: int, data: st.DataObject) -> None:
    sentences, n_words = text
    labels = data.draw(
        st.lists(st.none() | st.integers(0, 4), min_size=n_words, max_size=n_words), label="labels"
    )
    corpus = make_corpus(sentences, n_words)
    given_labels = np.array([-1 if label is None else label for label in labels])
    model = CategoryNgramModel.train(corpus, given_labels, order)
    categories = naive.symbols(labels)
    assert model.categories.tolist() == categories
    probs = naive.word_probs(sentences, categories)
    np.testing.assert_allclose(model.word_probs, probs, rtol=1e-12)
    of_categories = ngrams.kneser_ney(
        [[categories[id] for id in sentence] for sentence in sentences],
        max(categories) + 1,
        order,
        [1] * order,
    )
    expected = [
        naive.category_prob(of_categories, categories, probs, (BEGIN, *sentence[:i]), word)
        for sentence in sentences
        for i, word in enumerate(sentence)
    ]
    np.testing.assert_allclose(np.exp(model.score(corpus).log_probs), expected, rtol=CLOSE)
    for history in histories(corpus, order)[::5]:
        distribution = model.distribution(history)
        assert abs(distribution.sum() - 1) < 1e-6
        assert distribution[BEGIN] == 0
        assert (np.delete(distribution, BEGIN) > 0).all()


@pytest.mark.parametrize("smoothing", ["kneser-ney", "absolute", "witten-bell", "katz"])
def test_of_word_classes(smoothing: str) -> None:
    corpus = make_corpus(*long_text())
    classes = WordClasses(n_classes=6, effort="fast").fit(corpus)
    model = CategoryNgramModel.train(corpus, classes, 4, smoothing=smoothing)
    assert (model.order, model.n_categories) == (4, 6)
    for history in histories(corpus, 4):
        assert abs(model.distribution(history).sum() - 1) < 1e-6
    mapping = dict(zip(classes.words_, classes.labels_.tolist(), strict=True))
    with use_resources(threads=1):
        again = CategoryNgramModel.train(corpus, mapping, 4, smoothing=smoothing)
        log_probs = model.score(corpus).log_probs
    with use_resources(threads=2):
        assert again.score(corpus).log_probs.tobytes() == log_probs.tobytes()
    assert repr(model) == "CategoryNgramModel(order 4, 6 categories)"
    model.check()


def test_words_without_a_category_share_that_of_unknown_words() -> None:
    model = CategoryNgramModel.train(["the cat sat", "a dog ran"], {"the": 1, "a": 1, "cat": "N", "dog": "N"})
    assert model.categories[model.vocabulary.id("sat")] == model.categories[0] == 0


@pytest.mark.parametrize("categories", [np.zeros(3, np.uint32), np.zeros(5), [[1, 2, 3, 4, 5]]])
def test_categories_that_do_not_fit_are_refused(categories: np.ndarray) -> None:
    with pytest.raises(UsageError, match="an integer for each of the 5 words"):
        CategoryNgramModel.train(["a b"], categories)


def test_word_probabilities_that_make_no_sense_are_found() -> None:
    model = CategoryNgramModel.train(["a b", "b a"], {"a": 0, "b": 0}, order=2)
    model.check()
    for change in (np.nan, -0.1, 0.9):
        probs = model.word_probs.copy()
        probs[model.vocabulary.id("a")] = change
        with pytest.raises(BadDataError, match="are inconsistent"):
            replace(model, word_probs=probs).check()
    probs = model.word_probs.copy()
    probs[BEGIN] = 0.1
    with pytest.raises(BadDataError, match="are inconsistent"):
        replace(model, word_probs=probs).check()


def test_only_classes_of_words_count() -> None:
    text = ["the cat sat", "the dog sat", "a cat ran"] * 3
    classes = {"the": 0, "a": 0, "cat": 1, "dog": 1, "sat": 2, "ran": 2}
    model = CategoryNgramModel.train(text, classes, 2)
    assert (model.n_categories, model.training_info["categories"]) == (3, 3)
    assert model.title == "2-gram model of 3 categories"
    # Words without a class are one, that of <unk>.
    del classes["dog"]
    assert CategoryNgramModel.train(text, classes, 2).n_categories == 4
