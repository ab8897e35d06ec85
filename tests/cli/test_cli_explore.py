"""`stategram explore`: what it serves and what it writes."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from command_line import make_models, manifest_of, run
from explorers import HOSTILE, bigram
from stategram import open_model
from stategram.display import perplexity
from story import RECIPE, sentences


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the models of `make_models`, and texts for a mixture of all kinds of models."""
    place = make_models(tmp_path_factory.mktemp("models"))
    for name, n, seed in (("text", 500, 1), ("held", 80, 2), ("test", 60, 3)):
        (place / name).write_text("\n".join(sentences(n, seed=seed)) + "\n")
    (place / "mine.toml").write_text(RECIPE)
    return place


def _saved(page: str) -> dict[str, Any]:
    """Return the answers that a page holds."""
    answers: dict[str, Any] = json.loads(page.partition('id="saved">')[2].partition("</script>")[0])
    return answers


def _overview(page: str) -> dict[str, Any]:
    overview: dict[str, Any] = _saved(page)['overview?{"model":0}']
    return overview


def test_a_mixture_with_all_it_has(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    mixture, out = place / "mixture", place / "page of a mixture.html"
    given = ["train", place / "text", "--heldout", place / "held", "-o", mixture]
    assert run(*given, "--recipe", place / "mine.toml", capfd=capfd)[0] == 0
    status, said, err = run("explore", mixture, "--text", place / "test", "-o", out, capfd=capfd)
    assert (status, said) == (0, ""), err
    page = out.read_text(encoding="utf-8")
    overview, manifest = _overview(page), manifest_of(mixture)
    facts = dict(overview["facts"])
    assert facts["Parameters"] == f"{open_model(mixture).parameters:,}"
    assert facts["Size"] == f"{mixture.stat().st_size / 1000:,.1f} kB"
    assert perplexity(manifest["report"]["perplexity"]) in facts["Held-out perplexity"]
    sections = {one["title"]: one for one in overview["sections"]}
    assert sections["Parts of the mixture"]["weights"] == pytest.approx(
        [part["weight"] for part in manifest["report"]["parts"]], abs=1e-4
    )
    (files,) = sections["How it was made"]["tables"]
    used = [(row[1], row[3]) for row in files["rows"]]
    assert used[:-1] == [(one["use"], one["sha256"]) for one in manifest["inputs"]]
    assert used[-1][0] == "text"
    assert '"context_classes": 8' in sections["How it was made"]["text"]
    figures = json.loads(run("eval", mixture, place / "test", "--json", "-q", capfd=capfd)[1])
    on_text = dict(sections["On the text"]["facts"])
    assert on_text["Perplexity"].startswith(f"{figures['perplexity']:,.2f} ")
    assert on_text["without unknown words"].startswith(f"{figures['perplexity_known']:,.2f} ")
    parts = [row[2] for row in sections["On the text"]["tables"][-1]["rows"]]
    assert parts == [f"{part['perplexity']:,.2f}" for part in figures["parts"]]


@pytest.mark.parametrize("name", ["model", "model.arpa.gz"])
def test_without_a_text_and_without_the_extra(
    place: Path, name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A model makes up what is read; a page is written without the libraries of the server."""
    monkeypatch.setattr("stategram.explore.pages.rendering.find_spec", lambda name: None)
    status, page, err = run("explore", place / name, "-q", "-o", "-", capfd=capfd)
    assert (status, err) == (0, "")
    answers = _saved(page)
    info = answers["info?{}"]
    assert (info["text"], info["sample"].count("\n")) == ("", 2)
    request = json.dumps({"model": 0, "text": info["sample"]}, separators=(",", ":"))
    assert answers[f"score?{request}"]["events"] > 10
    made = _overview(page)["sections"][-1]
    assert ("ARPA file" in str(made["tables"])) == (name == "model.arpa.gz")
    status, _, err = run("explore", place / name, "--no-browser", capfd=capfd)
    assert (status, err) == (
        1,
        "stategram: error: the explorer needs starlette, uvicorn, not installed: "
        'pip install "stategram[explore]"\n',
    )


def test_hostile_words_do_not_break_a_page(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    bigram().save(tmp_path / "model")
    (tmp_path / "text").write_text(f"the old king\n{HOSTILE}\n", encoding="utf-8")
    page = tmp_path / "page.html"
    done = run("explore", tmp_path / "model", "--text", tmp_path / "text", "-o", page, "-q", capfd=capfd)
    assert done[0] == 0
    text = page.read_text(encoding="utf-8")
    score = next(value for key, value in _saved(text).items() if key.startswith("score?"))
    assert "<script>alert(1)</script>" in score["sentences"][1]["words"]
    assert "<script>alert" not in text


@pytest.mark.parametrize("text", ["file", "-"])
def test_each_model_reads_the_raw_text_once(
    text: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = ["The list has 3 items, and 4 keys. It has 12 names.", "A list has 7 keys."]
    Path("raw").write_text("\n".join(lines * 20) + "\n")
    sample = "\ufeffThe list has 12 items, and 7 keys. A list has 3 names.\r\n\nA LIST has 1 keys.\n"
    Path("file").write_bytes(sample.encode())
    tokenized = ("--lowercase", "--digits", "N", "--tokenize", "prose")
    assert run("train", "raw", "-o", "fm", *tokenized, "-q", capfd=capfd)[0] == 0
    assert run("train", "raw", "-o", "plain", "-q", capfd=capfd)[0] == 0
    assert run("train", "raw", "-o", "lower", "--lowercase", "-q", capfd=capfd)[0] == 0

    def explore(*arguments: str) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]:
        """Return all answers, the scores by each model, and the comparison."""
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(sample.encode())))
        done = run("explore", *arguments, "--text", text, "-o", "page", "-q", capfd=capfd)
        assert (done[0], done[2]) == (0, "")
        answers = _saved(Path("page").read_text(encoding="utf-8"))
        scores = [value for key, value in answers.items() if key.startswith("score?")]
        (compared,) = (value for key, value in answers.items() if key.startswith("compare?"))
        return answers, scores, compared

    answers, scores, compared = explore("fm", "plain")
    assert answers["info?{}"]["sample"] == sample[1:].strip().replace("\r\n", "\n")
    for model, score in zip(("fm", "plain"), scores, strict=True):
        figures = json.loads(run("eval", model, "file", "--json", "-q", capfd=capfd)[1])
        assert score["perplexity"] == pytest.approx(figures["perplexity"], abs=0.01)
    words, plain = (score["sentences"][0]["words"] for score in scores)
    assert words[3:6] == ["12", "items", ","]
    assert plain[3:5] == ["12", "items,"]
    for place, word in enumerate(words):
        request = {"history": " ".join(words[:place]), "model": 0, "word": word}
        explained = answers["explain?" + json.dumps(request, separators=(",", ":"))]
        assert explained["surprisal"] == scores[0]["sentences"][0]["surprisal"][place]
        assert not explained["unknown"]
    assert "split differently" in compared["error"]

    _, scores, compared = explore("lower", "plain")
    # Two vocabularies: as eval, it compares the words that both know.
    figures = json.loads(run("eval", "lower", "file", "--compare", "plain", "--json", "-q", capfd=capfd)[1])
    expected = [one["perplexity"] for one in figures["models"]]
    assert compared["perplexity"] == pytest.approx(expected, abs=0.01)
    assert compared["left_out"] == figures["left_out"] > 0
    assert [one["unknown"] for one in scores] == [1, 2]
    _, scores, _ = explore("lower", "plain", "--lowercase")
    assert scores[1]["sentences"][0]["words"][0] == "The"
    assert scores[1]["sentences"][0]["unknown"][0]


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("model", "is an input too"),
        ("model.arpa.gz", "is an input too"),
        ("TEST", "is an input too"),
        ("nowhere/page.html", "there is no folder"),
    ],
)
def test_inputs_are_not_overwritten(
    place: Path, output: str, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    model = "model.arpa.gz" if output == "model.arpa.gz" else "model"
    before = (place / "TEST").read_bytes(), (place / "model.arpa.gz").read_bytes()
    given = ["explore", place / model, "--text", place / "TEST", "-o", place / output]
    status, _, err = run(*given, capfd=capfd)
    assert status in (1, 2)
    assert message in err
    assert before == ((place / "TEST").read_bytes(), (place / "model.arpa.gz").read_bytes())


def test_the_command_refuses_what_is_invalid(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (place / "empty").write_text("")
    page = place / "never.html"
    cases: list[tuple[list[object], int, str]] = [
        (["nothing"], 1, "no such model"),
        ([place / "model"] * 3, 2, "at most two"),
        ([place / "model", "-o", page, "--port", "1"], 2, "--port"),
        ([place / "model", "-o", page, "--no-browser"], 2, "--no-browser"),
        ([place / "model", "--text", place / "empty", "-o", page], 3, "empty"),
    ]
    for arguments, status, reason in cases:
        code, out, err = run("explore", *arguments, capfd=capfd)
        assert (code, reason in err, out) == (status, True, ""), err
    assert not page.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are UTF-8 there")
def test_names_that_are_not_utf8(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text, model = (place / os.fsdecode(name) for name in (b"text \xe9", b"model \xe9"))
    text.write_bytes((place / "text").read_bytes())
    assert run("train", text, "-o", model, capfd=capfd)[0] == 0
    status, page, err = run("explore", model, "--text", text, "-q", "-o", "-", capfd=capfd)
    assert (status, err) == (0, "")
    assert "<bdi>model \N{REPLACEMENT CHARACTER}</bdi>" in page
    assert json.dumps(_overview(page), ensure_ascii=False).count("text \N{REPLACEMENT CHARACTER}") == 2


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_it_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    pytest.importorskip("starlette", reason="starlette serves the explorer")
    pytest.importorskip("uvicorn", reason="uvicorn serves the explorer")
    bigram().save(tmp_path / "model")
    command = [
        sys.executable,
        "-m",
        "stategram",
        "explore",
        str(tmp_path / "model"),
        "--no-browser",
        "--port",
        "0",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        request = urllib.request.Request(
            f"{address}api/predict", b'{"history": "the"}', {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert len(json.load(answer)["words"]) == 10
        port = address.rstrip("/").rpartition(":")[2]
        taken = subprocess.run([*command[:-1], port], capture_output=True, text=True, check=False)
        assert (taken.returncode, f"port {port}" in taken.stderr) == (1, True)
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, messages = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "Traceback" not in messages
