"""Which texts a reproduction refuses, before any row is made."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from stategram import BadDataError, UsageError, corpus_from_sentences, reproduce
from story import sentences, write_texts


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_texts(tmp_path_factory.mktemp("texts"))


def test_texts_that_cannot_be_used_are_refused(place: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n \n")
    (tmp_path / "copy").write_bytes((place / "train").read_bytes())
    (tmp_path / "foreign").write_text("der hund\n")
    (tmp_path / "latin").write_bytes(b"caf\xe9\n")
    train, held, test = (place / name for name in ("train", "held", "test"))
    cases: list[tuple[tuple[Any, Any, Any], type[Exception], str]] = [
        ((tmp_path / "empty", held, test), BadDataError, "no words in .*empty"),
        ((train, tmp_path / "empty", test), BadDataError, "no words in .*empty"),
        ((train, held, tmp_path / "foreign"), BadDataError, "test text: .*no word of"),
        ((train, held, tmp_path / "copy"), UsageError, "training text is in the test text"),
        ((train, held, held), UsageError, "held-out text is in the test text"),
        ((tmp_path / "latin", held, test), BadDataError, "latin"),
        ((train, held, tmp_path / "nothing"), BadDataError, "nothing: no such file"),
        (("-", held, test), UsageError, "- is no file"),
        ((train, held, tmp_path), UsageError, "is no file"),
        (([], held, test), UsageError, "no file is named"),
    ]
    for texts, error, message in cases:
        with pytest.raises(error, match=message):
            reproduce(*texts, tmp_path / "out")
        assert not (tmp_path / "out").exists()


def test_corpora_without_words_are_refused(tmp_path: Path) -> None:
    none = corpus_from_sentences([])
    some = corpus_from_sentences(["a b"])
    for texts, name in (((none, some, some), "training"), ((some, none, some), "held-out")):
        with pytest.raises(BadDataError, match=f"{name} text: it has no words"):
            reproduce(*texts, tmp_path / "out")


def test_a_text_that_is_a_piece_of_another_is_refused(place: Path, tmp_path: Path) -> None:
    lines = (place / "train").read_text().splitlines(keepends=True)
    (tmp_path / "piece").write_text("".join(lines[100:150]))
    (tmp_path / "packed.gz").write_bytes(gzip.compress((place / "train").read_bytes()))
    (tmp_path / "more").write_text((place / "held").read_text() + "".join(sentences(1, seed=9)))
    train, held, test = (place / name for name in ("train", "held", "test"))
    cases = [
        ((train, tmp_path / "piece", test), "held-out text is in the training text"),
        ((train, held, tmp_path / "piece"), "test text is in the training text"),
        ((train, held, tmp_path / "packed.gz"), "is in the"),
        ((train, tmp_path / "more", held), "test text is in the held-out text"),
        ((train, held, tmp_path / "more"), "held-out text is in the test text"),
        ((tmp_path / "piece", held, train), "training text is in the test text"),
    ]
    for texts, message in cases:
        with pytest.raises(UsageError, match=message):
            reproduce(*texts, tmp_path / "out")
        assert not (tmp_path / "out").exists()
