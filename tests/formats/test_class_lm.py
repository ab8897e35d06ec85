"""Category n-gram models for SRILM: both files, read by their descriptions, give the model."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import naive.arpa
from stategram.formats import class_lm_files, write_class_lm
from stategram.models import CategoryNgramModel
from story import sentences as story

SENTENCES = story(250, seed=1)
WORDS = sorted({word for sentence in SENTENCES for word in sentence.split()})


def srilm_score(prefix: Path, sentence: str) -> float:
    """The log10 probability of a sentence by SRILM's classes-format(5): each word is in one class at most."""
    arpa, classes = (Path(name).read_text() for name in class_lm_files(prefix))
    order, model = naive.arpa.read(arpa)
    rows = [line.split(" ") for line in classes.splitlines()]
    class_of = {word: (name, float(p)) for name, p, word in rows}
    assert len(class_of) == len(rows)
    assert not {name for name, _, _ in rows} & set(class_of)
    history, total = ["<s>"], 0.0
    for word in [*sentence.split(), "</s>"]:
        known = word if word in class_of or (word,) in model.log_probs else "<unk>"
        name, p = class_of.get(known, (known, 1.0))
        total += model.log_prob(tuple(history[-(order - 1) :]), name) + math.log10(p)
        history.append(name)
    return total


@pytest.mark.parametrize("with_unknown", [False, True])
def test_both_files_give_the_model(tmp_path: Path, with_unknown: bool) -> None:
    classes = {word: i % 7 for i, word in enumerate(WORDS)}
    if with_unknown:  # words without a class are with <unk>
        classes = {word: number for word, number in classes.items() if number}
    model = CategoryNgramModel.train(SENTENCES[:200], classes, order=3)
    write_class_lm(model, tmp_path / "model")
    for sentence in [*SENTENCES[200:220], "nobody said"]:
        expected = model.score(sentence).log10_prob
        assert srilm_score(tmp_path / "model", sentence) == pytest.approx(expected, rel=1e-6)
    text = (tmp_path / "model.classes").read_text()
    assert ("<unk>" in text) == with_unknown
    assert "s>" not in text


def test_names_of_classes_are_no_words(tmp_path: Path) -> None:
    model = CategoryNgramModel.train(["CLASS-00001 a"], {"a": 0, "CLASS-00001": 1}, order=2)
    write_class_lm(model, tmp_path / "model")
    lines = [line.split(" ") for line in (tmp_path / "model.classes").read_text().splitlines()]
    assert {(name, word) for name, _, word in lines} == {
        ("CLASS--00001", "CLASS-00001"),
        ("CLASS--00002", "a"),
    }
