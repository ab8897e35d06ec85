"""`stategram train --context`: a clustered model beside the n-gram model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from command_line import TRAIN, run
from stategram import ClusteredModel, Mixture, NgramModel, open_model
from stategram.cli.train import train
from stategram.clustering import ClusteringSettings
from stategram.recipes import ClusteredPart

HELDOUT = "the dog ran\na cat sat on 3 mats\n" * 3


@pytest.fixture
def texts(tmp_path: Path) -> tuple[Path, Path]:
    train, heldout = tmp_path / "train.txt", tmp_path / "heldout.txt"
    train.write_text(TRAIN * 3)
    heldout.write_text(HELDOUT)
    return train, heldout


@pytest.mark.parametrize(
    "options",
    [
        ["--context", "w-1"],
        ["--context", "w-2,w-1", "--states", "4", "--categories", "5", "--criterion", "leave-one-out"],
        ["--context", "w-2,w-1", "--flat", "--candidates", "0", "--preset", "paper"],
        ["--context", "w-1", "--max-sweeps", "2", "--context-min-count", "1", "--tolerance", "0.01"],
        ["--context", "g-2,w-1", "--context-classes", "3", "--tree-order", "g-2,w-1"],
        ["--context", "t-2,t-1", "--tags", "brill", "--order", "2", "--smoothing", "katz"],
        ["--context", "w-1", "--states", "auto"],
        ["--context", "w-1", "--states", "0.5 size", "--categories", ".3 size"],
    ],
)
def test_a_mixture_of_two(
    options: list[str], texts: tuple[Path, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    train, heldout = texts
    code, _, err = run("train", train, "--heldout", heldout, "-o", tmp_path / "m", *options, capfd=capfd)
    assert code == 0, err
    model = open_model(tmp_path / "m", Mixture)
    ngram, clustered = model.parts
    assert isinstance(ngram, NgramModel)
    assert isinstance(clustered, ClusteredModel)
    assert str(clustered.tree.definition) == options[1]
    assert ngram.order == (2 if "--order" in options else 3)
    assert abs(model.distribution("the cat").sum() - 1) < 1e-6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--states", "5"], "--states goes with --context; add that"),
        (["--flat"], "--flat goes with --context"),
        (["--context-min-count", "2"], "--context-min-count goes with --context"),
        (["--context", "w-1", "--recipe", "fast"], "give one of them"),
        (
            ["--context", "w-1", "--states", "none"],
            "'--states': states is 'none'; possible: a number",
        ),
        (["--context", "g-1", "--context-classes", "0"], "context_classes is 0; possible: a number"),
        (["--context", "w-1", "--states", "\u00b2"], "states is '\u00b2'; possible: a number"),
        (["--context", "x-1"], "expected for instance w-2,w-1"),
        (["--context", "t-1"], "error: --context t-1 has tags t: give --tags brill (English), or a file"),
        (["--context", "w-1", "--no-guess"], "no value of --context w-1 is a tag t; leave --no-guess out"),
        (["--context", "t-1", "--tags", "brill", "--no-guess"], "brill has its own rules"),
        (["--context", "t-1", "--tags", "BANK.conllu:foo"], "there is no column 'foo'"),
        (["--context", "w-1", "--checkpoint", "FULL"], "is not a training"),
        (["--context", ""], "the context '' is empty; expected for instance"),
        (["--context", "w-1", "--context", "g-2,g-1"], "--context is given 2 times; for several clustered"),
        (["--context", "w-1", "--heldout", "x"], "--heldout is given 2 times; give one file"),
        (
            ["--context", "w-1", "--context-classes", "c.tsv"],
            "--context-classes: the context w-1 has none; leave it",
        ),
        (["--context", "w-2,w-1", "--flat", "--tree-order", "w-2,w-1"], "--tree-order: there is no tree"),
        (["--context", "w-1", "--tags", "brill"], "--tags: the context w-1 has none; leave it out"),
    ],
)
def test_what_makes_no_sense(
    options: list[str],
    message: str,
    texts: tuple[Path, Path],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    train, heldout = texts
    (tmp_path / "FULL").mkdir()
    (tmp_path / "FULL" / "thesis.tex").touch()
    (tmp_path / "BANK.conllu").touch()
    options = [str(tmp_path / one) if one.split(".")[0].isupper() else one for one in options]
    code, _, err = run("train", train, "--heldout", heldout, "-o", tmp_path / "m", *options, capfd=capfd)
    assert code == 2
    assert "reading" not in err
    assert message in " ".join(err.split())
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("options", "data", "message"),
    [
        (["--context", "t-1", "--tags"], "the\n", "stategram: error: FILE:1: found 1 column, 'the'"),
        (["--context", "t-1", "--tags"], "the\tD\0T\n", "a NUL byte"),
        (["--context", "g-1", "--context-classes"], "the\n", "FILE:1: found 1 column, 'the'"),
        (["--context", "g-1", "--context-classes"], None, "stategram: error: FILE: no such file"),
    ],
)
def test_files_are_looked_into_before_the_text_is_read(
    options: list[str],
    data: str | None,
    message: str,
    texts: tuple[Path, Path],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "given"
    if data is not None:
        file.write_text(data)
    given = ["--heldout", texts[1], "-o", tmp_path / "m", *options, file]
    code, _, err = run("train", texts[0], *given, capfd=capfd)
    assert code == (1 if data is None else 3)
    assert message in err.replace(str(file), "FILE")
    assert "reading" not in err


def test_the_numbers_that_were_tried_are_said(
    texts: tuple[Path, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    options = ["--heldout", texts[1], "-o", tmp_path / "m", "--context", "w-1", "--states", "auto"]
    err = run("train", texts[0], *options, capfd=capfd)[2]
    found = re.search(r"(\d+) states, \d+ categories; numbers tried, .*: .*5: [\d.]+, .*10: [\d.]+", err)
    assert found is not None
    clustered = open_model(tmp_path / "m", Mixture).parts[1]
    assert isinstance(clustered, ClusteredModel)
    assert clustered.n_states == int(found[1])


def test_numbers_that_are_not_possible_are_said(
    texts: tuple[Path, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    options = ["--heldout", texts[1], "-o", tmp_path / "m", "--context", "w-1", "--force"]
    for states, categories, message in (
        (1000, 4, "note: only 5 of 1,000 states are possible: half of the contexts"),
        (4, 1000, "note: only 5 of 1,000 categories are possible: half of the different words"),
        (4, 4, ""),
    ):
        numbers = ["--states", states, "--categories", categories]
        err = run("train", texts[0], *options, *numbers, capfd=capfd)[2]
        assert message in err
        assert ("are possible" in err) == bool(message)


def test_how_far_tags_fit_is_said(
    texts: tuple[Path, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    tags = tmp_path / "tags.tsv"
    options = ["--heldout", texts[1], "-o", tmp_path / "m", "--context", "t-1", "--tags", tags, "--force"]
    for data, code, message, is_low in (
        ("zzzqqq\tNN\n", 3, "none of the 9 words", False),
        ("sat\tVB\n", 0, "1 of 9 words found, 13.3% of the text", True),
        ("the\tDT\na\tDT\ncat\tNN\ndog\tNN\n", 0, "4 of 9 words found, 53.3% of the text", False),
    ):
        tags.write_text(data)
        found, _, err = run("train", texts[0], *options, capfd=capfd)
        assert found == code, err
        assert message in " ".join(err.split())
        assert ("note: few" in err) == is_low


def test_a_context_needs_held_out_text(
    texts: tuple[Path, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run("train", texts[0], "-o", tmp_path / "m", "--context", "w-1", capfd=capfd)
    assert code == 2
    assert "give --heldout FILE" in err


def test_settings_of_a_clustering_are_keys_of_recipes_and_options() -> None:
    settings = set(ClusteringSettings.__struct_fields__) - {"seed"}  # that of the training
    assert settings <= set(ClusteredPart.keys())
    options = {parameter.name for parameter in train.params}
    assert settings - options == {"tree", "flat_start", "min_word_count", "free_states"}
    assert {"flat", "context_min_count"} <= options  # --min-count is that of n-grams
