"""The demo, whole, and how it chooses the classes it shows."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from stategram import NgramModel, WordTreeModel, corpus_from_sentences, evaluate, open_model
from stategram.cli import main
from stategram.text import TextFormat
from stategram.text.sotu import SotuCorpus, load_sotu

demo = import_module("stategram.cli.demo")


def _run(*arguments: str, capfd: pytest.CaptureFixture[str]) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as end:
        main(["demo", *arguments])
    return end.value.code, *capfd.readouterr()


def test_the_demo_shows_classes_and_perplexities_and_writes_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = _run(capfd=capfd)
    assert status == 0
    assert len(re.findall(r"^ +\d+  \S+ \S+ \S+", out, re.MULTILINE)) == 12
    rows = re.findall(r"^  (class bigram|5-gram model|word tree model)\b.*?  +([\d.]+)", out, re.MULTILINE)
    figures = {name: float(perplexity) for name, perplexity in rows}
    # Half the perplexity of a unigram model, and not that of a text it has seen.
    assert 130 < figures["class bigram"] < 200
    assert 50 < figures["word tree model"] < 0.85 * figures["5-gram model"] < 0.85 * 110
    gain = re.search(r"  word tree model .* ([+-][\d.]+)% \(", out)
    assert gain is not None
    relative = figures["word tree model"] / figures["5-gram model"] - 1
    assert float(gain[1]) == pytest.approx(100 * relative, abs=0.1)  # of figures with two digits
    assert "1,272 unknown words left out" in out
    assert "  stategram explore demo-model\n" in out
    assert "stategram classes text.txt -k 500" in out
    assert "[5/5] writing demo-model" in err
    assert "note: the text has only 22 documents: the confidence intervals are unreliable" in err

    # The same figure again, from the file: the unknown words are those left out.
    model = open_model("demo-model", WordTreeModel)
    test = corpus_from_sentences(load_sotu().test, vocabulary=model.vocabulary)
    assert evaluate(model, test).perplexity_known == pytest.approx(figures["word tree model"], abs=0.005)
    # Raw text is read as the addresses were.
    assert model.text_format == TextFormat(lowercase=True, tokenize="prose")
    assert [one.name for one in tmp_path.iterdir()] == ["demo-model"]


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the addresses few."""
    text = SotuCorpus(*(["the state of the union is strong", f"the {year} was good"] * 9 for year in "abc"))
    monkeypatch.setattr(demo, "load_sotu", lambda: text)


@pytest.mark.usefixtures("short")
def test_only_a_model_of_the_demo_is_replaced_without_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    NgramModel.train(["a b"], 2).save("other")
    Path("folder").mkdir()
    Path("folder", "thesis.tex").write_text("mine")
    Path("file").write_text("mine")
    status, _, err = _run("-o", "other", capfd=capfd)
    assert (status, "there is a file other already; --force replaces it" in err) == (2, True)
    for name in ("folder", "file"):
        for force in ([], ["--force"]):
            status, _, err = _run("-o", name, *force, capfd=capfd)
            expected = "it is a folder" if name == "folder" else "file exists and is not a file of stategram"
            assert (status, expected in err) == (1, True)
    assert Path("folder", "thesis.tex").read_text() == Path("file").read_text() == "mine"
    open_model("other", NgramModel)

    assert _run("-o", "other", "--force", capfd=capfd)[0] == 0
    before = Path("other").read_bytes()
    assert _run("-o", "other", "--seed", "1", capfd=capfd)[0] == 0
    assert before != Path("other").read_bytes()
    assert open_model("other", WordTreeModel).metadata["seed"] == 1


@pytest.fixture
def handler() -> Iterator[None]:
    """Restore what an interrupted command leaves: it ignores further Ctrl-C, and so would all processes."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("short", "handler")
@pytest.mark.parametrize("step", ["train_recipe", "compare", "_save"])
def test_an_interrupted_demo_leaves_the_model_as_it_was(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(demo, step, interrupt)
        status, out, err = _run(capfd=capfd)
        assert (status, out, "interrupted" in err) == (130, "", True)
        assert not list(tmp_path.iterdir())
    assert _run(capfd=capfd)[0] == 0
    before = Path("demo-model").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(demo, step, interrupt)
        assert _run("--seed", "1", capfd=capfd)[0] == 130
    assert Path("demo-model").read_bytes() == before
