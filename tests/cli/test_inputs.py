"""`stategram count --format srilm`, `train` on counts and `train --classes`: other inputs than text."""

from __future__ import annotations

import errno
import gzip
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import manifest_of, run
from stategram import (
    CategoryNgramModel,
    NgramModel,
    UsageError,
    open_model,
    read_classes,
    read_corpus,
    train_recipe,
)
from stategram.cli.reading import _beginning, _holds_counts
from stategram.recipes import CategoryNgramPart, Recipe
from story import write_texts


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_texts(tmp_path_factory.mktemp("texts"))


def content_of(model: Path) -> dict[str, Any]:
    manifest = manifest_of(model)
    return {name: value for name, value in manifest.items() if name not in ("inputs", "checksum")}


@pytest.mark.parametrize("smoothing", ["kneser-ney", "katz"])
def test_a_model_of_counts_is_that_of_the_text(
    texts: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], smoothing: str
) -> None:
    lines = (texts / "train").read_text().splitlines(keepends=True)
    (tmp_path / "a").write_text("".join(lines[:100]))
    (tmp_path / "b").write_text("".join(lines[100:]))
    for name in ("a", "b"):
        given = ("count", tmp_path / name, "--order", 4, "-o", tmp_path / f"{name}.gz")
        assert run(*given, capfd=capfd)[0] == 0
    merged = ("count", tmp_path / "a.gz", tmp_path / "b.gz", "--merge", "-o", tmp_path / "merged")
    assert run(*merged, capfd=capfd)[0] == 0
    whole = run("count", texts / "train", "--order", 4, "-o", "-", "-q", capfd=capfd)
    assert whole == (0, (tmp_path / "merged").read_text(), "")
    # Of a folder of counts, too; a table as the file is named.
    assert run("count", texts / "train", "--order", 4, "-o", tmp_path / "folder", capfd=capfd)[0] == 0
    assert run("count", tmp_path / "folder", "--order", 4, "-o", "-", "-q", capfd=capfd) == whole
    assert run("count", tmp_path / "folder", "--order", 2, "-o", tmp_path / "t.csv", capfd=capfd)[0] == 0
    assert (tmp_path / "t.csv").read_text().startswith("ngram,order,count\n")
    of_counts = ("train", tmp_path / "merged", "--smoothing", smoothing, "-q")
    of_text = ("train", texts / "train", "--smoothing", smoothing, "-q")
    for number, options in enumerate(
        (
            ["--order", 4],
            ["--order", 2, "--vocab", 12],
            ["--order", 3, "--min-count", "1 1 2", "--prune", 1e-4],
        )
    ):
        places = tmp_path / f"counted-{number}", tmp_path / f"read-{number}"
        assert run(*of_counts, *options, "-o", places[0], capfd=capfd) == (0, "", "")
        assert run(*of_text, *options, "-o", places[1], capfd=capfd) == (0, "", "")
        assert content_of(places[0]) == content_of(places[1])
    assert run(*of_counts, "-o", tmp_path / "all", capfd=capfd)[0] == 0
    assert open_model(tmp_path / "all").order == 4
    manifest = manifest_of(tmp_path / "all")
    assert manifest["inputs"][0]["use"] == "counts"


def test_options_that_counts_cannot_have(
    texts: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "counts").write_text("a\t1\nb\t-1\n")
    given = ("train", tmp_path / "counts", "-o", tmp_path / "model")
    for options, message in (
        (["--lowercase"], "--lowercase is for texts"),
        (["--memory", "1G"], "counts looks like a count file (n-gram, tab, count): leave it out"),
        ([texts / "held"], "held like a text; give files of one kind"),
    ):
        status, _, err = run(*given, *options, capfd=capfd)
        assert (status, message in " ".join(err.split())) == (2, True), err
    status, _, err = run(*given, capfd=capfd)
    assert status == 3
    assert f"{tmp_path / 'counts'}:2: the count '-1' is below 0" in err
    refused: list[tuple[list[object], str]] = [
        (["--merge", "--digits", "N", "-o", "-"], "--digits is for texts; leave it out with --merge"),
        (["--merge", "-o", tmp_path / "counts"], "is an input too"),
        (["--merge", "--format", "folder", "-o", tmp_path / "x"], "--merge makes one count file"),
        (["--format", "srilm", "-o", texts / "held"], "held already; --force"),
        (["-o", tmp_path / "model", "--format", "csv", "--shard-size", 5000], "--shard-size is for a folder"),
        (["-o", tmp_path / "model.gz", "--cluster", "local:2"], "--cluster is for a folder"),
        (["--vocab-file", texts / "held", "-o", texts / "held", "--format", "srilm"], "is an input too"),
    ]
    for arguments, message in refused:
        status, _, err = run("count", tmp_path / "counts", *arguments, capfd=capfd)
        assert (status, message in err) == (2, True), err
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--recipe", "fast", "--heldout", "held"],
            "give an n-gram model of words only",
        ),
        (["--classes", "classes"], "give an n-gram model of words only"),
        (["--heldout", "held"], None),
    ],
)
def test_counts_are_enough_for_n_grams_only(
    texts: Path, tmp_path: Path, options: list[str], message: str | None, capfd: pytest.CaptureFixture[str]
) -> None:
    counts = tmp_path / "counts"
    assert run("count", texts / "train", "--format", "srilm", "-o", counts, capfd=capfd)[0] == 0
    (tmp_path / "classes").write_text("the\t1\na\t2\n")
    files = {"held": texts / "held", "classes": tmp_path / "classes"}
    given = [files.get(one, one) for one in options]
    status, _, err = run("train", counts, "-o", tmp_path / "model", *given, capfd=capfd)
    assert (status, message is None or message in err) == (0 if message is None else 2, True), err


@pytest.mark.parametrize(
    ("lines", "is_counts"),
    [
        ("the cat\t3\nthe\t4\n", True),
        ("\ufeffthe\t4\r\n", True),
        ("ngram\torder\tcount\nthe\t1\t4\n", True),
        ("the\t4", True),
        ("the cat\t3\nthe dog\n", False),
        ("1\tthe\n2\tcat\n", False),
        ("the 4\n", False),
        ("\t4\n", False),
        ("", False),
    ],
)
def test_counts_are_told_from_texts(tmp_path: Path, lines: str, is_counts: bool) -> None:
    (tmp_path / "file").write_text(lines, encoding="utf-8", newline="")
    (tmp_path / "packed.gz").write_bytes(gzip.compress(lines.encode()))
    assert [_holds_counts(_beginning(str(tmp_path / name))) for name in ("file", "packed.gz")] == [
        is_counts
    ] * 2


def test_a_long_count_file_is_told_by_its_beginning(tmp_path: Path) -> None:
    (tmp_path / "long").write_text("".join(f"w{i}\t{i}\n" for i in range(20_000)) + "the end\n")
    assert _holds_counts(_beginning(str(tmp_path / "long")))


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_tables_of_counts_are_no_texts(
    texts: Path, tmp_path: Path, format: str, capfd: pytest.CaptureFixture[str]
) -> None:
    table, packed = tmp_path / f"counts.{format}", tmp_path / "packed.gz"
    assert run("count", texts / "train", "--order", 2, "-o", table, "-q", capfd=capfd)[0] == 0
    packed.write_bytes(gzip.compress(table.read_bytes()))
    for names in ([table], [texts / "train", table], [packed]):
        status, _, err = run("train", *names, "-o", tmp_path / "model", capfd=capfd)
        assert status == 2
        if format == "parquet" and names != [packed]:
            assert "no column 'text'; there are 'ngram', 'order', 'count'" in " ".join(err.split())
            continue
        assert f"{names[-1]} is a " in err
        assert "count again with --format srilm or tsv" in " ".join(err.split())
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("format", ["tsv", "csv", "jsonl", "json", "parquet"])
def test_class_files_are_no_texts(
    texts: Path, tmp_path: Path, format: str, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / f"classes.{format}"
    given = ("classes", texts / "train", "-k", 6, "--format", format, "-o", file, "-q")
    assert run(*given, capfd=capfd)[0] == 0
    status, _, err = run("train", texts / "train", file, "-o", tmp_path / "model", capfd=capfd)
    found = "no column 'text'; there are 'word'" if format == "parquet" else f"{file} is a"
    assert (status, found in err) == (2, True), err
    assert ("--classes" in err) is (format != "parquet")


def test_what_info_is_not_for(texts: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "classes.tsv").write_text("the\t1\na\t2\n")
    (tmp_path / "folder").mkdir()
    for name, options, status, message in (
        ("classes.tsv", ["--verify"], 2, "it has neither checksums nor probabilities to verify"),
        (
            "folder",
            ["--verify"],
            3,
            "a folder; expected a model file, an ARPA file, a class file, or a folder of counts",
        ),
        (
            "folder",
            [],
            3,
            "a folder; expected a model file, an ARPA file, a class file, or a folder of counts",
        ),
    ):
        found, _, err = run("info", tmp_path / name, *options, capfd=capfd)
        assert (found, message in " ".join(err.split())) == (status, True), err


def test_stdin_is_a_text_that_may_look_like_counts(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "stategram", "train", "-", "-o", str(tmp_path / "model"), "-q"]
    subprocess.run(command, input="the\t4\ncat\t4\n", text=True, check=True)
    assert "4" in open_model(tmp_path / "model")


def test_a_class_file_is_enough(texts: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    train = texts / "train"
    for format in ("tsv", "clustercat", "srilm", "brown", "json"):
        file, model = tmp_path / f"classes.{format}", tmp_path / f"model.{format}"
        assert run("classes", train, "-k", 6, "--format", format, "-o", file, "-q", capfd=capfd)[0] == 0
        status, _, err = run("train", train, "--classes", file, "-o", model, capfd=capfd)
        assert status == 0, err
        assert "100.0% of the text" in err
    found = open_model(tmp_path / "model.tsv", CategoryNgramModel)
    assert (found.order, found.n_categories) == (5, 6)
    lines = train.read_text().splitlines()
    expected = CategoryNgramModel.train(lines, read_classes(tmp_path / "classes.tsv"), 5)
    assert found.perplexity(lines) == pytest.approx(expected.perplexity(lines), rel=1e-12)
    tries = {manifest_of(model)["arrays"]["0/trie/records"] for model in tmp_path.glob("model.*")}
    assert len(tries) == 1
    inputs = manifest_of(tmp_path / "model.tsv")["inputs"]
    assert [one["use"] for one in inputs] == ["training", "classes"]
    given = ("train", train, "--classes", tmp_path / "classes.tsv", "-o", tmp_path / "other")
    status, _, err = run(*given, "--order", 2, "--smoothing", "absolute", capfd=capfd)
    assert open_model(tmp_path / "other").order == 2
    for options in (["--prune", 1e-8], ["--min-count", 2], ["--recipe", "fast"], ["--heldout", train]):
        assert run(*given, "--force", *options, capfd=capfd)[0] == 2


def test_classes_of_other_words_are_refused(
    texts: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "size").write_text("the\t1\na\t1\n")
    (tmp_path / "other").write_text("zebra\t1\n")
    given = ("train", texts / "train", "-o", tmp_path / "model")
    status, _, err = run(*given, "--classes", tmp_path / "other", capfd=capfd)
    assert status == 3
    assert "no word of the text has a class there" in err
    status, _, err = run(*given, "--classes", tmp_path / "size", capfd=capfd)
    assert status == 0
    assert "few words have classes" in err


def test_one_part_needs_no_heldout_text(
    texts: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.toml").write_text('[[part]]\nmodel = "ngram"\norder = 2\n')
    (tmp_path / "two.toml").write_text('[[part]]\nmodel = "ngram"\n[[part]]\nmodel = "ngram"\norder = 2\n')
    (tmp_path / "tree.toml").write_text('[[part]]\nmodel = "word-tree"\n')
    given = ("train", texts / "train", "-o", tmp_path / "model", "-q", "--recipe")
    assert run(*given, tmp_path / "one.toml", capfd=capfd)[0] == 0
    lines = (texts / "train").read_text().splitlines()
    model = open_model(tmp_path / "model", NgramModel)
    assert model.perplexity(lines) == NgramModel.train(lines, 2).perplexity(lines)
    for name in ("two", "tree"):
        status, _, err = run(*given, tmp_path / f"{name}.toml", "--force", capfd=capfd)
        assert status == 2
        assert "--heldout" in err
    recipe = Recipe(part=[CategoryNgramPart(classes=4, effort="fast")])
    assert isinstance(train_recipe(lines, None, recipe), CategoryNgramModel)
    with pytest.raises(UsageError, match="give a held-out text"):
        train_recipe(lines, None, "fast")


def test_a_vocabulary_size_has_no_bound(
    texts: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    given = ("train", texts / "train", "-o", tmp_path / "model", "--order", 1, "-q")
    assert run(*given, "--vocab", "9" * 20, capfd=capfd)[0] == 0
    assert read_corpus(texts / "train", vocabulary_size=10**20).n_unknown == 0


def test_a_full_disk_for_temporary_files_is_named(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("stategram.cli.count.counts_or_text", full)
    given = ("count", texts / "train", "-o", tmp_path / "counts.gz", "--tmp", tmp_path)
    status, _, err = run(*given, capfd=capfd)
    assert status == 1
    assert f"a temporary file in {tmp_path} (--tmp): No space left on device; free" in " ".join(err.split())
