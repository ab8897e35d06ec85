"""Runs of n-grams, packed texts and merged vocabularies against their naive twins."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from naive import counts as naive_counts
from naive import runs as naive
from stategram import _core
from stategram.counts import trie_numbers
from stategram.text import BEGIN, END
from texts import Sentences, make_corpus
from texts import texts as any_text

Text = tuple[Sentences, int]


def count_run(
    sentences: Sentences, n_words: int, order: int, bounds: list[int], threads: int = 1
) -> tuple[bytes, list[int]]:
    corpus = make_corpus(sentences, n_words)
    edges = np.array(bounds, np.uint32)
    run, offsets = _core.count_run(
        corpus.ids, corpus.sentence_starts, trie_numbers(n_words), BEGIN, END, order, edges, threads
    )
    return run.tobytes(), offsets.tolist()


def as_arrays(runs: list[bytes]) -> list[NDArray[np.uint8]]:
    return [np.frombuffer(run, np.uint8) for run in runs]


def as_lists(levels: Any) -> list[naive.Level]:
    return [tuple(array.tolist() for array in level) for level in levels]


@given(any_text(), st.integers(1, 9), st.integers(1, 3), st.data())
def test_a_run_is_that_of_the_twin(text: Text, order: int, threads: int, data: st.DataObject) -> None:
    sentences, n_words = text
    bounds = sorted({0, n_words, *data.draw(st.lists(st.integers(1, n_words - 1), max_size=4))})
    numbers = trie_numbers(n_words).tolist()
    found = naive.keys(sentences, order)
    run, offsets = count_run(sentences, n_words, order, bounds, threads)
    assert run == naive.run(found, numbers)
    for (first, last), (begin, end) in zip(
        itertools.pairwise(bounds), itertools.pairwise(offsets), strict=True
    ):
        assert run[begin:end] == naive.run(naive.in_range(found, numbers, first, last), numbers)


@given(any_text(), st.integers(1, 9), st.integers(1, 5), st.data())
def test_merged_runs_are_the_counts_of_the_whole(
    text: Text, order: int, n_runs: int, data: st.DataObject
) -> None:
    sentences, n_words = text
    kept = data.draw(st.integers(1, order))
    first = data.draw(st.integers(0, n_words - 1))
    last = data.draw(st.integers(first + 1, n_words))
    numbers = trie_numbers(n_words)
    parts = [sentences[i::n_runs] for i in range(n_runs)]
    runs = as_arrays([count_run(part, n_words, order, [first, last])[0] for part in parts])
    found = naive.in_range(naive.keys(sentences, order), numbers.tolist(), first, last)
    levels = _core.merge_ngrams(runs, numbers, END, order, kept, first, last)
    assert as_lists(levels) == naive.levels(found, numbers.tolist(), kept, first, last)
    merged = _core.merge_runs(runs, numbers, END, order, first, last)
    assert merged.tobytes() == naive.run(found, numbers.tolist())
    corpus = make_corpus(sentences, n_words)
    whole = _core.count_ngrams(
        corpus.ids, corpus.sentence_starts, numbers, int(numbers[BEGIN]), kept, first, last, 2
    )
    assert as_lists(whole) == as_lists(levels)


@pytest.mark.parametrize(("n_words", "order"), [(7, 9), (200, 5), (40_000, 4), (70_000, 9)])
def test_keys_of_every_width(n_words: int, order: int) -> None:
    random = np.random.default_rng(3)
    lengths = random.integers(1, 9, 900)
    sentences = [[*(3 + random.zipf(1.2, n) % (n_words - 3)).tolist(), 2] for n in lengths.tolist()]
    numbers = trie_numbers(n_words)
    runs = [count_run(sentences[i::3], n_words, order, [0, n_words], i + 1)[0] for i in range(3)]
    found = naive.keys(sentences, order)
    merged = _core.merge_runs(as_arrays(runs), numbers, END, order, 0, n_words)
    assert merged.tobytes() == naive.run(found, numbers.tolist())


@given(st.lists(st.integers(1, 2**40), min_size=1, max_size=4))
def test_counts_of_any_size_are_added_up(counts: list[int]) -> None:
    numbers = trie_numbers(4)
    runs = [naive.run(Counter({(BEGIN, 3): n, (3, END): n}), numbers.tolist()) for n in counts]
    total = sum(counts)
    merged = _core.merge_runs(as_arrays(runs), numbers, END, 2, 0, 4)
    assert merged.tobytes() == naive.run(Counter({(BEGIN, 3): total, (3, END): total}), numbers.tolist())
    if total < 2**32:
        levels = _core.merge_ngrams(as_arrays(runs), numbers, END, 2, 2, 0, 4)
        assert levels[1][1].tolist() == [total, total]
    else:
        with pytest.raises(OverflowError, match="above 2\\^32-1"):
            _core.merge_ngrams(as_arrays(runs), numbers, END, 2, 2, 0, 4)


def test_no_runs_are_no_ngrams() -> None:
    numbers = trie_numbers(5)
    words, counts, first_child = _core.merge_ngrams([], numbers, END, 3, 3, 1, 4)[0]
    assert (words.tolist(), counts.tolist(), first_child.tolist()) == ([1, 2, 3], [0] * 3, [0] * 4)
    assert len(_core.merge_runs([np.empty(0, np.uint8)], numbers, END, 3, 1, 4)) == 0


@given(any_text(), st.integers(1, 5), st.data())
def test_bytes_that_are_no_run_are_refused_or_counted(text: Text, order: int, data: st.DataObject) -> None:
    """Whatever is changed, the merge ends with an error or with n-grams in order."""
    sentences, n_words = text
    run = bytearray(count_run(sentences, n_words, order, [0, n_words])[0])
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(run) - 1))
        if data.draw(st.booleans()):
            run[place] = data.draw(st.integers(0, 255))
        else:
            del run[place]
            run = run or bytearray(1)
    try:
        levels = _core.merge_ngrams(
            as_arrays([bytes(run)]), trie_numbers(n_words), END, order, order, 0, n_words
        )
    except (ValueError, OverflowError):
        return
    for words, counts, first_child in levels[:-1]:
        assert len(words) == len(counts) == len(first_child) - 1
        assert (np.diff(first_child.astype(np.int64)) >= 0).all()


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (b"\x00", "ends inside a number"),
        (b"\x00\x83", "ends inside a number"),
        (b"\x00\x07\x02", "not in the vocabulary"),
        (b"\x05\x03\x02", "shares too many words"),
        (b"\x01\x03\x02", "shares too many words"),
        (b"\x00\x03\x02\x00\x03\x02", "do not rise"),
        (b"\xf0" + b"\xff" * 9 + b"\x01\x03\x02", "too large"),
    ],
)
def test_damage_is_named(run: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _core.merge_ngrams(as_arrays([run]), trie_numbers(5), END, 2, 2, 0, 5)


def test_what_makes_no_run_is_refused() -> None:
    corpus, numbers = make_corpus([[3, 2]], 5), trie_numbers(5)
    for bounds, message in (([0], "do not rise"), ([3, 0], "do not rise"), ([0, 6], "do not fit together")):
        with pytest.raises(ValueError, match=message):
            count_run([[3, 2]], 5, 2, bounds)
    with pytest.raises(ValueError, match="does not end with"):
        _core.count_run(
            np.array([3, 4], np.uint32),
            np.array([0, 2]),
            numbers,
            BEGIN,
            END,
            3,
            np.array([0, 5], np.uint32),
            1,
        )
    same = np.array([0, 1, 1, 3, 4], np.uint32)
    with pytest.raises(ValueError, match="each of 0, 1"):
        _core.count_run(
            corpus.ids, corpus.sentence_starts, same, BEGIN, END, 2, np.array([0, 5], np.uint32), 1
        )
    for order, kept, first, last in ((10, 2, 0, 5), (2, 3, 0, 5), (2, 0, 0, 5), (2, 2, 3, 3), (2, 2, 0, 6)):
        with pytest.raises(ValueError, match=r"order|not counted|do not fit"):
            _core.merge_ngrams([], numbers, END, order, kept, first, last)


@given(any_text(), st.integers(1, 3))
def test_rows_of_bigrams_are_those_of_the_twin(text: Text, threads: int) -> None:
    sentences, n_words = text
    corpus, numbers = make_corpus(sentences, n_words), trie_numbers(n_words)
    levels = _core.count_ngrams(
        corpus.ids, corpus.sentence_starts, numbers, int(numbers[BEGIN]), 2, 0, n_words, 1
    )
    rows = _core.bigram_rows(levels[0][2], *levels[1][:2], numbers, BEGIN, END, threads)
    pairs = Counter({(key[0], key[1]): n for key, n in naive.keys(sentences, 2).items() if len(key) == 2})
    assert tuple(array.tolist() for array in rows) == naive_counts.bigram_rows(pairs, n_words, BEGIN, END)
    expected = _core.count_bigrams(corpus.ids, END, n_words, 1)
    assert [row.tobytes() for row in rows] == [row.tobytes() for row in expected]


def test_rows_that_do_not_fit_are_refused() -> None:
    numbers, words = trie_numbers(4), np.array([3], np.uint32)
    for first_child, named in (([0, 1], words), ([0, 0, 0, 0, 2], words), ([0, 0, 0, 0, 1], words + 9)):
        with pytest.raises(ValueError, match=r"do not fit together|no id"):
            _core.bigram_rows(np.array(first_child, np.uint32), named, words, numbers, BEGIN, END, 1)


@st.composite
def texts_with_documents(draw: st.DrawFn) -> tuple[Text, list[int]]:
    sentences, n_words = draw(any_text())
    starts = draw(st.sets(st.integers(0, len(sentences))))
    return (sentences, n_words), sorted(starts)


@given(texts_with_documents())
def test_a_packed_text_is_that_of_the_twin_and_comes_back(found: tuple[Text, list[int]]) -> None:
    (sentences, n_words), starts = found
    corpus = make_corpus(sentences, n_words)
    packed = _core.pack_text(corpus.ids, corpus.sentence_starts, np.array(starts, np.int64))
    assert packed.tobytes() == naive.packed_text(sentences, starts)
    shifted = np.arange(n_words, dtype=np.uint32)
    shifted[3:] = shifted[3:][::-1]
    ids, sentence_starts, document_starts = _core.unpack_text(packed, shifted)
    assert ids.tolist() == shifted[corpus.ids].tolist()
    assert sentence_starts.tolist() == corpus.sentence_starts.tolist()
    assert document_starts.tolist() == starts


@pytest.mark.parametrize(
    ("packed", "message"),
    [
        (b"\x03", "ends inside a sentence"),
        (b"\x03\x01\x02", "starts inside a sentence"),
        (b"\x09\x02", "not in the vocabulary"),
        (b"\x83", "ends inside a number"),
    ],
)
def test_a_damaged_text_is_refused(packed: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _core.unpack_text(np.frombuffer(packed, np.uint8), np.arange(5, dtype=np.uint32))


def test_a_text_that_cannot_be_packed_is_refused() -> None:
    no_starts = np.zeros(0, np.int64)
    for ids in ([3], [3, 1, 2], [2, 3, 2]):
        with pytest.raises(ValueError, match="does not end with"):
            _core.pack_text(np.array(ids, np.uint32), np.array([0, len(ids)]), no_starts)
    with pytest.raises(ValueError, match="do not start at sentences"):
        _core.pack_text(np.array([3, 2], np.uint32), np.array([0, 2]), np.array([2]))


words = st.sampled_from([b"<unk>", b"<s>", b"</s>", b"a", b"b", b"ab", b"longer than eight", b"\xc3\xa9"])


def as_words(text: dict[bytes, int]) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint64]]:
    letters = np.frombuffer(b"".join(text), np.uint8)
    offsets = np.concatenate(([0], np.cumsum([len(word) for word in text]))).astype(np.int64)
    return letters, offsets, np.array(list(text.values()), np.uint64)


@given(
    st.lists(st.dictionaries(words, st.integers(0, 2**40)), max_size=4), st.integers(0, 6), st.integers(0, 3)
)
def test_a_merged_vocabulary_is_that_of_the_twin(
    texts: list[dict[bytes, int]], size: int, min_count: int
) -> None:
    merger = _core.VocabularyMerger()
    for text in texts:
        merger.add(*as_words(text))
    letters, offsets, counts = merger.choose(size, min_count)
    found = [letters[a:b].tobytes() for a, b in itertools.pairwise(offsets.tolist())]
    expected, expected_counts = naive.merged_vocabulary(texts, size, min_count)
    assert (found, counts.tolist()) == (expected, expected_counts)
    for text in texts:
        ids = merger.ids(*as_words(text)[:2]).tolist()
        assert ids == [expected.index(word) if word in expected else 0 for word in text]
    other = _core.VocabularyMerger()
    for text in texts:
        other.add(*as_words(text))
    assert other.use(letters, offsets).tolist() == expected_counts


def test_a_vocabulary_is_merged_in_order() -> None:
    merger, some = _core.VocabularyMerger(), as_words({b"a": 1})
    with pytest.raises(ValueError, match="choose a vocabulary first"):
        merger.ids(*some[:2])
    with pytest.raises(ValueError, match="one count"):
        merger.add(*some[:2], np.zeros(2, np.uint64))
    with pytest.raises(ValueError, match="holds NUL"):
        merger.add(*as_words({b"\0": 1}))
    with pytest.raises(ValueError, match="do not fit together"):
        merger.add(some[0], np.array([0, 2]), some[2])
    merger.choose(9, 1)
    for step in (lambda: merger.add(*some), lambda: merger.choose(1, 1), lambda: merger.use(*some[:2])):
        with pytest.raises(ValueError, match="chosen already"):
            step()
