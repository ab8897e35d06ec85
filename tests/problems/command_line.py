"""Runs the command line as a user does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stategram import NgramModel, write_arpa
from stategram.cli import main
from stategram.storage import open_archive, write_archive
from stategram.text import TextFormat

TRAIN = "the cat sat\nthe dog sat on 3 mats\na cat ran\na dog ran\n" * 5
TEST = "The cat ran on 12 mats\n\n  \na zebra sat\n"
WITHOUT_UNKNOWN = b"\\data\\\nngram 1=3\n\n\\1-grams:\n-99\t<s>\n-0.30103\t</s>\n-0.30103\tcat\n\n\\end\\\n"


def run(*arguments: object, capfd: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr."""
    with pytest.raises(SystemExit) as end:
        main([str(a) for a in arguments])
    out, err = capfd.readouterr()
    assert isinstance(end.value.code, int)
    return end.value.code, out, err


def check_error(
    place: Path, arguments: Sequence[object], status: int, message: str, *, capfd: pytest.CaptureFixture[str]
) -> str:
    """Run a command that must be refused without touching the files of a folder; return its stderr.

    Arguments in upper case are names of files there.
    """
    given = list(map(str, arguments))
    is_file = [one[:1].isalpha() and one.split("/")[0].split(".")[0].isupper() for one in given]
    placed = [str(place / one) if here else one for one, here in zip(given, is_file, strict=True)]
    before = {file: file.read_bytes() if file.is_file() else b"" for file in place.rglob("*")}
    found, out, err = run(*placed, capfd=capfd)
    assert found == status, err
    assert message in " ".join(err.split())
    assert (out, "Traceback" in err) == ("", False)
    assert {file: file.read_bytes() if file.is_file() else b"" for file in place.rglob("*")} == before
    return err


def make_models(place: Path) -> Path:
    """Make a folder with a model that was trained on lower case, its ARPA file, a corpus, and TEST."""
    (place / "TEST").write_text(TEST)
    sentences = TRAIN.replace("3", "N").splitlines()
    model = NgramModel.train(sentences, order=3)
    replace(model, training_format=TextFormat(lowercase=True, digits="N")).save(place / "model")
    write_arpa(model, place / "model.arpa.gz")
    write_archive(place / "other", kind="clustering checkpoint")
    return place


def manifest_of(model: Path) -> dict[str, Any]:
    """Return the manifest of a model file."""
    return dict(open_archive(model, kind="model", verify=False).manifest)
