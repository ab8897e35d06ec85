"""What each method takes for words, sentences and models, in every kind of model alike."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model_kinds import model_of
from stategram import (
    Budget,
    Mixture,
    Model,
    NgramModel,
    StategramError,
    UnknownWordsWarning,
    WordClasses,
    approximate,
    compact_model,
    evaluate,
    generate,
    prune_model,
    write_arpa,
    write_class_lm,
    write_fst,
)
from stategram.evaluation import rescore

TWO_SENTENCES = ["w3 w4", "w5 w3 w4"]


def test_mixtures_are_fitted_on_sentences() -> None:
    parts = [model_of("ngram"), model_of("unigram")]
    split = [sentence.split() for sentence in TWO_SENTENCES]
    found = [Mixture.fit(parts, text, buckets="none") for text in (TWO_SENTENCES, split)]
    assert found[0].gate.tables[0].tolist() == found[1].gate.tables[0].tolist()


def test_classes_are_those_of_words() -> None:
    words = WordClasses(2).fit(["a b", "a b b"])
    assert words.predict(["a", "c"]).tolist() == [1, -1]
    with pytest.raises(StategramError, match="'a b' is empty or holds white space; give the sentence"):
        words.predict(["a b"])


def test_most_words_unknown_is_a_warning_once_for_each_model() -> None:
    model = NgramModel.train(["the cat sat", "the dog sat"], 2)
    with pytest.warns(UnknownWordsWarning, match="2 of 2 words are unknown.* lowercase the text") as found:
        model.score("The CAT")
    assert found[0].filename == __file__
    with warnings.catch_warnings(action="error"):
        for method in (model.score, model.predict, model.perplexity):
            method("The CAT")
    other = NgramModel.train(["the cat sat"], 2)
    with pytest.warns(UnknownWordsWarning, match="1 of 1 word is unknown"):
        other.predict(["Paris"])


@pytest.mark.parametrize(
    "function",
    [
        lambda model: evaluate(model, TWO_SENTENCES),
        lambda model: rescore(model, {"u": [(0.0, "w3")]}, lm_weight=1.0),
        lambda model: list(generate(model, 1)),
        approximate,
        lambda model: prune_model(model, Budget(prune=1e-8)),
        compact_model,
        lambda model: Mixture.fit([model], TWO_SENTENCES),
        lambda model: write_arpa(model, io.BytesIO()),
    ],
)
def test_a_path_is_not_a_model(function: Callable[[Any], object]) -> None:
    with pytest.raises(TypeError, match=r"found 'file'; expected a model: open_model\('file'\)"):
        function("file")
    with pytest.raises(TypeError, match=r"found \['w3'\]; expected"):
        function(["w3"])


def test_a_list_of_models_is_not_one() -> None:
    with pytest.raises(TypeError, match="expected a list of models"):
        Mixture.fit(model_of("ngram"), TWO_SENTENCES)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="for a file use read_corpus"):
        evaluate(model_of("ngram"), "test.txt")


def test_writers_take_the_model_first(tmp_path: Path) -> None:
    ngram, category = model_of("ngram"), model_of("category")
    writers: list[tuple[Callable[..., object], Model, Model]] = [
        (write_arpa, ngram, category),
        (write_fst, ngram, category),
        (write_class_lm, category, ngram),
    ]
    for write, model, wrong in writers:
        with pytest.raises(TypeError, match=f"expected a {type(model).__name__}"):
            write(wrong, tmp_path / "file")
        with pytest.raises(TypeError, match=r"found 'file'; expected a model: open_model\('file'\) opens it"):
            write("file", model)
    assert not list(tmp_path.iterdir())


def test_lengths_are_those_of_characters() -> None:
    model = NgramModel.train(["café 日本 a"], 1)
    lengths = dict(zip(model.vocabulary.words, model.vocabulary.lengths.tolist(), strict=True))
    assert (lengths["café"], lengths["日本"], lengths["a"], lengths["</s>"]) == (4, 2, 1, 4)
    assert model.vocabulary.lengths.dtype == np.int64
