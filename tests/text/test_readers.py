"""What every reader of text files does: packed files, other encodings, damage, files that are not there."""

from __future__ import annotations

import gzip
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from packed import COMPRESSORS
from stategram.contexts import tags_from_conllu, tags_from_file
from stategram.errors import BadDataError, StategramError
from stategram.formats import read_arpa, read_classes, read_counts, read_nbest, read_references
from stategram.tables import read_items
from stategram.text import Vocabulary, read_corpus

WORDS = Vocabulary.from_words(["the", "cat"])
ARPA = "\\data\\\nngram 1=3\n\n\\1-grams:\n-99\t<s>\n-0.3\t</s>\n-0.3\tthe\n\n\\end\\\n"


class Reader(NamedTuple):
    read: Callable[[Any], object]
    """Returns something that can be compared."""
    text: str
    """A file that it reads; `the` is a word in it."""
    advises: bool = True
    """Whether errors name the byte, and know other encodings: kernels know only that it is not UTF-8."""


def _corpus(place: Any) -> object:
    corpus = read_corpus(place)
    return corpus.ids.tolist(), corpus.vocabulary.words


def _counts(place: Any) -> object:
    counts = read_counts(place)
    return counts.vocabulary.words, [level.counts.tolist() for level in counts.levels]


def _items(place: Any) -> object:
    items = read_items(place, text_column="text")
    return items.texts, {name: column.tolist() for name, column in items.columns.items()}


def _arpa(place: Any) -> object:
    model = read_arpa(place)
    return model.vocabulary.words, model.score("the").log_prob


TREEBANK = "1\tthe\t_\tDET\t_\t_\t_\t_\t_\t_\n2\tcat\t_\tNOUN\t_\t_\t_\t_\t_\t_\n"
READERS = {
    "corpus": Reader(_corpus, "the cat\n\nsat on the mat\n"),
    "vocabulary": Reader(lambda place: Vocabulary.from_file(place).words, "the 3\ncat 1\n"),
    "classes": Reader(read_classes, "the\t0\t3\ncat\t1\t1\n"),
    "tags": Reader(lambda place: tags_from_file(place, WORDS).labels.tolist(), "the\tDT\ncat\tNN\n"),
    "treebank": Reader(lambda place: tags_from_conllu(place, WORDS).labels.tolist(), TREEBANK),
    "arpa": Reader(_arpa, ARPA, advises=False),
    "counts": Reader(_counts, "cat\t1\nthe\t2\nthe cat\t1\n", advises=False),
    "n-best": Reader(read_nbest, "u1 -1.5 the cat\nu1 -2 a cat\n"),
    "references": Reader(read_references, "u1 the cat\nu2 sat\n"),
    "csv": Reader(_items, "item,text\n1,the cat\n2,sat\n"),
    "tsv": Reader(_items, "item\ttext\n1\tthe cat\n2\tsat\n"),
    "jsonl": Reader(_items, '{"item": 1, "text": "the cat"}\n{"item": 2, "text": "sat"}\n'),
}


@pytest.fixture(params=READERS)
def reader(request: pytest.FixtureRequest) -> Reader:
    return READERS[request.param]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file"


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_packed_files_are_known_by_their_first_bytes(reader: Reader, file: Path, kind: str) -> None:
    data, compress = reader.text.encode(), COMPRESSORS[kind]
    file.write_bytes(data)
    expected = reader.read(file)
    # Two streams one after the other are one file.
    for packed in (compress(data), compress(data[:7]) + compress(data[7:])):
        file.write_bytes(packed)
        assert reader.read(file) == expected


@pytest.mark.parametrize("kind", COMPRESSORS)
@pytest.mark.parametrize("damage", ["truncated", "damaged"])
def test_damaged_packed_files_are_refused(reader: Reader, file: Path, kind: str, damage: str) -> None:
    text = reader.text + f"# {os.urandom(3000).hex()}\n"
    data = bytearray(COMPRESSORS[kind](text.encode()))
    if damage == "truncated":
        del data[len(data) // 2 :]
    else:
        data[len(data) // 2 : len(data) // 2 + 64] = bytes(64)
    file.write_bytes(data)
    with pytest.raises(BadDataError, match=f"{file}: the {kind} data is truncated or damaged"):
        reader.read(file)


def test_line_ends_of_windows_and_byte_order_marks(reader: Reader, file: Path) -> None:
    file.write_text(reader.text, newline="\n")
    expected = reader.read(file)
    file.write_text("\ufeff" + reader.text.replace("\n", "\r\n"), encoding="utf-8", newline="\n")
    assert reader.read(file) == expected


def test_standard_input(reader: Reader, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text(reader.text, newline="\n")
    for data in (file.read_bytes(), gzip.compress(file.read_bytes())):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
        assert reader.read("-") == reader.read(file)


def test_pipes(reader: Reader, file: Path) -> None:
    file.write_text(reader.text, newline="\n")
    read_end, write_end = os.pipe()
    os.write(write_end, file.read_bytes())
    os.close(write_end)
    try:
        if not Path(f"/dev/fd/{read_end}").exists():
            pytest.skip("no /dev/fd here")
        assert reader.read(f"/dev/fd/{read_end}") == reader.read(file)
    finally:
        os.close(read_end)


def test_urls(reader: Reader, file: Path) -> None:
    pytest.importorskip("fsspec")
    file.write_text(reader.text, newline="\n")
    assert reader.read(file.as_uri()) == reader.read(file)


def test_files_that_are_not_there(reader: Reader, tmp_path: Path) -> None:
    with pytest.raises(StategramError, match=r"cannot read .*nowhere: No such file.*; check the name"):
        reader.read(tmp_path / "nowhere")
    with pytest.raises(StategramError, match=f"cannot read {tmp_path}"):
        reader.read(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_files_that_may_not_be_read(reader: Reader, file: Path) -> None:
    file.touch(0)
    with pytest.raises(StategramError, match="Permission denied"):
        reader.read(file)


@pytest.mark.parametrize("data", [b"", b"\n \n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_files_without_content(reader: Reader, file: Path, data: bytes) -> None:
    file.write_bytes(data)
    with pytest.raises(BadDataError, match=f"{file}\\b"):
        reader.read(file)


@pytest.mark.parametrize("bad", [b"\xff", b"\xe2\x82"])
def test_bytes_that_are_not_utf_8_are_named_with_their_line(reader: Reader, file: Path, bad: bytes) -> None:
    data = reader.text.encode().replace(b"the", b"the" + bad, 1)
    line = data[: data.index(bad)].count(b"\n") + 1
    file.write_bytes(data)
    with pytest.raises(
        BadDataError, match=rf"{file}:{line}: .*{f'byte 0x{bad[0]:x}' * reader.advises}.*UTF-8"
    ):
        reader.read(file)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32-be"])
def test_other_encodings_are_recognized(reader: Reader, file: Path, encoding: str) -> None:
    file.write_text(reader.text * 9, encoding=encoding)
    name = encoding.replace("16-", "16").replace("32-", "32")
    advice = f"convert it with iconv -f {name} -t utf-8" if reader.advises else "a NUL byte|not UTF-8"
    with pytest.raises(BadDataError, match=f"{file}:1: .*({advice})"):
        reader.read(file)


def test_nul_bytes_are_named_with_their_line(reader: Reader, file: Path) -> None:
    data = reader.text.encode().replace(b"the", b"the\0", 1)
    line = data[: data.index(b"\0")].count(b"\n") + 1
    file.write_bytes(data)
    with pytest.raises(BadDataError, match=f"{file}:{line}: .*NUL"):
        reader.read(file)
