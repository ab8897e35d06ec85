"""Caches: their training, their errors, their files, and what they are worth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import naive.word_cache as naive
from model_kinds import corpora, model_of
from stategram import (
    BadDataError,
    CacheModel,
    Corpus,
    Mixture,
    NgramModel,
    UsageError,
    open_model,
    train_recipe,
)
from stategram.models.cache import DECAYS
from stategram.recipes import PARTS, CachePart, NgramPart, Recipe, read_recipe
from stategram.storage import write_archive
from stategram.text import BEGIN, END
from texts import long_text, make_corpus


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return make_corpus(*long_text(3000, 25))


def test_words_have_their_smoothed_probabilities() -> None:
    model = CacheModel.train(["a b", "a"])
    counts = {"<unk>": 0, "<s>": None, "</s>": 2, "a": 2, "b": 1}
    expected = {word: 0.0 if count is None else (count + 0.5) / 7 for word, count in counts.items()}
    found = dict(zip(model.vocabulary.words, model.word_probs.tolist(), strict=True))
    assert found == pytest.approx(expected)
    assert model.distribution("", sentence_start=False).tolist() == pytest.approx(model.word_probs.tolist())


@pytest.mark.parametrize("order", [1, 2, 3])
def test_scores_are_those_of_the_twin(corpus: Corpus, order: int) -> None:
    model = CacheModel.train(corpus, order)
    text = corpus.sentences(0, 20)
    log_probs = model.score(text).log_probs
    for event, word in enumerate(text.ids.tolist()):
        words = [BEGIN, *text.ids[:event].tolist()]
        expected = naive.probabilities(words, model.word_probs.tolist(), DECAYS[:order], BEGIN, END)
        assert np.exp(log_probs[event]) == pytest.approx(expected[word], rel=1e-12)


def test_names(corpus: Corpus) -> None:
    model = CacheModel.train(corpus, 2, decays=[0.5, 1])
    assert repr(model) == "CacheModel(order 2, decays 0.5, 1.0)"
    assert model.title == "cache of words and bigrams"
    assert CacheModel.train(corpus).title == "cache of words, bigrams and trigrams"
    assert CacheModel.train(corpus).decays == DECAYS
    assert dict(model.describe().facts) == {"Order": 2, "Decays": "0.5, 1.0"}
    assert model.parameters == len(corpus.vocabulary) - 1 + 2


def test_a_text_that_repeats_itself_is_worth_a_cache(corpus: Corpus) -> None:
    cut = corpus.n_sentences // 2
    train, heldout = corpus.sentences(0, cut), corpus.sentences(cut, corpus.n_sentences)
    ngram, cache = NgramModel.train(train, 2), CacheModel.train(train)
    twice = Corpus(
        np.tile(heldout.ids, 2),
        np.concatenate((heldout.sentence_starts, heldout.sentence_starts[1:] + heldout.n_events)),
        heldout.vocabulary,
    )
    mixture = Mixture.fit([ngram, cache], twice)
    assert mixture.perplexity(twice) < 0.8 * ngram.perplexity(twice)


@pytest.mark.parametrize(
    ("order", "decays", "message"),
    [
        (0, None, "order of a cache is 0; possible: 1 to 3"),
        (4, None, "order of a cache is 4; possible: 1 to 3"),
        (2, [0.9], r"decays 0\.9 are 1 numbers; give 2"),
        (1, [], "decays of a cache are 0 numbers; give 1"),
        (2, [0.9, 0], "above 0 and up to 1"),
        (1, [1.5], "above 0 and up to 1"),
        (1, [float("nan")], "above 0 and up to 1"),
    ],
)
def test_impossible_settings(order: int, decays: list[float] | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        CacheModel.train(["a b"], order, decays=decays)


def test_inconsistent_probabilities_are_found(corpus: Corpus) -> None:
    model = CacheModel.train(corpus)
    model.check()
    for factor, begin in ((1.001, 0.0), (1.0, 0.1)):
        probs = model.word_probs * factor
        probs[BEGIN] = begin
        with pytest.raises(BadDataError, match="probabilities of words are inconsistent"):
            CacheModel(corpus.vocabulary, probs).check()


@pytest.mark.parametrize(
    ("decays", "probs", "message"),
    [
        ([0.9], np.ones(2), "word_probs is float64 of shape"),
        ([0.9], np.ones(4, np.float32), "word_probs is float32 of shape"),
        ([0.9], np.array([0.5, 0, 0.5, np.nan]), "probabilities of words are inconsistent"),
        ([], np.ones(4), "possible: 1 to 3"),
        ([2.0], np.ones(4), "up to 1"),
        (["x"], np.ones(4), "invalid cache model"),
    ],
)
def test_a_file_that_does_not_fit(tmp_path: Path, decays: list[object], probs: object, message: str) -> None:
    write_archive(
        tmp_path / "model",
        kind="model",
        arrays={"words": {"word_probs": np.asarray(probs)}},
        texts={"vocabulary": CacheModel.train(["a"]).vocabulary.to_bytes()},
        manifest={"model": "cache", "decays": decays, "report": {}, "recipe": {}},
    )
    with pytest.raises(BadDataError, match=message):
        open_model(tmp_path / "model")


def test_caches_in_recipes(corpus: Corpus, tmp_path: Path) -> None:
    assert PARTS["cache"] is CachePart
    (tmp_path / "mine.toml").write_text(
        "[[part]]\nmodel = 'ngram'\norder = 2\n[[part]]\nmodel = 'cache'\norder = 2\ndecays = [0.99, 1]\n"
        "[[part]]\nmodel = 'cache'\n"
    )
    recipe = read_recipe(tmp_path / "mine.toml")
    assert recipe.part == [NgramPart(order=2), CachePart(order=2, decays=[0.99, 1.0]), CachePart()]
    cut = corpus.n_sentences // 2
    train, heldout = corpus.sentences(0, cut), corpus.sentences(cut, corpus.n_sentences)
    mixture = train_recipe(train, heldout, recipe, checkpoint=tmp_path / "kept")
    assert [repr(part) for part in mixture.parts[1:]] == [
        "CacheModel(order 2, decays 0.99, 1.0)",
        f"CacheModel(order 3, decays {', '.join(map(str, DECAYS))})",
    ]
    assert mixture.parts[1].metadata["decays"] == [0.99, 1.0]
    resumed = train_recipe(train, heldout, recipe, checkpoint=tmp_path / "kept")
    assert resumed.score(heldout).log_probs.tolist() == mixture.score(heldout).log_probs.tolist()
    assert Recipe(part=[CachePart(order=1)]).part[0].title == "cache of order 1"


def test_a_mixture_carries_the_cache_from_sentence_to_sentence() -> None:
    mixture, (_, heldout) = model_of("cached"), corpora()
    cache, ngram = model_of("cache"), model_of("ngram")
    weights = mixture.gate.weights  # type: ignore[attr-defined]
    ngram_scores = ngram.score(heldout, features=["length"])
    of_events = weights({0: ngram_scores.features}, heldout.n_events)
    both = np.column_stack((ngram_scores.log_probs, cache.score(heldout).log_probs))
    expected = np.log((of_events * np.exp(both)).sum(axis=1))
    np.testing.assert_allclose(mixture.score(heldout).log_probs, expected, rtol=1e-9)
    state, found = mixture.start(), []
    for number in range(heldout.n_sentences):
        scores = mixture.score(heldout.sentences(number, number + 1), state=state)
        state = scores.state
        found += scores.log_probs.tolist()
    assert found == pytest.approx(expected.tolist(), rel=1e-9)


def test_a_mixture_learns_the_weight_of_a_cache_on_text_in_its_order() -> None:
    _, heldout = corpora()
    parts = model_of("ngram"), model_of("cache")
    info = Mixture.fit(parts, heldout, buckets="none").training_info["parts"]
    assert [part["perplexity"] for part in info] == pytest.approx(
        [part.perplexity(heldout) for part in parts]
    )
