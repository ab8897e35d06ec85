"""How far back a model looks, and where documents start, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import run
from stategram import NgramModel, evaluate, open_model, read_corpus
from stategram.cli import info
from stategram.evaluation import HistorySum
from stategram.models import Model
from stategram.text import TextFormat
from story import WORD_TREE, sentences, write_texts

MARK = "^anna"
HISTORIES = ["sentence", "document", "adaptive"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a model whose documents start with a name, a model of n-grams, and texts."""
    place = write_texts(tmp_path_factory.mktemp("histories"))
    (place / "recipe.toml").write_text(WORD_TREE)
    NgramModel.train(sentences(100, seed=1), 2).save(place / "ngrams")
    return place


@pytest.fixture
def model(place: Path, capfd: pytest.CaptureFixture[str]) -> Path:
    path = place / "model"
    if not path.exists():
        options = ("--heldout", place / "held", "--recipe", place / "recipe.toml", "--document-mark", MARK)
        status, _, err = run("train", place / "train", "-o", path, *options, capfd=capfd)
        assert status == 0, err
    return path


def _perplexity(place: Path, model: Path, history: str, mark: str | None) -> float:
    found = open_model(model)
    corpus = read_corpus(place / "test", TextFormat(document_mark=mark), vocabulary=found.vocabulary)
    return evaluate(found.with_history(history), corpus).perplexity


def test_training_keeps_the_mark(place: Path, model: Path) -> None:
    assert open_model(model).text_format.document_mark == MARK
    assert len(read_corpus(place / "train", TextFormat(document_mark=MARK)).document_starts) > 5
    assert open_model(place / "ngrams").metadata.get("document_mark") is None


def test_eval_shows_all_histories(place: Path, model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, err = run("eval", model, place / "test", capfd=capfd)
    assert status == 0
    assert f"documents start at lines that match '{MARK}', as in training" in err
    title, *table = out.split("\nBy history\n")[1].split("\n\n")[0].splitlines()
    assert title.split()[:4] == ["History", "Perplexity", "95%", "interval"]
    assert title.endswith("Without <unk>")
    assert all(" to " in line for line in table)
    expected = {name: f"{_perplexity(place, model, name, MARK):.2f}" for name in HISTORIES}
    assert {line.split()[0]: line.split()[1] for line in table} == expected
    assert len(set(expected.values())) == 3
    status, out, _ = run("eval", model, place / "test", "--json", capfd=capfd)
    figures = json.loads(out)
    assert [one["history"] for one in figures["histories"]] == HISTORIES
    assert figures["histories"][0]["perplexity"] == figures["perplexity"]
    assert figures["histories"][0]["difference"] is None
    assert figures["histories"][2]["difference"]["relative"] != 0


@pytest.mark.parametrize("history", HISTORIES)
def test_one_history_alone(place: Path, model: Path, history: str, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, err = run("eval", model, place / "test", "--json", "--history", history, capfd=capfd)
    assert (status, err.count("note:"), err.count("note: the text has only")) == (0, 1, 1)
    figures = json.loads(out)
    assert figures["histories"] == []
    assert figures["perplexity"] == _perplexity(place, model, history, MARK)


@pytest.mark.parametrize(("option", "mark"), [("", None), ("^john", "^john"), (MARK, MARK)])
def test_another_mark_than_in_training(
    place: Path, model: Path, option: str, mark: str | None, capfd: pytest.CaptureFixture[str]
) -> None:
    options = ("--history", "document", "--document-mark", option)
    status, out, err = run("eval", model, place / "test", "--json", *options, capfd=capfd)
    assert (status, "as in training" in err) == (0, False)
    perplexity = json.loads(out)["perplexity"]
    assert perplexity == _perplexity(place, model, "document", mark)
    if mark != MARK:
        assert perplexity != _perplexity(place, model, "document", MARK)


def test_a_mark_that_is_no_regular_expression(
    place: Path, model: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for command in (
        ("eval", model, place / "test"),
        ("score", model, place / "test"),
        ("train", place / "train", "-o", place / "new"),
    ):
        status, _, err = run(*command, "--document-mark", "[", capfd=capfd)
        assert (status, "document_mark is '[', an invalid regular expression" in err) == (2, True)


@pytest.mark.parametrize("history", HISTORIES)
def test_score_goes_on_from_sentence_to_sentence(
    place: Path, model: Path, history: str, capfd: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = run("score", model, place / "test", "--history", history, capfd=capfd)
    log10_probs = [float(line.split("\t")[3]) for line in out.splitlines()[1:]]
    perplexity = 10 ** (-sum(log10_probs) / len(log10_probs))
    # Columns have six digits or more.
    assert status == 0
    assert perplexity == pytest.approx(_perplexity(place, model, history, MARK), rel=1e-5)


def test_predict_with_a_history(model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = open_model(model)
    for history in HISTORIES:
        status, out, _ = run("predict", model, "the old", "--history", history, "--json", capfd=capfd)
        best = json.loads(out)["words"][0]
        assert status == 0
        expected = found.with_history(history).distribution("the old")[found.vocabulary.id(best["word"])]
        assert best["probability"] == pytest.approx(expected)


def test_a_model_that_knows_the_sentence_alone(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    note = "note: the model has no history adaptive, only sentence"
    for command in (("eval", place / "ngrams", place / "test"), ("score", place / "ngrams", place / "test")):
        usual = run(*command, capfd=capfd)
        status, out, err = run(*command, "--history", "adaptive", capfd=capfd)
        assert (status, out, [line.strip() for line in err.splitlines()].count(note)) == (0, usual[1], 1)
        assert "note:" not in usual[2]
    status, _, err = run("predict", place / "ngrams", "the", "--history", "adaptive", capfd=capfd)
    assert (status, err.strip()) == (0, note)
    status, _, err = run("eval", place / "ngrams", place / "test", "--history", "page", capfd=capfd)
    assert (status, "'page' is not one of 'sentence', 'document', 'adaptive'" in err) == (2, True)


def test_verify_sums_with_each_history(
    model: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def sums(given: Model, samples: int, progress: object) -> list[HistorySum]:
        off = 0.5 if "adaptive" in repr(given) else 1e-9
        return [HistorySum(("the",), 1.0), HistorySum(("a",), 1.0 + off)]

    monkeypatch.setattr(info, "history_sums", sums)
    status, out, err = run("info", model, "--verify", capfd=capfd)
    assert (status, out.splitlines()[-1]) == (
        3,
        "OK  sums (history document): after 100 histories, the worst is off by 1.0e-09",
    )
    assert "the probabilities after 'a' (history adaptive) sum to 1.5" in err


def test_the_overview_has_all_histories(place: Path, model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    options = ("--text", place / "test", "-q", "-o", "-")
    status, page, err = run("explore", model, *options, capfd=capfd)
    assert status == 0, err
    assert "By history" in page
    assert "counts: r-1" in page  # a chain
    for name in HISTORIES:
        assert f'["{name}","{_perplexity(place, model, name, MARK):.2f}"' in page
    status, page, _ = run("explore", model, *options, "--history", "adaptive", capfd=capfd)
    assert (status, "By history" in page) == (0, False)
    assert '["History","adaptive"]' in page
