"""`stategram train --context`: a clustered model beside the n-gram model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from command_line import TRAIN, check_error, run
from stategram import ClusteredModel, Mixture, NgramModel, open_model
from stategram.clustering import ClusteringSettings
from stategram.recipes import ClusteredPart

HELDOUT = "the dog ran\na cat sat on 3 mats\n" * 3


@pytest.fixture
def texts(tmp_path: Path) -> tuple[Path, Path]:
    train, heldout = tmp_path / "train.txt", tmp_path / "heldout.txt"
    train.write_text(TRAIN * 3)
    heldout.write_text(HELDOUT)
    return train, heldout


def _recipe(place: Path, keys: str) -> Path:
    """Write the recipe of an n-gram model and a clustered model with these keys."""
    file = place / "mine.toml"
    file.write_text(f'[[part]]\nmodel = "ngram"\n[[part]]\nmodel = "clustered"\n{keys}')
    return file


@pytest.mark.parametrize(
    "options",
    [
        ["--context", "w-1"],
        ["--context", "t-2,t-1", "--tags", "brill", "--order", "2", "--smoothing", "katz"],
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
    ("keys", "expected"),
    [
        (
            'context = "w-2,w-1"\nstates = 4\ncategories = 5\ncriterion = "leave-one-out"',
            {"states": 4, "categories": 5, "criterion": "leave-one-out"},
        ),
        (
            'context = "w-2,w-1"\ntree = false\ncandidates = 0\neffort = "paper"',
            {"tree": False, "candidates": 0, "effort": "paper", "max_sweeps": 50},
        ),
        ('context = "w-1"\nmax_sweeps = 2\nmin_count = 1', {"max_sweeps": 2, "min_count": 1}),
        (
            'context = "g-2,w-1"\ncontext_classes = 3\ntree_order = "g-2,w-1"',
            {"context_classes": 3, "tree_order": "g-2,w-1", "class_effort": "normal"},
        ),
        ('context = "w-1"\nstates = "0.5 size"\ncategories = ".3 size"', {}),
    ],
)
def test_settings_of_a_recipe(
    keys: str,
    expected: dict[str, object],
    texts: tuple[Path, Path],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    given = ["--heldout", texts[1], "-o", tmp_path / "m", "--recipe", _recipe(tmp_path, keys)]
    code, _, err = run("train", texts[0], *given, capfd=capfd)
    assert code == 0, err
    clustered = open_model(tmp_path / "m", Mixture).parts[1]
    assert isinstance(clustered, ClusteredModel)
    assert expected.items() <= clustered.metadata.items()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--context", "w-1", "--recipe", "fast"], "--context and --recipe both choose what to train"),
        (["--context", "x-1"], "expected for instance w-2,w-1"),
        (["--context", "t-1"], "part 2 has tags in its context, but does not say which"),
        (["--context", "t-1", "--tags", "BANK.conllu:foo"], "there is no column 'foo'"),
        (["--context", "w-1", "--checkpoint", "FULL"], "is not a training"),
        (["--context", ""], "the context '' is empty; expected for instance"),
        (["--context", "w-1", "--context", "g-2,g-1"], "--context is given 2 times; give it once"),
        (["--context", "w-1", "--heldout", "x"], "--heldout is given 2 times; give it once"),
        (["--context", "w-1", "--tags", "brill"], "recipe w-1 has no context that needs --tags; remove it"),
    ],
)
def test_what_makes_no_sense(
    options: list[str],
    message: str,
    texts: tuple[Path, Path],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "FULL").mkdir()
    (tmp_path / "FULL" / "thesis.tex").touch()
    (tmp_path / "BANK.conllu").touch()
    given = ["train", texts[0], "--heldout", texts[1], "-o", "OUT", *options]
    assert "reading" not in check_error(tmp_path, given, 2, message, capfd=capfd)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ('context = "g-1"\ncontext_classes = 0', "context_classes is 0; possible: a number"),
        ('context = "w-1"\nstates = "\u00b2"', "states is '\u00b2'; possible: a number"),
        ('context = "w-1"\ncontext_classes = 5', "context_classes: the context w-1 has none; leave it"),
        ('context = "w-2,w-1"\ntree = false\ntree_order = "w-2,w-1"', "tree_order: there is no tree"),
        ('context = "w-1"\ntags = "brill"', "tags: the context w-1 has none; leave it out"),
        ('context = "g-1"\ncontext_classes = "FILE"', "FILE:1: found 1 column, 'the'"),
        ('context = "g-1"\ncontext_classes = "NONE"', "context_classes: there is no file"),
    ],
)
def test_recipes_are_checked_before_the_text_is_read(
    keys: str,
    message: str,
    texts: tuple[Path, Path],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "FILE").write_text("the\n")
    keys = keys.replace("FILE", str(tmp_path / "FILE")).replace("NONE", str(tmp_path / "NONE"))
    recipe = _recipe(tmp_path, keys)
    given = ["train", texts[0], "--heldout", texts[1], "-o", "OUT", "--recipe", recipe]
    assert "reading" not in check_error(tmp_path, given, 3, message, capfd=capfd)


@pytest.mark.parametrize(
    ("options", "data", "message"),
    [
        (["--context", "t-1", "--tags"], "the\n", "stategram: error: FILE:1: found 1 column, 'the'"),
        (["--context", "t-1", "--tags"], "the\tD\0T\n", "a NUL byte"),
        (["--context", "t-1", "--tags"], None, "stategram: error: FILE: no such file"),
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
    recipe = _recipe(tmp_path, 'context = "w-1"\nstates = "auto"')
    options = ["--heldout", texts[1], "-o", tmp_path / "m", "--recipe", recipe]
    err = run("train", texts[0], *options, capfd=capfd)[2]
    found = re.search(r"(\d+) states, \d+ categories; numbers tried, .*: .*5: [\d.]+, .*10: [\d.]+", err)
    assert found is not None
    clustered = open_model(tmp_path / "m", Mixture).parts[1]
    assert isinstance(clustered, ClusteredModel)
    assert clustered.n_states == int(found[1])


def test_numbers_that_are_not_possible_are_said(
    texts: tuple[Path, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    options = ["--heldout", texts[1], "-o", tmp_path / "m", "--force", "--recipe"]
    for states, categories, message in (
        (1000, 4, "note: only 5 of 1,000 states are possible: half of the contexts"),
        (4, 1000, "note: only 5 of 1,000 categories are possible: half of the different words"),
        (4, 4, ""),
    ):
        recipe = _recipe(tmp_path, f'context = "w-1"\nstates = {states}\ncategories = {categories}')
        err = run("train", texts[0], *options, recipe, capfd=capfd)[2]
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


def test_settings_of_a_clustering_are_keys_of_recipes() -> None:
    settings = set(ClusteringSettings.__struct_fields__) - {"seed"}  # that of the training
    assert settings <= set(ClusteredPart.keys())
