"""Folders of models that are made of models."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from stategram import CategoryNgramModel, Corpus, Mixture, Model, NgramModel, load_model
from stategram.errors import BadDataError
from stategram.storage import holds_only_our_files, open_folder, write_folder
from texts import long_text, make_corpus

FILES = [
    "0-0-trie.safetensors",
    "0-1-0-trie.safetensors",
    "0-1-0-vocabulary.txt",
    "0-1-words.safetensors",
    "0-weights.safetensors",
    "1-trie.safetensors",
    "vocabulary.txt",
    "weights.safetensors",
]


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
def folder(nested: Mixture, tmp_path: Path) -> Path:
    nested.save(tmp_path / "model", manifest={"inputs": ["text"]})
    return tmp_path / "model"


@pytest.mark.parametrize("verify", [True, False])
def test_a_mixture_of_mixtures_is_the_same(
    nested: Mixture, corpus: Corpus, folder: Path, verify: bool
) -> None:
    loaded = load_model(folder, Mixture, verify=verify)
    assert isinstance(loaded, Mixture)
    for table, expected in zip(loaded.gate.tables, nested.gate.tables, strict=True):
        assert table.tobytes() == expected.tobytes()
    assert (loaded.gate.kind, loaded.gate.buckets) == (nested.gate.kind, nested.gate.buckets)
    assert (loaded.training_info, loaded.metadata) == (nested.training_info, nested.metadata)
    assert (loaded.parameters, repr(loaded)) == (nested.parameters, repr(nested))
    assert loaded.log_probs(corpus).tobytes() == nested.log_probs(corpus).tobytes()
    assert loaded.predict("w5 w6", 4) == nested.predict("w5 w6", 4)
    assert abs(loaded.distribution("w7").sum() - 1) < 1e-6
    # One vocabulary for all that share it.
    assert loaded.parts[1].vocabulary is loaded.vocabulary
    loaded.check()


def test_the_files_of_parts_have_prefixes(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == sorted([*FILES, "manifest.json"])
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["inputs"] == ["text"]
    assert [part["model"] for part in manifest["parts"]] == ["mixture", "ngram"]
    assert [part["model"] for part in manifest["parts"][0]["parts"]] == ["ngram", "category-ngram"]


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_byte_is_refused_with_the_name(folder: Path, name: str) -> None:
    data = bytearray((folder / name).read_bytes())
    data[-1] ^= 1
    (folder / name).write_bytes(data)
    with pytest.raises(BadDataError, match=f"/{name}: damaged"):
        load_model(folder)


def test_parts_that_make_no_sense_are_refused(folder: Path) -> None:
    opened = open_folder(folder, kind="model")
    names = [name.removesuffix(".safetensors") for name in FILES if name.endswith(".safetensors")]
    arrays = {name: opened.arrays(name, mmap=False) for name in names}
    texts = {name: opened.text(name) for name in FILES if name.endswith(".txt")}

    def write(**changes: object) -> None:
        manifest = {**opened.manifest, **changes}
        write_folder(folder, kind="model", arrays=arrays, texts=texts, manifest=manifest)

    first, second = opened.manifest["parts"]
    for parts, message in (
        (3, "are no list"),
        ([first], "invalid mixture model"),
        (
            [first, {**second, "model": "crystal ball"}],
            "'crystal ball', this stategram knows cache, ngram, category",
        ),
        ([second, first], "names no file '0-trie.safetensors'"),
    ):
        write(parts=parts)
        with pytest.raises(BadDataError, match=message):
            load_model(folder)
    gate = opened.manifest["gate"]
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
        write(gate={**gate, "buckets": buckets})
        with pytest.raises(BadDataError, match=message):
            load_model(folder)


def test_the_class_of_a_model_can_be_asked_for(folder: Path) -> None:
    with pytest.raises(BadDataError, match="a model of the class Mixture, expected NgramModel"):
        load_model(folder, NgramModel)


def test_files_of_parts_are_ours(folder: Path) -> None:
    (folder / "manifest.json").write_text("{")
    assert holds_only_our_files(folder)
    (folder / "0-notes.txt").touch()
    assert not holds_only_our_files(folder)
