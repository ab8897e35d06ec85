"""Texts in shards against the same texts read whole."""

from __future__ import annotations

import gzip
import io
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from naive import runs as naive
from packed import COMPRESSORS
from stategram import BadDataError, Corpus, NgramModel, UsageError, Vocabulary, WordClasses, use_resources
from stategram.counts import (
    Reading,
    ShardedText,
    TemporaryBlobs,
    count_bigrams,
    count_ngrams,
    shard_text,
    trie_numbers,
)
from stategram.counts.ranges import RunPart, Runs
from stategram.counts.shards import TextPart, lines_before, text_parts
from stategram.text import BEGIN, END, ReadStats, TextFormat, WordChoice, read_corpus

LINES = [
    "the cat sat",
    "",
    "a dog\u00a0ran",
    "<s> the </s>",
    "  ",
    "Été 12,5 \u00c9t\u00e9",
    "x " * 40,
    "été",
    "12",
]
lines_of_a_file = st.lists(st.sampled_from(LINES), max_size=30)
SLOW = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def sharded(
    names: list[str], size: int, text_format: TextFormat | None = None, words: WordChoice | None = None
) -> ShardedText:
    text_format, words = text_format or TextFormat(), words or WordChoice()
    return shard_text(Reading(names, text_format, words, size), TemporaryBlobs())


def assert_same(found: Corpus, expected: Corpus) -> None:
    assert found.vocabulary == expected.vocabulary
    assert found.vocabulary.counts.tolist() == expected.vocabulary.counts.tolist()
    for name in ("ids", "sentence_starts", "document_starts"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist(), name
    assert found.stats == expected.stats


@SLOW
@given(
    st.lists(lines_of_a_file, min_size=1, max_size=3),
    st.integers(1, 200),
    st.sampled_from(["\n", "\r\n"]),
    st.data(),
)
def test_a_text_in_shards_is_the_text(
    tmp_path: Path, files: list[list[str]], size: int, line_end: str, data: st.DataObject
) -> None:
    names = []
    for number, lines in enumerate(files):
        file = tmp_path / f"text{number}"
        mark = "\ufeff" if data.draw(st.booleans()) else ""
        last = line_end if data.draw(st.booleans()) else ""
        file.write_bytes((mark + line_end.join(lines) + last).encode())
        names.append(str(file))
    form: Any = data.draw(st.sampled_from([None, "words", "prose"]))
    text_format = TextFormat(
        data.draw(st.booleans()),
        data.draw(st.sampled_from([None, "N"])),
        tokenize=form,
        document_mark=data.draw(st.sampled_from([None, "^the"])),
    )
    vocabulary_size = data.draw(st.sampled_from([None, 2]))
    try:
        expected = read_corpus(names, text_format, vocabulary_size=vocabulary_size)
    except BadDataError:  # there are no words
        with pytest.raises(BadDataError, match="no words in"):
            sharded(names, size, text_format)
        return
    text = sharded(names, size, text_format, WordChoice(vocabulary_size=vocabulary_size))
    assert_same(text.corpus(), expected)
    assert (text.n_events, text.n_sentences, text.n_unknown) == (
        expected.n_events,
        expected.n_sentences,
        expected.n_unknown,
    )
    assert text.word_counts.tolist() == expected.word_counts.tolist()
    assert np.concatenate([piece.ids for piece in text.pieces()]).tolist() == expected.ids.tolist()


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    random = np.random.default_rng(1)
    file = tmp_path_factory.mktemp("story") / "story.txt"
    lines = [" ".join(f"w{word}" for word in random.zipf(1.3, n) % 400) for n in random.integers(1, 12, 3000)]
    file.write_text("\n".join(lines) + "\n")
    return file


@pytest.mark.parametrize("size", [500, 4000, 10**9])
@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_counts_of_shards_are_those_of_the_text(story: Path, size: int, order: int) -> None:
    corpus = read_corpus(story)
    expected = count_ngrams(corpus, order)
    for threads in (1, 3):
        with use_resources(threads=threads):
            text = sharded([str(story)], size)
            found = count_ngrams(text, order)
        assert found.report == expected.report
        for level, of_corpus in zip(found.levels, expected.levels, strict=True):
            for name, array in vars(of_corpus).items():
                assert getattr(level, name).tobytes() == array.tobytes(), name
    bigrams, of_corpus_too = count_bigrams(text), count_bigrams(corpus)
    for side in ("successors", "predecessors"):
        rows, expected_rows = getattr(bigrams, side), getattr(of_corpus_too, side)
        assert [array.tobytes() for array in rows] == [array.tobytes() for array in expected_rows]
    assert bigrams.word_counts.tolist() == of_corpus_too.word_counts.tolist()
    assert (bigrams.n_events, bigrams.boundary) == (of_corpus_too.n_events, of_corpus_too.boundary)


def test_little_memory_changes_nothing(story: Path) -> None:
    expected = read_corpus(story)
    with use_resources(memory="1G"):
        assert_same(sharded([str(story)], 4000).corpus(), expected)


def test_a_given_vocabulary_is_kept(story: Path) -> None:
    vocabulary = Vocabulary.from_words(["w7", "w1", "never"])
    text = sharded([str(story)], 4000, words=WordChoice(vocabulary))
    expected = read_corpus(story, vocabulary=vocabulary)
    assert text.vocabulary is vocabulary
    assert text.corpus().ids.tolist() == expected.ids.tolist()
    assert text.word_counts.tolist() == expected.word_counts.tolist()


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_compressed_files_are_one_part_and_several_shards(story: Path, tmp_path: Path, suffix: str) -> None:
    packed = tmp_path / f"story.{suffix}"
    compress = gzip.compress if suffix == "gz" else COMPRESSORS["zstd"]
    packed.write_bytes(compress(story.read_bytes() * 40))
    assert text_parts([str(packed)], 100) == [TextPart(str(packed), size=packed.stat().st_size)]
    text = sharded([str(packed)], 4000)
    assert len(text.shards) > 1
    assert np.array_equal(text.corpus().ids, np.tile(read_corpus(story).ids, 40))


def test_stdin_is_a_part(story: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass
    class Stdin:
        buffer: io.BytesIO

    monkeypatch.setattr(sys, "stdin", Stdin(io.BytesIO(story.read_bytes())))
    text = sharded(["-"], 4000)
    assert text.corpus().ids.tolist() == read_corpus(story).ids.tolist()


@pytest.mark.parametrize("size", [10, 60, 10**6])
def test_bad_bytes_are_found_in_their_line(tmp_path: Path, size: int) -> None:
    file = tmp_path / "bad.txt"
    lines = [b"a word"] * 20
    lines[13] = b"a w\xff"
    file.write_bytes(b"\n".join(lines))
    with pytest.raises(BadDataError) as expected:
        read_corpus(file)
    for text_format in (TextFormat(), TextFormat(tokenize="words")):
        with pytest.raises(BadDataError, match=r"bad\.txt:14: byte 0xff") as found:
            sharded([str(file)], size, text_format)
        assert str(found.value) == str(expected.value)
    replaced = sharded([str(file)], size, TextFormat(encoding_errors="replace"))
    assert_same(replaced.corpus(), read_corpus(file, TextFormat(encoding_errors="replace")))


def test_lines_before_a_part(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_bytes(b"a\nbb\n\nccc\n")
    for begin, expected in ((0, 0), (1, 1), (2, 1), (3, 2), (5, 2), (6, 3)):
        assert lines_before(TextPart(str(file), begin, 10), TextFormat()) == expected, begin


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    file, blobs = tmp_path / "text", TemporaryBlobs()
    file.write_text("a b\n")
    assert shard_text(Reading([str(file)], TextFormat(), WordChoice(), 99), blobs).n_events == 3
    file.write_text("a b c d\n")
    assert shard_text(Reading([str(file)], TextFormat(), WordChoice(), 99), blobs).n_events == 5


def scaled(corpus: Corpus, factor: int) -> ShardedText:
    """Return the counts of a text in which each sentence is there `factor` times: only its bigrams exist."""
    sentences = [corpus.sentence(i).tolist() for i in range(corpus.n_sentences)]
    n_words = len(corpus.vocabulary)
    keys = Counter({key: n * factor for key, n in naive.keys(sentences, 2).items()})
    run = naive.run(keys, trie_numbers(n_words).tolist())
    blobs = TemporaryBlobs()
    bounds, _ = blobs.write("run", run)
    runs = Runs(2, n_words, [0, n_words], [[RunPart("run", 0, bounds[-1])]])
    return ShardedText(corpus.vocabulary, corpus.word_counts * factor, corpus.stats, (), blobs, runs)


@pytest.mark.parametrize(
    ("keys", "word_counts"),
    [
        ({(BEGIN, END): 3, (END,): 3}, [0, 0, 3, 0, 0]),  # no words at all
        ({(BEGIN, 3): 3, (3, 3): 3, (3, END): 1, (4, 3): 1, (4, END): 2, (END,): 3}, [0, 0, 3, 4, 3]),
    ],
)
def test_bigrams_of_no_text_are_refused(keys: dict[tuple[int, ...], int], word_counts: list[int]) -> None:
    vocabulary, blobs = Vocabulary.from_words(["a", "b"]), TemporaryBlobs()
    bounds, _ = blobs.write("run", naive.run(Counter(keys), trie_numbers(5).tolist()))
    runs = Runs(2, 5, [0, 5], [[RunPart("run", 0, bounds[-1])]])
    text = ShardedText(vocabulary, np.array(word_counts), ReadStats(("a",), 1), (), blobs, runs)
    with pytest.raises(BadDataError, match="the bigrams are not those of a text; count again with --force"):
        WordClasses(2).fit(text)


def test_more_events_than_32_bits_hold(story: Path) -> None:
    corpus = read_corpus(story, vocabulary_size=60)
    factor = 2**33 // corpus.n_events
    text = scaled(corpus, factor)
    assert 2**32 < text.n_events < 2**34
    assert count_bigrams(text).word_counts.tolist() == (count_bigrams(corpus).word_counts * factor).tolist()
    large, small = (WordClasses(7, effort="paper").fit(one) for one in (text, corpus))
    assert large.as_dict() == small.as_dict()
    assert large.counts_.tolist() == (small.counts_ * factor).tolist()
    assert large.class_bigrams_.tolist() == (small.class_bigrams_ * factor).tolist()
    assert large.mutual_information_ == pytest.approx(small.mutual_information_, rel=1e-9)
    model = NgramModel.train(text, 2, smoothing="witten-bell")
    assert model.training_info["events"] == text.n_events


def test_a_count_that_32_bits_do_not_hold_is_refused(story: Path) -> None:
    text = scaled(read_corpus(story), 2**32)
    with pytest.raises(UsageError, match=r"too large: an n-gram has a count above 2\^32-1; give a part"):
        NgramModel.train(text, 2)
