"""A text in blocks is the text as a whole, and its sentences know their lines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import text as naive
from stategram import BadDataError, read_corpus
from stategram.text import TextFormat, lines, read_line_blocks, read_lines

UNCHANGED = TextFormat()
PIECES = [
    "the",
    "Cat",
    "<s>",
    "</s>",
    "<unk>",
    " ",
    "\t",
    "\n",
    "\n\n",
    "\u3000",
    "\x1c",
    "\r\n",
    "\ufeff",
    "Größe",
]


@contextmanager
def few_bytes_at_a_time() -> Iterator[None]:
    whole = lines.__dict__["read_blocks"]

    def read_blocks(name: str, *, live: bool, begin: int) -> Iterator[tuple[bytes, int]]:
        for data, _ in whole(name, live=live, begin=begin):
            yield from ((data[i : i + 7], i + 7) for i in range(0, len(data), 7))

    with mock.patch.object(lines, "read_blocks", read_blocks):
        yield


def sentences(path: Path, block_size: int) -> list[tuple[int, list[str]]]:
    found = []
    for block in read_line_blocks(str(path), UNCHANGED, block_size=block_size):
        for i, line in enumerate(block.lines.tolist()):
            found.append((line, [block.spelling.word(id) for id in block.corpus.sentence(i).tolist()]))
    return found


@given(st.lists(st.sampled_from(PIECES)), st.integers(1, 40))
def test_blocks_are_lines_of_the_text(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str], block_size: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "pieces.txt"
    path.write_bytes("".join(pieces).encode())
    expected = []
    for number, line in enumerate("".join(pieces).removeprefix("\ufeff").split("\n"), 1):
        words = [word for word in line.split() if word not in ("<s>", "</s>")]
        if words:
            expected.append((number, [*words, "</s>"]))
    with few_bytes_at_a_time():
        found = sentences(path, block_size) if expected else []
    assert found == expected


@given(
    st.lists(st.sampled_from(["a b\n", "= c\n", "\n", " \n", "<s>\n", "\ufeff\n", "x", "="])),
    st.integers(1, 40),
    st.sampled_from([None, "^=", "a"]),
)
def test_documents_of_blocks_are_those_of_the_text(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str], block_size: int, mark: str | None
) -> None:
    path = tmp_path_factory.getbasetemp() / "documents.txt"
    data = "".join(pieces).encode() + b"\nlast"
    path.write_bytes(data)
    n_sentences = 0
    found: list[int] = []
    with few_bytes_at_a_time():
        for block in read_line_blocks(str(path), TextFormat(document_mark=mark), block_size=block_size):
            assert all(block.corpus.document_starts < block.corpus.n_sentences)
            found += (block.corpus.document_starts + n_sentences).tolist()
            n_sentences += block.corpus.n_sentences
    assert found == naive.document_starts(data, mark=mark)


@given(
    st.lists(st.sampled_from(["a b\n", "\n", "cd", " "])),
    st.integers(1, 9),
    st.sampled_from([1, 10, 1 << 21]),
)
def test_lines_of_ranges_are_those_of_the_file(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str], n: int, block_size: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "ranges.txt"
    data = "".join(pieces).encode()
    path.write_bytes(data)
    bounds = sorted({len(data) * i // n for i in range(n + 1)})
    with few_bytes_at_a_time():
        for begin, end in pairwise(bounds):
            found = list(read_lines(str(path), block_size, begin=begin, end=end))
            expected = naive_lines(data, begin, end)
            assert b"".join(block.data for block in found) == b"".join(line for _, line in expected)
            assert [block.offset for block in found[:1]] == [offset for offset, _ in expected[:1]]
            numbers = [block.line - 1 for block in found]
            assert numbers == [data.count(b"\n", found[0].offset, block.offset) for block in found]


def naive_lines(data: bytes, begin: int, end: int) -> list[tuple[int, bytes]]:
    """Return the lines that begin in a range of bytes, each with its offset."""
    lines = data.splitlines(keepends=True)
    offsets = [sum(map(len, lines[:i])) for i in range(len(lines))]
    return [(at, line) for at, line in zip(offsets, lines, strict=True) if begin <= at < end]


def test_a_mark_at_the_end_of_a_block_starts_the_next(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("one two\n\n\n\nthree\nfour\n\n")
    with few_bytes_at_a_time():
        blocks = list(read_line_blocks(str(path), UNCHANGED, block_size=1))
    assert [block.corpus.document_starts.tolist() for block in blocks] == [[], [0], []]
    assert [block.lines.tolist() for block in blocks] == [[1], [5], [6]]


def test_words_are_treated_but_keep_their_spelling(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("The CAT 12,5 ÄÖ <S> <unk>\n", encoding="utf-8")
    (block,) = read_line_blocks(str(path), TextFormat(lowercase=True, digits="N"))
    ids = block.corpus.ids.tolist()
    assert [block.spelling.word(id) for id in ids] == ["The", "CAT", "12,5", "ÄÖ", "<S>", "<unk>", "</s>"]
    assert [block.corpus.vocabulary.word(id) for id in ids] == [
        "the",
        "cat",
        "N",
        "äö",
        "<unk>",
        "<unk>",
        "</s>",
    ]


@given(
    st.lists(st.sampled_from(["The", "1", "-2.5", "1,2,3", "x1", "İstanbul", "ΑΣ", "+7", "1."]), min_size=1)
)
def test_the_normalization_is_that_of_read_corpus(
    tmp_path_factory: pytest.TempPathFactory, words: list[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "words.txt"
    path.write_text(" ".join(words), encoding="utf-8")
    corpus = read_corpus(path, TextFormat(lowercase=True, digits="N"))
    expected = [corpus.vocabulary.word(id) for id in corpus.ids.tolist()[:-1]]
    assert TextFormat(True, "N").normalized(words) == expected


def test_errors_name_the_line_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    good = b"a good line\n" * 300_000
    path.write_bytes(good + b"caf\xe9\n")
    with pytest.raises(BadDataError, match=rf"text.txt:300001: byte 0xe9.* \(byte offset {len(good) + 3}\)"):
        list(read_line_blocks(str(path), UNCHANGED, block_size=1000))
    with pytest.raises(BadDataError, match=rf"text.txt:300001: byte 0xe9.* \(byte offset {len(good) + 3}\)"):
        list(read_line_blocks(str(path), TextFormat(document_mark="good"), block_size=1000))
    path.write_bytes(b"\n \n<s> </s>\n")
    with pytest.raises(BadDataError, match="no words in"):
        list(read_line_blocks(str(path), UNCHANGED))
