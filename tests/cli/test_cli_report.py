"""`stategram report`."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from command_line import make_models, manifest_of, run
from html_structure import structure_of
from stategram import open_model
from stategram.explore.pages.rendering import unbroken
from stategram.wording import percent, perplexity
from story import RECIPE, sentences

pytest.importorskip("vl_convert", reason="vl-convert draws the charts")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the models of `make_models`, and a mixture of all kinds of models."""
    place = make_models(tmp_path_factory.mktemp("models"))
    for name, n, seed in (("text", 500, 1), ("held", 80, 2), ("test", 60, 3)):
        (place / name).write_text("\n".join(sentences(n, seed=seed)) + "\n")
    (place / "mine.toml").write_text(RECIPE)
    return place


@pytest.fixture
def mixture(place: Path, capfd: pytest.CaptureFixture[str]) -> Path:
    if not (place / "mixture").exists():
        given = ["train", place / "text", "--heldout", place / "held", "-o", place / "mixture"]
        assert run(*given, "--recipe", place / "mine.toml", capfd=capfd)[0] == 0
    return place / "mixture"


def test_a_mixture_with_all_it_has(place: Path, mixture: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = place / "mixture report.html"
    status, said, err = run("report", mixture, "--test", place / "test", "-o", out, capfd=capfd)
    assert (status, said) == (0, ""), err
    page = out.read_text(encoding="utf-8")
    found = structure_of(page)
    assert {"test", "parts", "alone", "weights", "model-1", "model-2", "model-3", "training"} <= set(
        found.ids
    )
    model = open_model(mixture)
    manifest = manifest_of(mixture)
    for expected in (
        "mixture: mixture of 3 models",
        "3-gram model, kneser-ney",
        "clustered model of g-2,w-1",
        f"{model.parameters:,}",
        perplexity(manifest["report"]["perplexity"]),
        *(percent(part["weight"]) for part in manifest["report"]["parts"]),
        *(perplexity(part["without"]) for part in manifest["report"]["parts"]),
        *(f"{level['nodes']:,}" for level in manifest["parts"][2]["report"]["levels"]),
        *(one["sha256"] for one in manifest["inputs"]),
        "&#34;context_classes&#34;: 8",
        "Levels of the context tree",
        "States: contexts that are followed by the same words",
    ):
        assert expected in page
    assert run("eval", mixture, place / "test", "--json", capfd=capfd)[0] == 0


def test_the_report_says_what_eval_says(
    place: Path, mixture: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _, figures, _ = run("eval", mixture, place / "test", "--json", "-q", capfd=capfd)
    _, page, _ = run("report", mixture, "--test", place / "test", "-q", "-o", "-", capfd=capfd)
    expected = json.loads(figures)
    assert re.search(rf"<dd>{expected['perplexity']:,.2f} [^<]*, &lt;unk&gt; counted as a word<", page)
    assert re.search(rf"<dt>without unknown words</dt><dd>{expected['perplexity_known']:,.2f} ", page)
    for part in expected["parts"]:
        assert f"{part['perplexity']:,.2f}" in page


@pytest.mark.parametrize("name", ["model", "model.safetensors", "model.arpa.gz"])
def test_it_stands_beside_the_model(place: Path, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    if name == "model.safetensors":
        shutil.copy(place / "model", place / name)
    status, _, err = run("report", place / name, "--test", place / "TEST", "--lowercase", capfd=capfd)
    assert status == 0, err
    page = (place / "model.html").read_text(encoding="utf-8")
    assert unbroken("By length of the longest known n-gram") in page
    assert ("ARPA file" in page) == (name == "model.arpa.gz")
    assert (unbroken("3-gram model, kneser-ney") in page) == (name != "model.arpa.gz")
    (place / "model.html").unlink()


def test_a_category_model_on_words_that_it_does_not_know(
    place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    classes, strange = place / "classes.tsv", place / "strange"
    assert run("classes", place / "text", "-k", 4, "-o", classes, "-q", capfd=capfd)[0] == 0
    given = ("train", place / "text", "--classes", classes, "-o", place / "category", "-q")
    assert run(*given, capfd=capfd)[0] == 0
    known = (place / "test").read_text()
    strange.write_text(known + "".join(f"stranger{i} " for i in range(500)) + "\n")
    out = place / "category.html"
    status, _, err = run("report", place / "category", "--test", strange, "-o", out, "-q", capfd=capfd)
    assert (status, err) == (0, "")


def test_given_sentences(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = ["report", place / "model", "-q", "-o", "-", "--sentence"]
    status, page, err = run(*given, "the cat <b>sat</b>", "--sentence", "a dog", capfd=capfd)
    assert (status, err) == (0, "")
    assert {"surprisal", "surprisal-2"} <= set(structure_of(page).ids)
    assert "A given sentence" in page
    _, strange, _ = run(*given, "the Zebra sat", "--lowercase", capfd=capfd)
    chart = strange.partition('<figure id="surprisal">')[2].partition("</figure>")[0]
    assert "<bdi>Zebra (unknown)</bdi>" in chart
    assert "&lt;unk&gt;" not in chart
    size = (place / "model").stat().st_size
    assert f"<dt>Size</dt><dd>{size / 1000:.1f} kB</dd>" in page
    status, _, err = run(*given, " ", capfd=capfd)
    assert (status, "--sentence has no words" in err) == (2, True)


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("model", "is an input too"),
        ("model.arpa.gz", "is an input too"),
        ("TEST", "is an input too"),
        ("nowhere/report.html", "there is no folder"),
    ],
)
def test_inputs_are_not_overwritten(
    place: Path, output: str, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    model = "model.arpa.gz" if output == "model.arpa.gz" else "model"
    before = (place / "TEST").read_bytes(), (place / "model.arpa.gz").read_bytes()
    status, _, err = run("report", place / model, "--test", place / "TEST", "-o", place / output, capfd=capfd)
    assert status in (1, 2)
    assert message in err
    assert before == ((place / "TEST").read_bytes(), (place / "model.arpa.gz").read_bytes())


def test_what_is_wrong_is_said_before_any_work(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    status, _, err = run("report", "-", capfd=capfd)
    assert (status, "use -o OUT" in err) == (2, True)
    status, _, err = run("report", place / "nothing", capfd=capfd)
    assert (status, "no such model" in err) == (1, True)
    monkeypatch.setattr("stategram.explore.pages.rendering.find_spec", lambda name: None)
    status, _, err = run("report", place / "model", capfd=capfd)
    assert status == 1
    assert err == (
        "stategram: error: a report needs altair, jinja2, vl_convert, not installed: "
        'pip install "stategram[report]"\n'
    )
    assert not (place / "nothing.html").exists()


def test_only_a_report_is_replaced_unasked(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    mine = place / "model.html"
    mine.write_text("<p>years of work")
    status, _, err = run("report", place / "model", capfd=capfd)
    assert status == 2
    assert "not a report of stategram; use -o OUT" in " ".join(err.split())
    assert mine.read_text() == "<p>years of work"
    assert run("report", place / "model", "-o", mine, capfd=capfd)[0] == 0
    assert run("report", place / "model", capfd=capfd)[0] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are UTF-8 there")
def test_names_that_are_not_utf8(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text, model = (place / os.fsdecode(name) for name in (b"text \xe9", b"model \xe9"))
    text.write_bytes((place / "text").read_bytes())
    assert run("train", text, "-o", model, capfd=capfd)[0] == 0
    status, _, err = run("report", model, "--test", text, capfd=capfd)
    assert status == 0, err
    page = (place / os.fsdecode(b"model \xe9.html")).read_text(encoding="utf-8")
    assert "model \N{REPLACEMENT CHARACTER}" in page
    assert page.count("text \N{REPLACEMENT CHARACTER}") >= 2
