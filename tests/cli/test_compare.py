"""`stategram eval`: confidence intervals, and models side by side."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from command_line import run
from stategram import Mixture, NgramModel, compare, open_model
from story import sentences


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("models")
    text = sentences(300, seed=1)
    models = [NgramModel.train(text, order) for order in (1, 2, 3)]
    for order, model in enumerate(models, 1):
        model.save(place / f"n{order}")
    NgramModel.train(["peter sees a dog", "the dog sees maria"], 2).save(place / "small")
    Mixture.fit(models, sentences(90, seed=2)).save(place / "mixture")
    (place / "test").write_text("\n".join(sentences(200, seed=3)))
    (place / "documents").write_text("\n\n".join("\n".join(sentences(3, seed=n)) for n in range(22)))
    (place / "few").write_text("\n".join(sentences(7, seed=4)))
    return place


def test_eval_has_intervals(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, err = run("eval", made / "mixture", made / "test", capfd=capfd)
    assert status == 0
    assert len(re.findall(r" [\d.]+ \(95%: [\d.]+ to [\d.]+\)", out)) == 2
    assert re.search(r"^Against the best part +[+-][\d.]+% \(\S+% to \S+%", out, re.MULTILINE)
    assert out.count(" to ") == 8  # two perplexities, a difference, three parts of which two have differences
    assert "paired bootstrap over 200 sentences" in out
    assert "unreliable" not in err
    found = json.loads(run("eval", made / "mixture", made / "test", "--json", capfd=capfd)[1])
    assert found["interval"]["low"] < found["perplexity"] < found["interval"]["high"]
    assert set(found["difference"]) == {"relative", "low", "high", "decided"}
    assert found["resampling"] == {"unit": "sentence", "units": 200, "resamples": 2000, "level": 0.95}
    assert [part["difference"] is None for part in found["parts"]].count(True) == 1


@pytest.mark.parametrize(("name", "units"), [("few", "7 sentences"), ("documents", "22 documents")])
@pytest.mark.parametrize("others", [(), ("--compare", "n2")])
def test_few_units_have_a_note(
    name: str, units: str, others: tuple[str, ...], made: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    options = [made / one if one == "n2" else one for one in others]
    status, out, err = run("eval", made / "n3", made / name, *options, capfd=capfd)
    assert status == 0
    assert f"paired bootstrap over {units}, too few to be reliable\n" in out
    assert f"note: the text has only {units}: the confidence intervals are unreliable" in err


def test_models_side_by_side(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    names = [str(made / name) for name in ("n2", "n1", "n3")]
    given = ("eval", names[0], made / "test", "--compare", names[1], "--compare", names[2])
    status, out, _ = run(*given, capfd=capfd)
    assert status == 0
    first, second, _ = out.splitlines()[-3:]
    assert first.startswith(names[0])
    assert re.search(r" \+[\d.]+% \(\+[\d.]+% to \+[\d.]+%\)$", second)
    found = json.loads(run(*given, "--json", capfd=capfd)[1])
    expected = compare({name: open_model(name) for name in names}, (made / "test").read_text().splitlines())
    assert [one["name"] for one in found["models"]] == names
    assert found["models"][1]["difference"]["low"] == expected.models[1].difference.low  # type: ignore[union-attr]
    assert found["models"][1]["difference"]["decided"]


def test_what_is_not_decided_is_named(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = ("eval", made / "n2", made / "few", "--compare", made / "n3")
    out = run(*given, capfd=capfd)[1]
    difference = json.loads(run(*given, "--json", capfd=capfd)[1])["models"][1]["difference"]
    assert difference["low"] < 0 < difference["high"]
    assert not difference["decided"]
    assert "%, not decided" in out


def test_other_vocabularies_have_a_note(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = ("eval", made / "n2", made / "test", "--compare", made / "small", "-q")
    status, out, err = run(*given, capfd=capfd)
    assert (status, err) == (0, "")
    (shown,) = re.findall(r"^Events left out +([\d,]+) out-of-vocabulary, unknown to at least one", out, re.M)
    assert "Known words only" in out
    found = json.loads(run(*given, "--json", capfd=capfd)[1])
    assert found["left_out"] == int(shown.replace(",", "")) > 0
    assert found["models"][1]["difference_known"] == found["models"][1]["difference"]


def test_known_words_are_compared_too(made: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "test").write_text((made / "test").read_text().replace("peter", "joanna"))
    given = ("eval", made / "n2", tmp_path / "test", "--compare", made / "n3", "-q")
    _, out, _ = run(*given, capfd=capfd)
    assert out.index("All events") < out.index("Known words only")
    found = json.loads(run(*given, "--json", capfd=capfd)[1])
    assert found["known"] < found["events"]
    figures = json.loads(run("eval", made / "n3", tmp_path / "test", "--json", capfd=capfd)[1])
    second = found["models"][1]
    for name in ("perplexity", "perplexity_known"):
        assert second[name] == pytest.approx(figures[name])
    assert second["interval_known"] == figures["interval_known"]


@pytest.mark.parametrize(
    ("given", "status", "message"),
    [
        (["n2", "test", "--compare", "n2"], 2, "given twice"),
        (["n2", "-", "--compare", "n3"], 2, "give a file"),
        (["n2", "test", "--compare", "nothing"], 1, "no such file"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    made: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    given: list[str],
    status: int,
    message: str,
) -> None:
    monkeypatch.chdir(made)
    found = run("eval", *given, capfd=capfd)
    assert found[0] == status
    assert message in found[2]
