"""Count files against plain dictionaries: what is written, read, added up and refused."""

from __future__ import annotations

import io
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive import count_files as naive
from stategram import (
    BadDataError,
    UsageError,
    Vocabulary,
    _core,
    corpus_from_sentences,
    read_counts,
    use_resources,
    write_counts,
)
from stategram.counts import NgramCounts, count_ngrams

words = st.sampled_from(["a", "b", "B", "é", "longer-than-eight-bytes", "日本", "10", "<unk>"])
texts = st.lists(st.lists(words, min_size=1, max_size=6), min_size=1, max_size=12)


def everything(counts: NgramCounts) -> list[bytes]:
    vocabulary = counts.vocabulary
    return [
        vocabulary.to_bytes(),
        repr(counts.report).encode(),
        *(
            array.tobytes()
            for level in counts.levels
            for array in (level.words, level.counts, level.first_child, level.suffixes, level.continuations)
        ),
    ]


def written(counts: NgramCounts) -> str:
    file = io.BytesIO()
    write_counts(counts, file)
    return file.getvalue().decode()


@settings(max_examples=50)
@given(texts, st.integers(1, 9), st.integers(1, 3))
def test_lines_are_those_of_the_twin(text: list[list[str]], order: int, threads: int) -> None:
    with use_resources(threads=threads):
        assert written(count_ngrams(corpus_from_sentences(text), order)) == naive.write(
            naive.count(text, order)
        )


hostile = st.sampled_from(
    ["a", '"', '""', "\\", "NA", "#N/A", "N/A", "nan", "7", "1.5", "true", 'x"y', "\\n"]
)


@settings(max_examples=60)
@given(st.lists(st.lists(hostile, min_size=1, max_size=6), min_size=1, max_size=8), st.integers(1, 4))
def test_a_table_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, text: list[list[str]], order: int
) -> None:
    counts = count_ngrams(corpus_from_sentences(text), order)
    place = tmp_path_factory.getbasetemp() / "counts.tsv"
    write_counts(counts, place, format="tsv")
    table = place.read_bytes()
    place.write_bytes(table.replace(b"\n", b"\r\n") if order % 2 else table)
    found = read_counts(place)
    assert everything(found) == everything(count_ngrams(corpus_from_sentences(text), found.order))
    plain = place.with_name("plain")
    write_counts(counts, plain)
    assert everything(read_counts([place, plain])) == everything(read_counts([plain, plain]))


def test_a_table_has_names_and_rows_with_their_length() -> None:
    file = io.BytesIO()
    write_counts(count_ngrams(corpus_from_sentences(['NA "']), 2), file, format="csv")
    assert file.getvalue().decode().splitlines() == [
        "ngram,order,count",
        '"""",1,1',
        '""" </s>",2,1',
        "</s>,1,1",
        "<s>,1,1",
        "<s> NA,2,1",
        "\\NA,1,1",
        '"NA """,2,1',
    ]


def test_a_bad_row_of_a_table_is_named(tmp_path: Path) -> None:
    (tmp_path / "counts").write_bytes(b'ngram\torder\tcount\n"a"\t1\tx\n')
    with pytest.raises(BadDataError, match="counts:2: found 'x' where the count belongs"):
        read_counts(tmp_path / "counts")
    (tmp_path / "counts").write_bytes(b'ngram\torder\tcount\n"a\n')
    with pytest.raises(BadDataError, match="counts:2: found '\"a' alone"):
        read_counts(tmp_path / "counts")


@settings(max_examples=40)
@given(texts, st.integers(1, 5), st.integers(1, 3), st.randoms(use_true_random=False))
def test_counts_come_back_as_those_of_the_text(
    tmp_path_factory: pytest.TempPathFactory, text: list[list[str]], order: int, threads: int, random: Random
) -> None:
    files = []
    # The two halves of a text, in any order, the second without a last line end.
    for number, half in enumerate((text[: len(text) // 2], text[len(text) // 2 :])):
        lines = naive.write(naive.count(half, order)).splitlines()
        random.shuffle(lines)
        files.append(tmp_path_factory.getbasetemp() / f"counts-{number}")
        files[-1].write_text("\n".join(lines))
    with use_resources(threads=threads):
        counts = read_counts(files)
        assert everything(counts) == everything(count_ngrams(corpus_from_sentences(text), counts.order))
        assert naive.read(written(counts).splitlines()) == naive.count(text, counts.order)
        # Fewer words and shorter n-grams, as if the text had been read that way.
        smaller = read_counts(files, order=1 + counts.order // 2, vocabulary_size=3)
        corpus = corpus_from_sentences(text, vocabulary_size=3)
        assert everything(smaller) == everything(count_ngrams(corpus, smaller.order))
        chosen = Vocabulary.from_words(["b", "never", "a"])
        corpus = corpus_from_sentences(text, vocabulary=chosen)
        assert everything(read_counts(files, vocabulary=chosen)) == everything(
            count_ngrams(corpus, counts.order)
        )


COUNTS = "<s>\t2\na\t3\n</s>\t2\n<s> a\t2\na a\t1\na </s>\t2\n<s> a a\t1\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "no counts in "),
        ("\n \n", "no counts in "),
        ("a\t1\n\nb\t-3\n", ":3: the count '-3' is below 0"),
        ("a\t1.5\n", ":1: found '1.5' where the count belongs, which is a whole number"),
        ("a\t4294967296\n", ":1: the count '4294967296' is above 4294967295"),
        ("a\t99999999999999999999999999\n", "is above"),
        ("a\n", ":1: found 'a' alone; expected words and a count"),
        ("a\t4294967295\na\t1\n", ":2: the counts of 'a' add up to more than"),
        ("1 2 3 4 5 6 7 8 9 10\t1\n", ":1: an n-gram of more than 9 words"),
        (COUNTS + "a <s>\t1\n", ":8: <s> is not the first word"),
        (COUNTS + "</s> a\t1\n", ":8: </s> is not the last word"),
        (COUNTS + "a b\t1\n", ":8: the n-gram 'a b' is counted, but not all shorter ones"),
        (COUNTS + "b a\t1\n", ":8: the n-gram 'b a' is counted, but not all shorter ones"),
        (COUNTS + "<s> a </s>\t1\na a a\t2\n", ":9: the n-grams that begin as 'a a a' are"),
        (COUNTS.replace("\na a\t1\n", "\n"), "the n-gram '<s> a a' is counted, but not all shorter ones"),
        ("<s>\t1\na\t2\nb\t2\n<s> a\t1\n<s> a b\t1\n", ":5: the n-gram '<s> a b' is counted, but not"),
        ("a\t1\n\xff\xfe\t1\n", ":2: not UTF-8"),
        ("a\t1\nb\0\t1\n", ":2: a NUL byte"),
        ("x" * 2_000_000, ":1: a line of more than"),
    ],
)
def test_bad_files_are_refused_with_the_line(tmp_path: Path, data: str, message: str) -> None:
    (tmp_path / "good").write_text("a\t1\na\t1\n" if "1048576" in message else "\n\n")
    (tmp_path / "bad").write_bytes(data.encode("latin-1"))
    with pytest.raises(BadDataError, match=message.replace("'", ".")) as error:
        read_counts([tmp_path / "good", tmp_path / "bad"])
    assert "Traceback" not in str(error.value)
    assert f"{tmp_path / 'bad'}" in str(error.value)


def test_other_mistakes_are_refused(tmp_path: Path) -> None:
    (tmp_path / "counts").write_text(COUNTS)
    with pytest.raises(BadDataError, match=r"n-grams of 1 to 3 words in .*, not of 4"):
        read_counts(tmp_path / "counts", order=4)
    with pytest.raises(UsageError, match="vocabulary_size is 0"):
        read_counts(tmp_path / "counts", vocabulary_size=0)
    counts = read_counts(tmp_path / "counts")
    counts.levels.clear()
    with pytest.raises(UsageError, match="used up"):
        write_counts(counts, io.BytesIO())


def test_kernels_check_their_input() -> None:
    reader = _core.CountReader(1)
    reader.feed(COUNTS.encode())
    reader.end_file()
    with pytest.raises(ValueError, match="one number for each word"):
        reader.levels(np.zeros(2, np.uint32), 4, 2, False)
    with pytest.raises(ValueError, match="not below"):
        reader.levels(np.array([0, 1, 2, 4], np.uint32), 4, 2, False)
    with pytest.raises(ValueError, match="order is not"):
        reader.levels(np.arange(4, dtype=np.uint32), 4, 10, False)
    letters, offsets = np.frombuffer(b"ab", np.uint8), np.array([0, 1, 2], np.int64)
    two, empty = np.arange(2, dtype=np.uint32), np.zeros(0, np.uint32)
    good: dict[str, Any] = {
        "letters": letters,
        "offsets": offsets,
        "ids": two,
        "ranks": two,
        "words": [two, two],
        "counts": [two + 1, two + 1],
        "first_child": [np.array([0, 1, 2], np.uint32)],
        "nodes": two,
        "threads": 1,
    }
    assert _core.count_lines(**good) == b"a\t1\na a\t1\nb\t2\nb b\t2\n"
    for name, value in (
        ("offsets", offsets + 1),
        ("ids", two + 1),
        ("ranks", empty),
        ("words", [two, two + 1]),
        ("words", [two]),
        ("counts", [two, empty]),
        ("first_child", [np.array([0, 1, 3], np.uint32)]),
        ("first_child", [np.array([2, 1, 0], np.uint32)]),
        ("nodes", two + 1),
    ):
        with pytest.raises(ValueError, match=r"\w"):
            _core.count_lines(**{**good, name: value})
