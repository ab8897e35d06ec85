"""Prose whose lines are broken at a width: those of a paragraph are joined, in any part of a file alike."""

import gzip
import logging
import random
import textwrap
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stategram import count_text, read_corpus, tokenize_prose
from stategram.text import TextFormat, read_corpora, read_texts
from stategram.text.prose import is_hard_wrapped, join_lines

WORDS = "the a of whale sea ship captain harpooneer Nantucket, old and, sailing. Mr. Starbuck said. I".split()
PROSE = TextFormat(tokenize="prose")


def paragraphs(n: int, seed: int = 0, most: int = 120) -> list[str]:
    """Return random paragraphs of some sentences."""
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=chance.randrange(30, most))) + " End." for _ in range(n)]


def wrapped(texts: list[str], width: int = 70, blank: str = "\n", indent: str = "") -> str:
    return f"{blank}".join(textwrap.fill(text, width, initial_indent=indent) + "\n" for text in texts)


@pytest.mark.parametrize("width", [45, 60, 72, 100])
@pytest.mark.parametrize("blank", ["\n", "\n\n", " \t\n", "\r\n"])
def test_joined_lines_are_the_paragraphs(
    tmp_path: Path, width: int, blank: str, caplog: pytest.LogCaptureFixture
) -> None:
    texts = paragraphs(60)
    (tmp_path / "book.txt").write_bytes(wrapped(texts, width, blank).encode())
    (tmp_path / "lines.txt").write_text("\n".join(text + "\n" for text in texts))
    with caplog.at_level(logging.INFO, "stategram"):
        book = read_corpus(tmp_path / "book.txt", PROSE)
        assert caplog.text.count("book.txt is hard-wrapped: the lines of a paragraph are joined") == 1
        lines = read_corpus(tmp_path / "lines.txt", PROSE)
        assert caplog.text.count("hard-wrapped") == 1
    assert book.vocabulary == lines.vocabulary
    assert book.ids.tolist() == lines.ids.tolist()
    assert book.document_starts.tolist() == lines.document_starts.tolist()
    assert tokenize_prose(wrapped(texts, width, blank)) == tokenize_prose("\n".join(texts))
    # Only prose is joined, also beside prose.
    plain = read_corpus(tmp_path / "book.txt", TextFormat(tokenize="words"))
    assert plain.n_sentences == sum(len(textwrap.wrap(text, width)) for text in texts)
    both, _ = read_corpora(tmp_path / "book.txt", [TextFormat(tokenize="words"), PROSE], head=0)
    assert [one.ids.tolist() for one in both] == [plain.ids.tolist(), book.ids.tolist()]


@pytest.mark.parametrize("seed", range(3))
def test_the_parts_of_a_file_are_the_file(tmp_path: Path, seed: int) -> None:
    file = tmp_path / "book.txt"
    file.write_text("\n" * seed + wrapped(paragraphs(80, seed, 60), indent="  " * seed))
    whole = b"".join(lines.data for lines in read_texts(str(file), PROSE))
    size = file.stat().st_size
    chance = random.Random(seed)
    blanks = [i + 1 for i in range(size - 1) if whole[i : i + 2] == b"\n\n"]
    for n in (1, 2, 7, 40):
        cuts = [
            0,
            *sorted(chance.sample(range(1, size), n) + [chance.choice(blanks) + d for d in (-1, 0, 1)]),
            size,
        ]
        parts = [
            b"".join(lines.data for lines in read_texts(str(file), PROSE, begin=begin, end=end))
            for begin, end in pairwise(cuts)
        ]
        assert b"".join(parts) == whole
        assert all(part.endswith(b"\n\n") for part in parts if part.strip() and not whole.endswith(part))
    counted = count_text(file, tmp_path / "counts", 2, text_format=PROSE, shard_size=1 << 10)
    assert len(counted.shards) > 5
    expected = read_corpus(file, PROSE)
    found = counted.corpus()
    assert found.vocabulary == expected.vocabulary
    assert found.ids.tolist() == expected.ids.tolist()
    assert found.document_starts.tolist() == expected.document_starts.tolist()
    (tmp_path / "book.txt.gz").write_bytes(gzip.compress(whole))
    assert read_corpus(tmp_path / "book.txt.gz", PROSE).ids.tolist() == expected.ids.tolist()


def test_a_long_file_is_joined_across_blocks(tmp_path: Path) -> None:
    file = tmp_path / "book.txt"
    texts = paragraphs(400, 5) * 30
    file.write_text((wrapped(texts[:400]) + "\n") * 30)
    blocks = list(read_texts(str(file), PROSE))
    assert len(blocks) > 2
    assert all(block.is_wrapped for block in blocks)
    assert b"".join(join_lines(block.data) for block in blocks).decode() == "".join(
        text + "\n\n" for text in texts
    )
    assert [block.line for block in blocks][1] == 1 + blocks[0].data.count(b"\n")


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(paragraphs(60)),  # a paragraph per line
        "\n\n".join(paragraphs(60)),
        "\n".join(text + "\n" * (i % 9 == 0) for i, text in enumerate(" ".join(paragraphs(90)).split(". "))),
        "\n".join("word" if i % 9 else "" for i in range(200)),  # one word per line
        "\n".join(
            "A line of verse that ends with a full stop, as all of them do." if i % 5 else ""
            for i in range(99)
        ),
        wrapped([" ".join(paragraphs(90))]),  # no blank line
        "",
    ],
    ids=["lines", "blank", "sentences", "words", "verse", "one", "empty"],
)
def test_other_texts_are_left_as_they_are(text: str) -> None:
    assert not is_hard_wrapped(text.encode())
    assert tokenize_prose(text) == [words for line in text.split("\n") for words in tokenize_prose(line)]


@given(
    st.lists(st.sampled_from(["word", " in", "\n", "\n\n", " \n", "\r\n", "\n \n", "\u00a0"]), max_size=40)
)
def test_joining_keeps_words_and_blank_lines(pieces: list[str]) -> None:
    data = "".join(pieces).encode()
    joined = join_lines(data)
    assert joined.split() == data.split()
    assert joined.count(b"\n") <= data.count(b"\n")
    assert join_lines(joined) == joined
    blank = sum(not line.strip(" \t\r\f\v") for line in data.decode().split("\n"))
    assert sum(not line.strip(" \t\r\f\v") for line in joined.decode().split("\n")) == blank
