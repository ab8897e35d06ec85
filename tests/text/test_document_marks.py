"""Lines that start documents, found by a regular expression of a stranger."""

from dataclasses import replace
from pathlib import Path

import pytest

from command_line import run
from stategram import NgramModel, TextFormat, read_corpus
from stategram.errors import BadDataError, UsageError


def test_a_mark_that_takes_forever_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    slow = TextFormat(document_mark="(a|aa)+$")
    (tmp_path / "text").write_text("= b =\n" + "a" * 41 + "!\n")
    with pytest.raises(BadDataError, match=r"the document mark .* takes more than 2 seconds for the"):
        read_corpus(tmp_path / "text", slow)
    model = NgramModel.train(["the cat"], order=1)
    replace(model, training_format=slow).save(tmp_path / "model")
    code, _, err = run("eval", tmp_path / "model", tmp_path / "text", capfd=capfd)
    assert code == 3
    assert "choose another one with --document-mark" in " ".join(err.split())
    code, _, err = run("score", tmp_path / "model", tmp_path / "text", "--document-mark", "^= ", capfd=capfd)
    assert code == 0, err


def test_marks_are_those_of_re(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("= One =\na b\n= = Not\n  = Two =\nc\n")
    marked = read_corpus(tmp_path / "text", {"document_mark": r"^\s*= [^=]"})
    assert marked.document_starts.tolist() == [0, 3]
    with pytest.raises(UsageError, match="invalid regular expression"):
        TextFormat(document_mark="(a")
