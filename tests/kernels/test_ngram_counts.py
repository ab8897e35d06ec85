"""N-gram counts, their suffixes and continuation counts against plain dictionaries."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from naive.ngram_models import adjusted_counts, raw_counts
from stategram import _core
from stategram.counts import NgramCounts, Workspace, count_bigrams, count_ngrams, trie_numbers
from stategram.counts.workspace import memory_in_use
from stategram.errors import UsageError
from stategram.resources import use_resources
from stategram.text import BEGIN, Corpus, Vocabulary
from texts import Sentences, endless_corpus, make_corpus

Counts = dict[tuple[int, ...], int]


@st.composite
def texts(draw: st.DrawFn, most_words: int = 40) -> tuple[Sentences, int]:
    n_words = draw(st.integers(3, most_words))
    words = st.sampled_from([id for id in range(n_words) if id not in (1, 2)])
    sentences = draw(st.lists(st.lists(words, max_size=15), max_size=20))
    return [[*sentence, 2] for sentence in sentences], n_words


def as_dicts(
    counts: NgramCounts, length: int
) -> tuple[dict[tuple[int, ...], int], dict[tuple[int, ...], int]]:
    ngrams, counted, continuations = counts.ngrams(length)
    names = [tuple(row) for row in ngrams.tolist()]
    assert len(set(names)) == len(names)
    return (
        dict(zip(names, counted.tolist(), strict=True)),
        dict(zip(names, continuations.tolist(), strict=True)),
    )


def everything(counts: NgramCounts) -> list[bytes]:
    return [
        array.tobytes()
        for level in counts.levels
        for array in (level.words, level.counts, level.first_child, level.suffixes, level.continuations)
    ]


@given(texts(), st.integers(1, 9), st.integers(1, 3))
def test_counts_are_those_of_the_twin(text: tuple[Sentences, int], order: int, threads: int) -> None:
    sentences, n_words = text
    counts = use_resources(threads=threads)(count_ngrams)(make_corpus(sentences, n_words), order)
    raw = raw_counts(sentences, order)
    adjusted = adjusted_counts(raw)
    for length in range(1, order + 1):
        found, continuations = as_dicts(counts, length)
        if length == 1 and sentences:
            assert found.pop((BEGIN,)) == len(sentences)
        assert found == raw[length - 1]
        if length < order:
            for ngram, count in raw[length - 1].items():
                assert (continuations[ngram] or count) == adjusted[length - 1][ngram]


@given(texts(), st.integers(2, 6))
def test_suffixes_lack_the_first_word(text: tuple[Sentences, int], order: int) -> None:
    counts = count_ngrams(make_corpus(*text), order)
    names: list[list[tuple[int, ...]]] = [[()]]
    for level, parents in zip(counts.levels[1:], counts.levels, strict=False):
        parent_of = np.searchsorted(parents.first_child, np.arange(len(level)), "right") - 1
        names.append([(*names[-1][p], w) for p, w in zip(parent_of, level.words.tolist(), strict=True)])
        assert names[-1] == sorted(names[-1])
        for name, suffix in zip(names[-1], level.suffixes.tolist(), strict=True):
            assert names[-2][suffix] == name[1:]


@given(texts(), st.integers(1, 5), st.data())
def test_ranges_of_first_words_are_the_whole(
    text: tuple[Sentences, int], order: int, data: st.DataObject
) -> None:
    corpus = make_corpus(*text)
    numbers = trie_numbers(text[1])
    ends = data.draw(st.lists(st.integers(1, text[1] - 1), max_size=4))
    edges = sorted({0, text[1], *ends})
    whole = _core.count_ngrams(
        corpus.ids, corpus.sentence_starts, numbers, int(numbers[BEGIN]), order, 0, text[1], 1
    )
    parts = [
        _core.count_ngrams(
            corpus.ids, corpus.sentence_starts, numbers, int(numbers[BEGIN]), order, first, last, 2
        )
        for first, last in itertools.pairwise(edges)
    ]
    for level in range(order):
        for array in range(2):
            joined = np.concatenate([part[level][array] for part in parts])
            assert joined.tolist() == whole[level][array].tolist()


def zipf_corpus(n_words: int, n_events: int = 60_000) -> Corpus:
    random = np.random.default_rng(3)
    ids = random.zipf(1.2, n_events).clip(max=n_words - 3).astype(np.uint32) + np.uint32(2)
    ids[random.integers(0, n_events, n_events // 20)] = 2
    ids[-1] = 2
    starts = np.concatenate(([0], np.flatnonzero(ids == 2) + 1)).astype(np.int64)
    return Corpus(ids, starts, Vocabulary.from_words(f"w{i}" for i in range(3, n_words)))


@pytest.mark.parametrize(("n_words", "order"), [(7, 9), (200, 5), (40_000, 4), (70_000, 9)])
def test_keys_of_every_width(n_words: int, order: int) -> None:
    """Words of 3, 8, 16 and 17 bits; keys of one, two and three limbs; parts that split a first word."""
    corpus = zipf_corpus(n_words)
    counts = use_resources(threads=1)(count_ngrams)(corpus, order)
    padded = np.insert(corpus.ids, corpus.sentence_starts[:-1], BEGIN).tolist()
    expected: Counter[tuple[int, ...]] = Counter()
    for begin in range(len(padded) - order + 1):
        ngram = tuple(padded[begin : begin + order])
        if 2 not in ngram[:-1]:
            expected[ngram] += 1
    assert as_dicts(counts, order)[0] == expected
    for threads in (2, 3):
        assert everything(use_resources(threads=threads)(count_ngrams)(corpus, order)) == everything(counts)


@pytest.mark.parametrize("range_size", [1, 1000, 20_000])
def test_ranges_and_files_change_nothing(range_size: int) -> None:
    corpus = zipf_corpus(500)
    expected = everything(use_resources(threads=2)(count_ngrams)(corpus, 4))
    workspace = Workspace()
    workspace.spill(0)
    with use_resources(threads=2):
        assert everything(count_ngrams(corpus, 4, range_size=range_size)) == expected
        assert everything(count_ngrams(corpus, 4, range_size=range_size, workspace=workspace)) == expected


def test_more_events_than_counters_hold_are_refused() -> None:
    for count in (count_ngrams, count_bigrams):
        with pytest.raises(UsageError, match="has 2,147,483,648 events, more than 2,147,483,647"):
            count(endless_corpus())


def test_memory_is_foreseen_anew_when_the_first_words_were_not_typical() -> None:
    """The first range is one word with few different n-grams; all others together have many."""
    n_words = 3000
    first = int(np.flatnonzero(trie_numbers(n_words) == 0)[0])
    random = np.random.default_rng(4)
    same = [[first, first, first, 2]] * 5000
    different = [[*random.integers(3, n_words, 10).tolist(), 2] for _ in range(2000)]
    corpus = make_corpus([*same, *different], n_words)
    expected = everything(count_ngrams(corpus, 3))
    workspace = use_resources(memory=memory_in_use() + 1_500_000)(Workspace)()
    assert everything(count_ngrams(corpus, 3, workspace=workspace, range_size=1000)) == expected
    assert workspace.spilling


def test_what_cannot_be_counted_is_refused() -> None:
    corpus = zipf_corpus(7, 100)
    for order in (0, 10):
        with pytest.raises(UsageError, match="1 to 9"):
            count_ngrams(corpus, order)
    with pytest.raises(UsageError, match="1 to 2 words, not of 3"):
        count_ngrams(corpus, 2).ngrams(3)
    bad: list[tuple[NDArray[np.uint32], NDArray[np.int64], str]] = [
        (np.array([9], np.uint32), np.array([0, 1], np.int64), "not below the number of types"),
        (np.array([2], np.uint32), np.array([0, 2], np.int64), "do not cover"),
        (np.array([2], np.uint32), np.array([1, 0], np.int64), "do not cover"),
        (np.array([2], np.uint32), np.array([], np.int64), "do not cover"),
    ]
    for ids, starts, message in bad:
        with pytest.raises(ValueError, match=message):
            _core.count_ngrams(ids, starts, trie_numbers(5), 1, 2, 0, 5, 2)
    with pytest.raises(ValueError, match="do not fit together"):
        _core.count_ngrams(corpus.ids, corpus.sentence_starts, trie_numbers(7), 1, 2, 5, 5, 1)


def test_a_suffix_that_is_not_there_is_refused() -> None:
    word, first_child, suffix, lower_first_child, lower_words = (
        np.array(values, np.uint32) for values in ([5], [0, 1], [0], [0, 2], [1, 4])
    )
    out, continuations = np.zeros(1, np.uint32), np.zeros(2, np.uint32)
    with pytest.raises(ValueError, match="lacks its suffix"):
        _core.link_ngrams(
            word, first_child, suffix, lower_first_child, lower_words, 6, 0, 1, out, continuations, 1
        )


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("words", "first_child", "suffix", "lower_first_child", "message"),
    [
        ([1, 6], [0, 2], [0], [0, 64], "not in rising order"),  # not below the vocabulary
        ([5, 4], [0, 2], [0], [0, 64], "not in rising order"),
        ([5, 5], [0, 2], [0], [0, 64], "not in rising order"),
        ([1, 4], [0, 9], [0], [0, 64], "do not fit together"),
        ([1, 4], [2, 0], [0], [0, 64], "do not fit together"),
        ([1, 4], [0, 2], [1], [0, 64], "do not fit together"),
        ([1, 4], [0, 2], [2**32 - 1], [0, 64], "do not fit together"),
        ([1, 4], [0, 2], [0], [0, 65], "do not fit together"),
        ([1, 4], [0, 2], [0], [64, 0], "do not fit together"),
        ([1, 4], [0] * 30 + [2], [2**32 - 1] * 30, [0, 64], "do not fit together"),
    ],
)
def test_levels_that_make_no_sense_are_refused(
    words: list[int],
    first_child: list[int],
    suffix: list[int],
    lower_first_child: list[int],
    message: str,
    threads: int,
) -> None:
    # So many that places are guessed.
    lower_words = np.minimum(np.arange(64), 5).astype(np.uint32)
    with pytest.raises(ValueError, match=message):
        _core.link_ngrams(
            np.array(words, np.uint32),
            np.array(first_child, np.uint32),
            np.array(suffix, np.uint32),
            np.array(lower_first_child, np.uint32),
            lower_words,
            6,
            0,
            len(suffix),
            np.zeros(2, np.uint32),
            np.zeros(64, np.uint32),
            threads,
        )
