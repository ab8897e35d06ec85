"""The commands, given models that are not made of n-grams alone."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from command_line import TRAIN, run
from stategram import CategoryNgramModel, Mixture, NgramModel
from stategram.evaluation import heldout_tables
from stategram.text import TextFormat

CLASSES = {"the": 0, "a": 0, "cat": 1, "dog": 1, "sat": 2, "ran": 2}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("made")
    sentences = TRAIN.splitlines()
    first = replace(NgramModel.train(sentences, 3), training_format=TextFormat(lowercase=True))
    categories = CategoryNgramModel.train(sentences, CLASSES, 2)
    categories.save(place / "categories")
    Mixture.fit([first, categories], ["the dog ran", "a cat sat"]).save(place / "mixture")
    other = NgramModel.train(["the cow sat"], 2)
    Mixture.fit([first, other], ["the cat sat"]).save(place / "wider")
    (place / "test.txt").write_text("The cat RAN\na zebra sat\n")
    return place


def test_eval_shows_parts(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run("eval", made / "mixture", made / "test.txt", capfd=capfd)
    assert status == 0
    table = out.split("Parts on the text\n")[1].splitlines()
    assert [line.split("  ")[0] for line in table] == [
        "Part",
        "3-gram model, kneser-ney",
        "2-gram model of 4 categories",
    ]
    weights = re.findall(r"  ([\d.]+)%  +\d", out)
    assert sum(map(float, weights)) == pytest.approx(100, abs=0.2)
    status, out, _ = run("eval", made / "mixture", made / "test.txt", "--json", capfd=capfd)
    figures = json.loads(out)
    assert (status, figures["unknown"], len(figures["parts"])) == (0, 1, 2)
    assert set(figures["parts"][0]) == {"name", "perplexity", "weight", "interval", "difference"}


def test_a_part_without_which_all_is_lost() -> None:
    models = [NgramModel.train(TRAIN.splitlines(), order) for order in (1, 2)]
    both = Mixture.fit(models, ["the dog ran", "a cat sat"])
    first, second = both.training_info["parts"]
    needed = replace(
        both, training_info={**both.training_info, "parts": [{**first, "without": None}, second]}
    )
    parts, *_ = heldout_tables(needed, None)
    assert [cell.text for cell in parts.rows[0][3:5]] == ["infinite", "infinite"]


@pytest.mark.parametrize("name", ["mixture", "categories", "wider"])
def test_score_predict_and_verify(made: Path, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run("score", made / name, made / "test.txt", "--lowercase", capfd=capfd)
    rows = [line.split("\t") for line in out.splitlines()[1:]]
    assert (status, len(rows)) == (0, 8)
    assert {row[5] for row in rows} == {"0"}
    assert [row[6] for row in rows] == ["0"] * 5 + ["1"] + ["0"] * 2
    status, out, _ = run("predict", made / name, "the", "--json", capfd=capfd)
    best = json.loads(out)["words"][0]
    assert (status, best["word"], best["order"]) == (0, "cat", None)
    status, out, _ = run("predict", made / name, "the", capfd=capfd)
    assert status == 0
    status, out, _ = run("info", made / name, "--verify", capfd=capfd)
    assert (status, "OK  sums" in out) == (0, True)
