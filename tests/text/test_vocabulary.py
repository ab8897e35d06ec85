"""Vocabulary: ids, files and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from stategram.errors import BadDataError
from stategram.storage import atomic_write
from stategram.text import Vocabulary, corpus_from_sentences


def test_ids_and_words() -> None:
    vocabulary = Vocabulary.from_words(["b", "<unk>", "é", "a"])
    assert len(vocabulary) == 6
    assert [vocabulary.id(word) for word in ("b", "é", "a", "x", "<s>")] == [3, 4, 5, 0, 1]
    assert [vocabulary.word(id) for id in range(6)] == list(vocabulary.words)
    assert "é" in vocabulary
    assert "x" not in vocabulary
    for id in (-1, 6):
        with pytest.raises(IndexError, match=r"ids are 0\.\.5"):
            vocabulary.word(id)


@pytest.mark.parametrize("words", [["a", "a"], ["a b"], [""], ["a\0"], ["\ud800"]])
def test_bad_words(words: list[str]) -> None:
    with pytest.raises(BadDataError):
        Vocabulary.from_words(words)


def test_equal_when_words_are() -> None:
    built = corpus_from_sentences(["a b a"]).vocabulary
    assert built == Vocabulary.from_words(["a", "b"])
    assert hash(built) == hash(Vocabulary.from_words(["a", "b"]))
    assert built != Vocabulary.from_words(["b", "a"])
    assert built != Vocabulary.from_words(["ab"])


@pytest.mark.parametrize("name", ["words.txt", "words.txt.gz"])
def test_bytes_and_back(tmp_path: Path, name: str) -> None:
    vocabulary = corpus_from_sentences(["é b é \x01#", "# 1"], vocabulary_size=3).vocabulary
    atomic_write(tmp_path / name, vocabulary.to_bytes())
    loaded = Vocabulary.from_bytes(vocabulary.to_bytes())
    assert loaded == vocabulary
    assert loaded.counts.tolist() == vocabulary.counts.tolist()
    # Such bytes are also a list of words.
    assert Vocabulary.from_file(tmp_path / name) == vocabulary


@pytest.mark.parametrize(
    "data", [b"", b"a\t1\n", b"<unk>\t0\n<s>\t0\n</s>\t0\na\n", b"<unk> 0\n<s> 0\n</s> x\n"]
)
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(
        ValueError, match=r"its (first words are not <unk>|lines are not all different words)"
    ):
        Vocabulary.from_bytes(data)


def test_from_file(tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_bytes(b"\xef\xbb\xbfthe 7\r\n\n#\tx\n<s>\n  cat\xc2\xa0dog\n")
    assert Vocabulary.from_file(file).words[3:] == ("the", "#", "cat")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a\nb\na x\n", r"words\.txt:3: the word 'a' is in line 1 already"),
        (b"\n<s>\n", r"words\.txt: no words"),
    ],
)
def test_bad_files(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "words.txt").write_bytes(data)
    with pytest.raises(BadDataError, match=message):
        Vocabulary.from_file(tmp_path / "words.txt")
