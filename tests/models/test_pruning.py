"""Pruning of models that are there: what it drops, and budgets that it keeps."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive.entropy_pruning import entropy_prune, word_frequencies
from naive.model_changes import naive_of
from stategram import (
    Budget,
    CacheModel,
    CategoryNgramModel,
    Mixture,
    NgramModel,
    _core,
    prune_model,
    read_arpa,
    write_arpa,
)
from stategram.errors import UsageError
from stategram.evaluation import history_sums
from stategram.models import SMOOTHINGS, model_size
from stategram.text import BEGIN, END
from texts import Text, long_text, make_corpus, texts

TEXT = make_corpus(*long_text(3000))


@pytest.fixture(scope="module")
def model() -> NgramModel:
    return NgramModel.train(TEXT, 4)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("threshold", [1e-3, 1e-5])
def test_a_model_is_pruned_as_in_training(smoothing: str, threshold: float) -> None:
    whole = NgramModel.train(TEXT, 4, smoothing=smoothing, min_counts=[1, 1, 1, 2])
    found = prune_model(whole, Budget(prune=threshold))
    expected = NgramModel.train(TEXT, 4, smoothing=smoothing, min_counts=[1, 1, 1, 2], prune=threshold)
    one, other = found.trie.plain(), expected.trie.plain()
    for name in ("numbers", "begins", "words", "first_child", "log_probs"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
    np.testing.assert_allclose(one.backoffs, other.backoffs, rtol=1e-6, atol=1e-7)
    assert sum(found.trie.sizes) < sum(whole.trie.sizes)


@settings(max_examples=30)
@given(texts(), st.sampled_from([1e-4, 1e-2, 1.0]), st.sampled_from([0.0, 1e-3]))
def test_pruning_is_its_twin(text: Text, threshold: float, before: float) -> None:
    """Also of a model that lacks suffixes, as it was pruned before."""
    model = NgramModel.train(make_corpus(*text), 3, prune=before)
    expected, found = (
        entropy_prune(naive_of(model), threshold),
        naive_of(prune_model(model, Budget(prune=threshold))),
    )
    assert found.probs == pytest.approx(expected.probs, rel=1e-12)


@settings(max_examples=30)
@given(texts(), st.sampled_from(SMOOTHINGS), st.integers(0, 1))
def test_word_frequencies_are_their_twin(text: Text, smoothing: str, unmarked: int) -> None:
    model = NgramModel.train(make_corpus(*text), 2, smoothing=smoothing)
    trie = model.trie.plain()
    first, second, last = trie.begins[1:].tolist()
    keep = np.ones((1 - unmarked) * (last - second), np.uint8)
    found = np.empty(len(trie.numbers))
    _core.word_frequencies(
        trie.first_child[first : second + 1] - np.uint32(second),
        trie.words[second:],
        trie.log_probs[second:],
        keep,
        trie.log_probs[first:second],
        trie.backoffs[first:second],
        int(trie.numbers[BEGIN]),
        int(trie.numbers[END]),
        found,
    )
    assert found[trie.numbers].tolist() == pytest.approx(word_frequencies(naive_of(model)), abs=1e-6)


def test_word_frequencies_are_those_of_the_text() -> None:
    """Those of the unigrams of Kneser-Ney are not: "francisco" stands after one word only."""
    text = ["san francisco", "the san francisco", "a cat", "the cat", "cat cat"] * 10
    model = NgramModel.train(text, 2)
    frequencies = word_frequencies(naive_of(model))
    san, francisco, cat = (frequencies[model.vocabulary.id(word)] for word in ("san", "francisco", "cat"))
    assert francisco == pytest.approx(san, rel=0.1)
    assert francisco == pytest.approx(cat / 2, rel=0.1)
    unigrams = model.distribution("", sentence_start=False)
    assert unigrams[model.vocabulary.id("francisco")] < 0.4 * unigrams[model.vocabulary.id("cat")]


def test_budgets_of_n_grams(model: NgramModel, tmp_path: Path) -> None:
    total, words = sum(model.trie.sizes), model.trie.sizes[0]
    perplexities = []
    for budget in (total + 1, total, total // 2, total // 10, words):
        found = prune_model(model, Budget(max_ngrams=budget))
        kept = sum(found.trie.sizes)
        assert kept <= budget
        assert kept >= min(total, budget) * 0.99  # several may be worth the same
        assert max(one.error for one in history_sums(found, 30)) < 1e-6
        found.check()
        perplexities.append(found.perplexity(TEXT))
        if kept < total:
            again = prune_model(model, Budget(prune=found.training_info["pruned"]["threshold"]))
            assert again.trie.plain().words.tobytes() == found.trie.plain().words.tobytes()
    assert perplexities == sorted(perplexities)
    # It keeps the n-grams that are worth most: better than any others, such as short ones.
    short = NgramModel.train(TEXT, 2)
    assert prune_model(model, Budget(max_ngrams=sum(short.trie.sizes))).perplexity(TEXT) < short.perplexity(
        TEXT
    )
    with pytest.raises(UsageError, match="cannot be dropped"):
        prune_model(model, Budget(max_ngrams=words - 1))


def test_budgets_of_bytes(model: NgramModel, tmp_path: Path) -> None:
    smallest = model_size(prune_model(model, Budget(max_ngrams=model.trie.sizes[0])))
    budget = (smallest + model_size(model)) // 2
    found = prune_model(model, Budget(max_size=budget))
    found.save(tmp_path / "model")
    size = (tmp_path / "model").stat().st_size
    assert size == model_size(found)
    assert 0.99 * budget < size <= budget
    assert prune_model(model, Budget(max_size=10**9)) is model
    with pytest.raises(UsageError, match="bytes are too few"):
        prune_model(model, Budget(max_size=smallest - 1))


def test_what_has_n_grams_in_it(model: NgramModel) -> None:
    categories = CategoryNgramModel.train(TEXT, np.arange(len(TEXT.vocabulary)) % 5, 4)
    few = prune_model(categories, Budget(max_ngrams=60))
    assert sum(few.ngram.trie.sizes) <= 60
    assert max(one.error for one in history_sums(few, 30)) < 1e-6
    mixture = Mixture.fit([model, categories, CacheModel.train(TEXT)], TEXT, buckets="length")
    budget = model_size(mixture) * 2 // 3
    smaller = prune_model(mixture, Budget(max_size=budget))
    assert 0.99 * budget < model_size(smaller) <= budget
    first, second, third = smaller.parts
    assert isinstance(first, NgramModel)
    assert isinstance(second, CategoryNgramModel)
    assert third is mixture.parts[2]
    pruned = [one.training_info["pruned"]["threshold"] for one in (first, second.ngram)]
    assert pruned[0] == pruned[1]
    with pytest.raises(UsageError, match="no n-grams to drop"):
        prune_model(CacheModel.train(TEXT), Budget(prune=1e-8))
    assert prune_model(model, Budget()) is model
    with pytest.raises(UsageError, match="all limit the size of a model; give one"):
        Budget(prune=1e-8, max_ngrams=3)
    wrong: list[dict[str, Any]] = [
        {"prune": 0.0},
        {"prune": math.inf},
        {"prune": math.nan},
        {"max_size": -1},
        {"max_size": "50M"},
        {"max_ngrams": 1.5},
    ]
    for options in wrong:
        with pytest.raises(UsageError, match=rf"\A{next(iter(options))} is "):
            Budget(**options)


def test_an_arpa_file_without_probabilities_for_some_words() -> None:
    text = (
        b"\\data\\\nngram 1=5\nngram 2=3\n\n\\1-grams:\n-99\t<s>\t-0.3\n-0.5\t</s>\n-99\tnever\t-0.1\n"
        b"-0.4\tcat\t-0.2\n-0.55\tdog\n\n"
        b"\\2-grams:\n-99\tcat dog\n-0.3\t<s> cat\n-0.01\tnever never\n\n\\end\\\n"
    )
    model = read_arpa(io.BytesIO(text))
    # What would have no probability at all without its n-gram is never dropped.
    found = prune_model(model, Budget(prune=1e9))
    file = io.BytesIO()
    write_arpa(found, file)
    assert b"never never" in file.getvalue()
    assert b"<s> cat" not in file.getvalue()
