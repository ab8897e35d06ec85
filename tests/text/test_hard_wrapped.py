"""Prose whose lines are broken at a width: those of a paragraph are joined, in any part of a file alike."""

import gzip
import logging
import random
import textwrap
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stategram import count_text, read_corpus, tokenize_prose
from stategram.text import TextFormat, read_corpora, read_texts
from stategram.text.files import BLOCK_SIZE
from stategram.text.lines import Lines
from stategram.text.prose import full_lines, join_lines, wrap_width

WORDS = "the a of whale sea ship captain harpooneer Nantucket, old and, sailing. Mr. Starbuck said. I".split()
PROSE = TextFormat(tokenize="prose")


def joined(blocks: Iterable[Lines]) -> bytes:
    """Return the paragraphs of parts of a text, each as a line."""
    return b"".join(join_lines(block.data, block.is_full or []) for block in blocks)


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
    whole = file.read_bytes()
    size = file.stat().st_size
    chance = random.Random(seed)
    blanks = [i + 1 for i in range(size - 1) if whole[i : i + 2] == b"\n\n"]
    for n in (1, 2, 7, 40):
        cuts = [
            0,
            *sorted(chance.sample(range(1, size), n) + [chance.choice(blanks) + d for d in (-1, 0, 1)]),
            size,
        ]
        parts = [list(read_texts(str(file), PROSE, begin=begin, end=end)) for begin, end in pairwise(cuts)]
        assert b"".join(lines.data for part in parts for lines in part) == whole
        assert b"".join(map(joined, parts)) == joined(read_texts(str(file), PROSE))
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
    assert all(block.is_full is not None for block in blocks)
    assert joined(blocks).decode() == "".join(text + "\n\n" for text in texts)
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
        "".join(f"an entry of a list, number {i}, as long as the others\n" for i in range(10, 70)) + "\n",
        "".join(
            f"an entry of a list, number {i}, as long as others\n" + "\n" * (i % 9 == 0)
            for i in range(10, 90)
        ),
        "",
    ],
    ids=["lines", "blank", "sentences", "words", "verse", "one", "list", "lists", "empty"],
)
def test_other_texts_are_left_as_they_are(text: str) -> None:
    assert wrap_width(text.encode()) == 0
    assert tokenize_prose(text) == [words for line in text.split("\n") for words in tokenize_prose(line)]


@given(
    st.lists(st.sampled_from(["word", " in", "\n", "\n\n", " \n", "\r\n", "\n \n", "\u00a0"]), max_size=40)
)
def test_joining_keeps_words_and_blank_lines(pieces: list[str]) -> None:
    data = "".join(pieces).encode()
    joined = join_lines(data, [*full_lines(data, 4)[:-1], False])
    assert joined.split() == data.split()
    assert joined.count(b"\n") <= data.count(b"\n")
    blank = sum(not line.strip(" \t\r\f\v") for line in data.decode().split("\n"))
    assert sum(not line.strip(" \t\r\f\v") for line in joined.decode().split("\n")) == blank


ENTRIES = [f"Entry {i} of a list" for i in range(3000)]


def test_a_list_after_a_preface_stays_a_list(tmp_path: Path) -> None:
    texts = paragraphs(300)
    lines = [*texts, *ENTRIES, *texts]
    text = wrapped(texts) + "\n".join(["", *ENTRIES, "", ""]) + wrapped(texts)
    assert tokenize_prose(text) == tokenize_prose("\n".join(lines))
    (tmp_path / "book.txt").write_text(text)
    (tmp_path / "lines.txt").write_text("\n".join(lines))
    book, expected = (read_corpus(tmp_path / f"{name}.txt", PROSE) for name in ("book", "lines"))
    assert book.n_sentences == expected.n_sentences
    assert book.ids.tolist() == expected.ids.tolist()


def test_a_mark_ends_the_paragraph_before_it(tmp_path: Path) -> None:
    text = wrapped(paragraphs(60), 60)
    full = " ".join(["word"] * 11) + " last."
    assert len(full) == 60
    (tmp_path / "book.txt").write_text(f"{text}\n{full}\nCHAPTER\n{text}The end")
    book = read_corpus(tmp_path / "book.txt", TextFormat(tokenize="prose", document_mark="^CHAPTER$"))
    lines = [[], *tokenize_prose(f"{text}\n{full}"), ["CHAPTER"], *tokenize_prose(text + "The end")]
    assert book.n_sentences == len(lines) - 1
    assert book.document_starts.tolist() == [lines.index(["CHAPTER"]) - 1]


def test_a_paragraph_without_end_is_read_in_parts(tmp_path: Path) -> None:
    file = tmp_path / "book.txt"
    lines = " ".join(["word"] * 14) + "\n"
    file.write_text(wrapped(paragraphs(200)) + "\n" + lines * (5 * BLOCK_SIZE // len(lines)) + "End.\n")
    blocks = list(read_texts(str(file), PROSE))
    assert max(len(block.data) for block in blocks) < 3 * BLOCK_SIZE
    whole = joined(blocks)
    assert BLOCK_SIZE < max(map(len, whole.split(b"\n"))) < BLOCK_SIZE + 100
    cuts = [*range(0, file.stat().st_size, BLOCK_SIZE - 1), 9 * BLOCK_SIZE]
    parts = [joined(read_texts(str(file), PROSE, begin=begin, end=end)) for begin, end in pairwise(cuts)]
    assert b"".join(parts) == whole
    assert joined(read_texts(str(file), PROSE, 3 * BLOCK_SIZE)) == whole
