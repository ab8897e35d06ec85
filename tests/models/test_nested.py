"""Files of models that are made of models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hostile import HostileFile
from stategram import Budget, CategoryNgramModel, Corpus, Mixture, Model, NgramModel, approximate, open_model
from stategram.errors import BadDataError
from stategram.storage import open_archive
from texts import long_text, make_corpus

GROUPS = {
    "0/0/trie",
    "0/1/0/trie",
    "0/1/0/vocabulary",
    "0/1/words",
    "0/weights",
    "1/trie",
    "vocabulary",
    "weights",
}


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return make_corpus(*long_text(1000))


@pytest.fixture(scope="module")
def nested(corpus: Corpus) -> Mixture:
    parts: list[Model] = [
        NgramModel.train(corpus, 3),
        CategoryNgramModel.train(corpus, np.arange(len(corpus.vocabulary)) % 4, 3),
    ]
    inner = Mixture.fit(parts, corpus, buckets="backoff")
    return Mixture.fit([inner, NgramModel.train(corpus, 2, smoothing="absolute")], corpus, buckets="category")


@pytest.fixture
def file(nested: Mixture, tmp_path: Path) -> Path:
    nested.save(tmp_path / "model", manifest={"inputs": ["text"]})
    return tmp_path / "model"


def test_what_a_mixture_of_mixtures_can_be_asked_is_asked_of_its_parts(nested: Mixture) -> None:
    inner, bigram = nested.parts
    assert nested.leaves == {"1.1": inner.parts[0], "1.2": inner.parts[1], "2": bigram}
    assert [one.word_ngrams is one for one in nested.leaves.values()] == [True, False, True]
    (classes,) = inner.parts[1].class_sets
    assert (classes.n, classes.ngrams) == (6, inner.parts[1].ngram)  # type: ignore[attr-defined]
    found = approximate(nested, Budget(max_ngrams=3_000))
    assert sum(found.trie.sizes) <= 3_000
    assert found.perplexity("w5 w6 w7") == pytest.approx(nested.perplexity("w5 w6 w7"), rel=0.2)


def test_names_of_the_arrays_of_parts_have_prefixes(file: Path) -> None:
    manifest = open_archive(file, kind="model").manifest
    names = manifest["arrays"]
    assert {name if "vocabulary" in name else name.rpartition("/")[0] for name in names} == GROUPS
    assert manifest["inputs"] == ["text"]
    assert [part["model"] for part in manifest["parts"]] == ["mixture", "ngram"]
    assert [part["model"] for part in manifest["parts"][0]["parts"]] == ["ngram", "category-ngram"]


def test_parts_that_are_inconsistent_are_refused(file: Path) -> None:
    hostile = HostileFile(file)
    first, second = hostile.manifest["parts"]
    for parts, message in (
        (3, "its parts are not a list"),
        ([first], "invalid mixture model"),
        (
            [first, {**second, "model": "crystal ball"}],
            "'crystal ball', this stategram knows cache, category-ngram, clustered",
        ),
        ([second, first], "invalid mixture model|it has no array"),
    ):
        hostile.change(parts=parts)
        with pytest.raises(BadDataError, match=message):
            open_model(file)
    gate = hostile.manifest["gate"]
    length = {"names": ["length"], "part": 0, "edges": 3}
    for buckets, message in (
        ([{"names": ["length"], "part": 0, "edges": []}], "its buckets are inconsistent"),
        ([{"names": ["length"], "part": 0, "edges": 10**12}], "its buckets are inconsistent"),
        ([{"names": ["length", "backoff"], "part": 0, "edges": [[2, 1]]}], "its buckets are inconsistent"),
        ([gate["buckets"][0], {**gate["buckets"][1], "part": 7}], "part 8 does not know"),
        ([gate["buckets"][0], {**gate["buckets"][1], "names": ["colour"]}], "does not know"),
        ([*gate["buckets"], length], "table-2"),
        (3, "invalid mixture model"),
        ([], "buckets for each table"),
    ):
        hostile.change(gate={**gate, "buckets": buckets})
        with pytest.raises(BadDataError, match=message):
            open_model(file)
