"""Files to a corpus: what is opened, what is refused, and what the messages say."""

from __future__ import annotations

import gzip
import io
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import text as naive
from stategram.errors import BadDataError, UsageError
from stategram.text import (
    Split,
    TextFormat,
    Vocabulary,
    corpus_from_sentences,
    read_blocks,
    read_corpus,
)
from stategram.text.files import BLOCK_SIZE

TEXT = b"the cat sat\n\non the mat\n"


def write(folder: Path, data: bytes, name: str = "text.txt") -> Path:
    file = folder / name
    file.write_bytes(data)
    return file


def test_plain_file(tmp_path: Path) -> None:
    corpus = read_corpus(write(tmp_path, TEXT))
    assert corpus.vocabulary.words == ("<unk>", "<s>", "</s>", "the", "cat", "mat", "on", "sat")
    assert corpus.ids.tolist() == [3, 4, 7, 2, 6, 3, 5, 2]
    assert corpus.sentence_starts.tolist() == [0, 4, 8]
    assert corpus.vocabulary.counts.tolist() == [0, 0, 2, 2, 1, 1, 1, 1]
    assert (corpus.n_events, corpus.n_sentences, corpus.n_unknown) == (8, 2, 0)
    assert corpus.stats.n_bytes == len(TEXT)


def test_many_files_and_progress(tmp_path: Path) -> None:
    calls: list[tuple[float, str]] = []
    names = [write(tmp_path, b"a b", "one"), write(tmp_path, gzip.compress(b"b c"), "two")]
    corpus = read_corpus(names, progress=lambda *call: calls.append(call))
    assert corpus.n_sentences == 2
    assert corpus.stats.files == tuple(map(str, names))
    sizes = [name.stat().st_size for name in names]
    assert calls == [(sizes[0] / sum(sizes), "0 MB"), (1.0, "0 MB")]


def test_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(TEXT)))
    calls: list[tuple[float, str]] = []
    corpus = read_corpus("-", progress=lambda *call: calls.append(call))
    assert corpus.n_events == 8
    assert set(calls) == {(0.0, "0 MB")}  # how much there is, nobody knows


@pytest.mark.parametrize("data", [b"", b"\n \n", b"\xef\xbb\xbf", b"<s> </s>\n", gzip.compress(b"", mtime=0)])
def test_no_words(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(BadDataError, match=r"no words in .*text\.txt \(\d+ bytes of text\); expected"):
        read_corpus(write(tmp_path, data))


def test_bad_bytes(tmp_path: Path) -> None:
    file = write(tmp_path, b"fine\ncaf\xe9 noir\n")
    with pytest.raises(BadDataError, match=r"text\.txt:2: byte 0xe9, .*offset 8.*encoding_errors='replace'"):
        read_corpus(file)
    corpus = read_corpus(file, TextFormat(encoding_errors="replace"))
    assert "caf\ufffd" in corpus.vocabulary
    assert corpus.stats.n_replaced == 1


def test_bad_last_line(tmp_path: Path) -> None:
    with pytest.raises(BadDataError, match=r"text\.txt:2: byte 0xe2"):
        read_corpus(write(tmp_path, b"fine\ncut \xe2\x82"))


def test_nul(tmp_path: Path) -> None:
    file = write(tmp_path, b"a\nb\0c\n")
    with pytest.raises(BadDataError, match=r"text\.txt:2: a NUL byte \(byte offset 3\)"):
        read_corpus(file)
    assert "b\ufffdc" in read_corpus(file, TextFormat(encoding_errors="replace")).vocabulary


def test_markers_and_unknown_word(tmp_path: Path) -> None:
    corpus = read_corpus(write(tmp_path, b"<s> a <unk> </s>\n"))
    assert corpus.ids.tolist() == [3, 0, 2]
    assert (corpus.stats.n_dropped, corpus.n_unknown) == (2, 1)


def test_line_longer_than_many_blocks(tmp_path: Path) -> None:
    n = 3_000_000
    corpus = read_corpus(write(tmp_path, b"ab " * n + b"\nend"))
    assert (corpus.n_events, corpus.n_sentences) == (n + 3, 2)


def test_cutting_the_vocabulary(tmp_path: Path) -> None:
    file = write(tmp_path, b"a a a b b c c d\n")
    assert read_corpus(file, vocabulary_size=2).vocabulary.words[3:] == ("a", "b")
    assert read_corpus(file, min_count=2).vocabulary.words[3:] == ("a", "b", "c")
    both = read_corpus(file, min_count=2, vocabulary_size=1)
    assert both.vocabulary.words[3:] == ("a",)
    assert both.vocabulary.counts.tolist() == [5, 0, 1, 3]


def test_given_vocabulary(tmp_path: Path) -> None:
    vocabulary = Vocabulary.from_words(["mat", "the"])
    corpus = read_corpus(write(tmp_path, TEXT), vocabulary=vocabulary)
    assert corpus.ids.tolist() == [4, 0, 0, 2, 0, 4, 3, 2]
    assert corpus.vocabulary is vocabulary


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocabulary_size": 0}, "vocabulary_size is 0"),
        ({"min_count": 0}, "min_count is 0"),
        ({"vocabulary": Vocabulary.from_words(["a"]), "min_count": 2}, "cannot be used with it"),
    ],
)
def test_bad_options(tmp_path: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_corpus(write(tmp_path, TEXT), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"digits": "a b"}, "digits is 'a b'"),
        ({"digits": "<s>"}, "digits is '<s>'"),
        ({"lowercase": 1}, "lowercase is 1; expected `bool`, got `int`"),
        ({"split": "words"}, "split is 'words'; possible: unicode, ascii"),
        ({"encoding_errors": "ignore"}, "encoding_errors is 'ignore'; possible: strict, replace"),
        ({"document_mark": "(="}, r"document_mark is '\(=', an invalid regular expression \(missing"),
    ],
)
def test_bad_formats(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        TextFormat(**settings)
    with pytest.raises(UsageError, match=message):
        TextFormat().override(settings)


def test_a_format_has_other_settings_where_some_are_given() -> None:
    trained = TextFormat(lowercase=True, digits="N", document_mark="^=")
    assert trained.override(None) == trained
    assert trained.override({"digits": None}) == TextFormat(lowercase=True, document_mark="^=")
    assert trained.override(TextFormat()) == TextFormat()
    with pytest.raises(UsageError, match="no setting 'case'; there are lowercase, digits, split, tokenize"):
        trained.override({"case": "lower"})


def test_no_files() -> None:
    with pytest.raises(UsageError, match="no files"):
        read_corpus([])


def test_sentences_are_split_or_taken_word_by_word() -> None:
    corpus = corpus_from_sentences(
        ["\ufeffthe  cat\nsat", ["a\ufeff", "b"], [], " ", iter(["c"])], TextFormat(lowercase=True)
    )
    words = [[corpus.vocabulary.word(id) for id in corpus.sentence(i)] for i in range(corpus.n_sentences)]
    assert words == [["\ufeffthe", "cat", "sat", "</s>"], ["a\ufeff", "b", "</s>"], ["c", "</s>"]]
    assert corpus.stats.n_bytes == len("\ufeffthe  cat sat\na\ufeff b\n\n \nc\n".encode())
    assert corpus_from_sentences([]).stats.n_bytes == 0


def test_many_sentences_are_fed_in_blocks() -> None:
    corpus = corpus_from_sentences(f"w{i % 50} x" for i in range(25_000))
    assert (corpus.n_sentences, corpus.n_events, len(corpus.vocabulary)) == (25_000, 75_000, 54)
    assert corpus.vocabulary.counts.sum() == corpus.n_events


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        (["a", "b"], []),
        (["a", "", [], " ", "b"], [1]),
        (["", "a", "<s>", "b", ""], [0, 2]),
        (["\ufeff", "", "a"], [1]),
        ([""], [0]),
        ([], []),
    ],
)
def test_empty_sentences_start_documents(sentences: list[str], expected: list[int]) -> None:
    assert corpus_from_sentences(sentences).document_starts.tolist() == expected


LINES = [
    *["= A =\n", "= A =\r\n", "a = b\n", "words\n", "\n", " \u3000\n", "<s>\n", "\ufeff\n", "caf\xe9 =\n"],
    *["=", " ", "x"],
]


@given(
    st.lists(st.sampled_from(LINES)),
    st.sampled_from([None, "^=", "=$", r"^\s*$", "é", "<s>", ""]),
    st.sampled_from(["unicode", "ascii"]),
)
def test_lines_that_start_documents(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str], mark: str | None, split: Split
) -> None:
    data = "".join(pieces).encode()
    file = write(tmp_path_factory.getbasetemp(), b"first\n" + data, "documents.txt")
    corpus = read_corpus(file, TextFormat(document_mark=mark, split=split))
    plain = read_corpus(file, TextFormat(split=split))
    expected = naive.document_starts(b"first\n" + data, mark=mark, ascii_spaces=split == "ascii")
    assert corpus.document_starts.tolist() == expected
    assert corpus.ids.tolist() == plain.ids.tolist()
    assert corpus.sentence_starts.tolist() == plain.sentence_starts.tolist()
    assert corpus.vocabulary == plain.vocabulary
    # White space of lines that are nothing else is not counted with a mark.
    assert corpus.stats.n_wide_spaces <= plain.stats.n_wide_spaces
    assert replace(corpus.stats, n_wide_spaces=0, first_wide_space=None) == replace(
        plain.stats, n_wide_spaces=0, first_wide_space=None
    )
    again = write(tmp_path_factory.getbasetemp(), b"\xef\xbb\xbf" + data + b"last", "marked.txt")
    found = read_corpus(again, TextFormat(document_mark=mark))
    assert found.document_starts.tolist() == naive.document_starts(
        b"\xef\xbb\xbf" + data + b"last", mark=mark
    )
    assert found.ids.tolist() == read_corpus(again).ids.tolist()


def test_documents_of_many_blocks_and_files(tmp_path: Path) -> None:
    article = b" = Title = \n\n = = Section = = \nsome words\n\nmore \xff words\n"
    n = 2 * BLOCK_SIZE // len(article)
    files = [write(tmp_path, article * n, "one"), write(tmp_path, gzip.compress(b"intro\n" + article), "two")]
    corpus = read_corpus(files, TextFormat(document_mark="^ = [^=]", encoding_errors="replace"))
    assert corpus.document_starts.tolist() == [*range(0, 4 * n, 4), 4 * n + 1]
    assert corpus.stats.n_replaced == n + 1
    assert corpus.stats.n_bytes == len(article) * (n + 1) + 6


def test_bad_bytes_among_documents(tmp_path: Path) -> None:
    good = b"\xef\xbb\xbf = A =\n\nwords\n" + b" = B =\n\nwords\n" * 200_000
    assert len(good) > BLOCK_SIZE
    file = write(tmp_path, good + b" = caf\xe9\n")
    expected = rf"text\.txt:{good.count(10) + 1}: byte 0xe9.* \(byte offset {len(good) + 6}\)"
    with pytest.raises(BadDataError, match=expected):
        read_corpus(file, TextFormat(document_mark="="))
    with pytest.raises(BadDataError, match=expected):
        read_corpus(file)


@pytest.mark.parametrize("word", ["", "New York", "a\n", "a\u2028b"])
def test_words_with_white_space_are_refused(word: str) -> None:
    with pytest.raises(UsageError, match=r"sentence 2: the word .* is empty or holds white space"):
        corpus_from_sentences([["fine"], ["a", word]])


def test_bad_characters_in_sentences() -> None:
    with pytest.raises(BadDataError, match="sentence 2: a NUL"):
        corpus_from_sentences(["a", "b\0c"])
    with pytest.raises(BadDataError, match="surrogate"):
        corpus_from_sentences(["a\ud800"])


def test_a_line_of_100_megabytes(tmp_path: Path) -> None:
    file = tmp_path / "line.txt"
    with file.open("wb") as out:
        for _ in range(100):
            out.write(b"ab cde f " * 111_112)
        out.write(b"\nend\n")
    assert file.stat().st_size > 100_000_000
    corpus = read_corpus(file)
    assert corpus.n_sentences == 2
    assert corpus.n_events == 3 * 111_112 * 100 + 1 + 2
    assert len(corpus.vocabulary) == 3 + 4


def test_a_pipe_is_read_piece_by_piece_so_that_signals_are_seen() -> None:
    class Pipe(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            assert size is not None
            assert 0 < size < 100, "a long read takes no signals until all is there"
            return super().read(size)

        def read1(self, size: int | None = -1, /) -> bytes:
            assert size is not None
            return super().read(min(size, 65536))

    blocks = list(read_blocks(Pipe(b"0123456789" * 500_000)))
    assert b"".join(block for block, _ in blocks) == b"0123456789" * 500_000
    assert [len(block) for block, _ in blocks[:-1]] == [BLOCK_SIZE] * 2
