"""The followers of all contexts: those of the twin, read back from their bytes, for any number of threads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import naive.word_tree as naive
from stategram import _core
from word_tree_problems import (
    context_hashes,
    ids,
    random_paths,
    random_words,
    stream_of,
    tree_of,
    words_before,
)

Words = dict[int, naive.Follower]
MAX_SHORT_LIST, MAX_LEAF_LIST, LONG_LIST = 64, 24, 255
CHAIN = (0, 3, 1)


def read_list(data: bytes, is_last: bool) -> Words:
    """For each word the difference to the one before and whether it has more counts; then these."""
    found: Words = {}
    numbers: list[int] = []
    number, shift = 0, 0
    for byte in data:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(number)
            number, shift = 0, 0
    assert shift == 0
    word, rest = 0, iter(numbers)
    for one in rest:
        word += one >> 1
        assert word not in found
        count = contexts = 1
        if one & 1:
            count = next(rest) + 2
            contexts = count if is_last else next(rest) + 1
        found[word] = naive.Follower(count, contexts)
    return found


def read_level(counted: tuple[Any, ...], is_last: bool) -> dict[tuple[int, int], Words]:
    """Return the followers of each context by its bucket and the bits of its hash."""
    directory, entries, begins, long_words, counts, contexts = counted[:6]
    data = entries.tobytes()
    assert len(data) == 4 * directory[-1]
    found = {}
    for bucket, (begin, end) in enumerate(pairwise((4 * directory.astype(np.int64)).tolist())):
        at = begin
        while at + 4 <= end:  # zeros fill the bucket up
            header = int.from_bytes(data[at : at + 4], "little")
            size, check = header >> 24, header & 0xFFFFFF
            if size == 0:
                assert not any(data[at:end])
                break
            if size == LONG_LIST:
                number, size = int.from_bytes(data[at + 4 : at + 8], "little"), 4
                of_list = slice(begins[number], begins[number + 1])
                rows = zip(counts[of_list].tolist(), contexts[of_list].tolist(), strict=True)
                followers = list(map(naive.Follower._make, rows))
                words = dict(zip(long_words[of_list].tolist(), followers, strict=True))
                assert len(words) > MAX_SHORT_LIST or sum(one.counts > 1 for one in words.values()) > 0
            else:
                words = read_list(data[at + 4 : at + 4 + size], is_last)
                assert len(words) <= MAX_SHORT_LIST
            assert (bucket, check) not in found
            found[bucket, check] = words
            at += 4 + size
    return found


def count(
    events: Sequence[naive.Event], streams: Sequence[int], level: int, min_count: int, threads: int
) -> tuple[Any, ...]:
    after = stream_of(events, streams[level]) if level < len(streams) else None
    hashes = context_hashes(events, streams[:level], threads)
    return _core.count_chain_level(hashes, ids([event.word for event in events]), after, min_count, threads)


def assert_twin(events: Sequence[naive.Event], streams: Sequence[int], level: int, min_count: int) -> None:
    expected = naive.followers(events, streams, level, min_count)
    counted = count(events, streams, level, min_count, 1)
    hashes = context_hashes(events, streams[:level])
    bits = (len(counted[0]) - 1).bit_length() - 1
    contexts = {
        (hash >> (64 - bits), hash >> 4 & 0xFFFFFF): naive.context_of(event.values, streams[:level])
        for hash, event in zip(hashes.tolist(), events, strict=True)
        if hash
    }
    found = {contexts[key]: words for key, words in read_level(counted, level == len(streams)).items()}
    assert found == expected
    n = [one.contexts for words in expected.values() for one in words.values()]
    assert counted[6:] == (len(expected), len(n), (n.count(1), n.count(2)))
    for threads in (2, 3):
        other = count(events, streams, level, min_count, threads)
        assert all(a.tobytes() == b.tobytes() for a, b in zip(counted[:6], other[:6], strict=True))
        assert other[6:] == counted[6:]


words = st.sampled_from([0, 2, 3, 4, 5, 200, 20_000])


@given(st.lists(words, max_size=60), st.integers(1, 3), st.integers(1, 3))
def test_the_kernel_is_its_twin(text: list[int], level: int, min_count: int) -> None:
    if text:
        assert_twin(words_before(text), CHAIN, level, min_count)


def test_nothing() -> None:
    directory, entries, begins, *long_lists, contexts, ngrams, seen = _core.count_chain_level(
        np.zeros(0, np.uint64), ids([]), None, 1, 2
    )
    assert (contexts, ngrams, seen) == (0, 0, (0, 0))
    assert (directory.tolist(), entries.tolist(), begins.tolist()) == ([0, 0, 0], [], [0])
    assert not any(map(len, long_lists))


@pytest.mark.parametrize("level", [1, 2, 3])
def test_long_texts(level: int) -> None:
    """Many parts and buckets, and lists of more than 64 words."""
    assert_twin(words_before(random_words(20_000, 300, 1)), CHAIN, level, 1)


@pytest.mark.parametrize("n_words", [63, 64, 65, 127, 128, 129])
@pytest.mark.parametrize("times", [1, 2, 5000])
def test_lists_at_the_edge_of_long_ones(n_words: int, times: int) -> None:
    """Longer than 64 words, or than 254 bytes."""
    followers = [3 + 700 * i for i in range(n_words)]
    text = [word for i, one in enumerate(followers) for word in (one, 2) * (times if i == 7 else 1)]
    events = words_before(text)
    assert_twin(events, CHAIN, 1, 1)
    assert_twin(events, CHAIN[:1], 1, 1)
    is_long = len(count(events, CHAIN[:1], 1, 1, 1)[3]) > 0
    assert is_long == (n_words > MAX_SHORT_LIST)


def test_lists_of_many_bytes_are_long() -> None:
    """64 words of five bytes each are more than an entry can hold."""
    text = [word for i in range(60) for word in (2**22 * (i + 1), 2) * 300]
    events = words_before(text)
    counted = count(events, CHAIN, 1, 1, 1)
    assert len(counted[3]) == 60
    assert_twin(events, CHAIN, 1, 1)


def test_sentence_starts_have_no_longer_contexts() -> None:
    """After <s>, at the start of a sentence, there is no word before: each event is a context of its own."""
    events = words_before([3, 2, 3, 2, 3, 4, 2])
    assert naive.followers(events, (0, 1), 1)[1,] == {3: naive.Follower(3, 3)}
    assert naive.followers(events, (0, 1), 2) == {
        (3, 1): {2: naive.Follower(2, 2), 4: naive.Follower(1, 1)},
        (4, 3): {2: naive.Follower(1, 1)},
    }
    for level in (1, 2):
        assert_twin(events, (0, 1), level, 1)


# ---- long lists in the order of a tree


def read_long(
    records: NDArray[np.uint32], data: bytes, at: int, paths: list[str], is_last: bool, words: Words
) -> int:
    """Check the records from one on, which is of `words`; return the number after them."""
    node, skip, types, counts, contexts = records[at].tolist()
    if node == _core.NO_VALUE:
        assert read_list(data[types : types + skip], is_last) == words
        assert len(words) <= MAX_LEAF_LIST
        return at + 1
    assert len(words) > MAX_LEAF_LIST
    ranked = sorted(path for path in paths if path)
    prefix = paths[min(words, key=lambda word: paths[word])]
    last = paths[max(words, key=lambda word: paths[word])]
    depth = next(i for i, (a, b) in enumerate(zip(prefix, last, strict=False)) if a != b)
    assert node == min(i for i, path in enumerate(ranked) if path.startswith(last[: depth + 1]))
    left, right = ({word: one for word, one in words.items() if paths[word][depth] == bit} for bit in "01")
    assert (types, counts, contexts) == sums(left)
    after_left = read_long(records, data, at + 1, paths, is_last, left)
    assert at + skip == after_left
    return read_long(records, data, after_left, paths, is_last, right)


def sums(words: Words) -> tuple[int, int, int]:
    followers = words.values()
    return len(words), sum(one.counts for one in followers), sum(one.contexts for one in followers)


@pytest.mark.parametrize("is_last", [False, True])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_long_lists_are_divided_by_the_nodes_where_their_words_part(seed: int, is_last: bool) -> None:
    random = np.random.default_rng(seed)
    paths = random_paths(400, seed)
    begins, lists = [0], []
    for size in (65, 1, 24, 25, 399, 100):
        chosen = random.permutation([word for word in range(400) if word != 1])[:size]
        counts = random.zipf(1.5, size) % 1000 + 1
        contexts = counts if is_last else random.integers(1, counts + 1)
        # A word that was seen once was seen in one context.
        lists.append(
            {
                word: naive.Follower(n, m)
                for word, n, m in zip(chosen.tolist(), counts.tolist(), contexts.tolist(), strict=True)
            }
        )
        begins.append(begins[-1] + size)
    arguments = (
        np.array(begins, np.int64),
        ids([word for words in lists for word in words]),
        ids([one.counts for words in lists for one in words.values()]),
        ids([one.contexts for words in lists for one in words.values()]),
        *tree_of(paths),
        is_last,
    )
    record_begins, records, data = _core.divide_long_lists(*arguments, 1)
    table = records.reshape(-1, 5)
    for words, begin, end in zip(lists, record_begins, record_begins[1:], strict=False):
        assert tuple(table[begin][2:].tolist()) == sums(words)
        assert read_long(table, data.tobytes(), int(begin) + 1, paths, is_last, words) == end
    for threads in (2, 3):
        other = _core.divide_long_lists(*arguments, threads)
        assert [array.tobytes() for array in other] == [
            array.tobytes() for array in (record_begins, records, data)
        ]
