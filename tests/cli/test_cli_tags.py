"""The command tags."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from command_line import run

TEXT = "The cats sat on the mat .\nthe cats zorbly qqq\n"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


def test_tags_go_to_stdout_and_the_table_to_stderr(text: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, err = run("tags", text, capfd=capfd)
    assert status == 0
    assert out.splitlines()[:3] == ["word\ttag\tcount", "cats\tNNS\t2", "the\tDT\t2"]
    assert dict(line.split("\t")[:2] for line in out.splitlines()[1:]) == {
        "cats": "NNS",
        "the": "DT",
        ".": ".",
        "The": "DT",
        "mat": "NN",
        "on": "IN",
        "qqq": "NN",
        "sat": "VBD",
        "zorbly": "RB",
    }
    lines = [line.split() for line in err.splitlines()]
    assert ["tag", "words", "tokens", "fraction", "most", "frequent", "words"] in lines
    assert ["DT", "2", "3", "27.27%", "the", "The"] in lines
    assert "from the lexicon or file: 7 words (77.78%), 9 tokens (81.82%)" in err
    assert "by a rule: 1 word (11.11%), 1 token (9.09%)" in err
    assert "by default: 1 word (11.11%), 1 token (9.09%)" in err


def test_the_output_can_be_given_back(text: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    saved = tmp_path / "tags.tsv.gz"
    status, out, err = run("tags", text, "-o", saved, "-q", capfd=capfd)
    assert (status, out, err) == (0, "", "")
    assert gzip.decompress(saved.read_bytes()).count(b"\n") == 1 + 9
    status, out, err = run("tags", text, "--tags", saved, capfd=capfd)
    assert status == 0
    assert out.encode() == gzip.decompress(saved.read_bytes())
    assert "by a rule: 0 words" in err


@pytest.mark.parametrize("name", ["tags.csv", "tags.jsonl", "tags.parquet", "tags.tsv"])
def test_tables_of_every_format_can_be_given_back(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text, saved = tmp_path / "text", tmp_path / name
    text.write_text('" NA \\ 7 7 a,b\n')
    assert run("tags", text, "-o", saved, "-q", capfd=capfd)[0] == 0
    plain = run("tags", text, "--format", "plain", "-q", capfd=capfd)[1]
    assert plain.splitlines()[0].startswith("7\t")
    assert run("tags", text, "--tags", saved, "--format", "plain", "-q", capfd=capfd)[1] == plain


def test_a_tag_may_look_like_a_missing_value(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text("one two\n")
    (tmp_path / "tags").write_text("one\tNA\ntwo\t7\n")
    given = ("tags", tmp_path / "text", "--tags")
    assert run(*given, tmp_path / "tags", "-o", tmp_path / "saved.tsv", "-q", capfd=capfd)[0] == 0
    out = run(*given, tmp_path / "saved.tsv", "--format", "plain", "-q", capfd=capfd)[1]
    assert [line.split("\t")[:2] for line in out.splitlines()] == [["one", "NA"], ["two", "7"]]


def test_nothing_is_guessed_if_not_wanted(
    text: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tags").write_text("blorbly\tRB\nhorbly\tRB\nsorbly\tRB\nTHE\tDT\n")
    for options, tag in (([], "RB"), (["--no-guess"], "UNK-TAG")):
        status, out, _ = run("tags", text, "--tags", tmp_path / "tags", *options, capfd=capfd)
        assert status == 0
        assert f"zorbly\t{tag}\t1\n" in out
        assert "the\tDT\t2\n" in out


def test_text_options_choose_the_words(text: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = ("tags", text, "--lowercase", "--vocab", 2, "--format", "plain")
    status, out, _ = run(*given, capfd=capfd)
    assert status == 0
    assert out == "the\tDT\t3\ncats\tNNS\t2\n"


def test_long_words_are_cut_in_the_table_alone(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "long.txt"
    path.write_text("a" * 30 + "\n")
    _, out, err = run("tags", path, capfd=capfd)
    assert out.splitlines()[1].startswith("a" * 30 + "\t")
    assert " " + "a" * 19 + "…" in err


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--tags", "no.tsv"], 1, "no such file"),
        (["--tags", "no.conllu:xpos"], 1, "no.conllu: no such file"),
        (["--tags", "BANK:pos"], 2, "there is no column 'pos'"),
        (["--tags", ""], 2, "no source of tags"),
        (["--tags", "LIST"], 3, "LIST:1: found 1 column"),
        (["-o", "TEXT"], 2, "is an input too"),
        (["--tags", "-", "--vocab-file", "-"], 2, "stdin (-) can be read only once"),
        (["--vocab", "5", "--vocab-file", "TEXT"], 2, "both choose the words"),
        (["-q", "-v"], 2, "contradict each other"),
        (["-o", "none/out.tsv"], 1, "there is no folder"),
    ],
)
def test_what_cannot_be_done_is_said(
    arguments: list[str],
    status: int,
    message: str,
    text: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "LIST").write_text("alone\n")
    (tmp_path / "b.conllu").write_text("")
    given = [a.replace("BANK", "b.conllu").replace("TEXT", "text.txt") for a in arguments]
    found, out, err = run("tags", text.name, *given, capfd=capfd)
    assert (found, out) == (status, "")
    assert message in err
