"""The followers of all contexts: those of the twin, read back from their bytes, for any number of threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive.word_tree as naive
from stategram import _core
from word_tree_problems import (
    context_hashes,
    count_levels,
    ids,
    random_paths,
    random_words,
    tree_of,
    words_before,
)

Words = dict[int, naive.Follower]
MAX_SHORT_LIST, MAX_LEAF_LIST = 64, 24
CHAIN = (0, 3, 1)


def read_numbers(data: bytes) -> list[int]:
    """Seven bits in each byte; the last byte of a number is below 128."""
    numbers: list[int] = []
    number, shift = 0, 0
    for byte in data:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(number)
            number, shift = 0, 0
    assert shift == 0
    return numbers


def read_list(data: bytes, has_longer: bool) -> Words:
    """For each word the difference to the one before and whether it has more counts; then these."""
    found: Words = {}
    word, rest = 0, iter(read_numbers(data))
    for one in rest:
        word += one >> 1
        assert word not in found
        count = contexts = 1
        if one & 1:
            number = next(rest)
            count = (number >> 1 if has_longer else number) + 2
            contexts = next(rest) + 1 if has_longer and number & 1 else count
        found[word] = naive.Follower(count, contexts)
    return found


@dataclass(frozen=True)
class Level:
    """The contexts of a level by their bucket and the bits of their hash."""

    bits: int
    entries: dict[tuple[int, int], Words]

    @classmethod
    def read(cls, counted: tuple[Any, ...], has_longer: bool) -> Level:
        directory, entries, begins, long_words, counts, contexts = counted[:6]
        data = entries.tobytes()
        assert len(data) == 4 * directory[-1]
        found = {}
        for bucket, (begin, end) in enumerate(pairwise((4 * directory.astype(np.int64)).tolist())):
            at = begin
            while at + 4 <= end:
                check = int.from_bytes(data[at : at + 3], "little")
                width = next(i for i in range(1, 5) if data[at + 2 + i] < 128)
                (number,) = read_numbers(data[at + 3 : at + 3 + width])
                at += 3 + width
                if number % 2 == 0:
                    entry = {number // 2: naive.Follower(1, 1)}
                elif number == 1:
                    place = int.from_bytes(data[at : at + 4], "little")
                    of_list = slice(begins[place], begins[place + 1])
                    rows = zip(counts[of_list].tolist(), contexts[of_list].tolist(), strict=True)
                    followers = map(naive.Follower._make, rows)
                    entry = dict(zip(long_words[of_list].tolist(), followers, strict=True))
                    assert len(entry) > MAX_SHORT_LIST or any(one.counts > 1 for one in entry.values())
                    at += 4
                else:
                    entry = read_list(data[at : at + number // 2], has_longer)
                    assert len(entry) <= MAX_SHORT_LIST
                    at += number // 2
                assert (bucket, check) not in found
                found[bucket, check] = entry
            assert at <= end
            assert not any(data[at:end])  # zeros fill the bucket up
        return cls((len(directory) - 1).bit_length() - 1, found)

    def find(self, hash: int) -> Words | None:
        return self.entries.get((hash >> (64 - self.bits), hash >> 4 & 0xFFFFFF))


def find(levels: Sequence[Level], hashes: Sequence[int]) -> list[Words | None]:
    """Return the followers of the contexts of all levels by their hashes, None for unknown ones."""
    found: list[Words | None] = [None] * len(levels)
    for i, (level, hash) in enumerate(zip(levels, hashes, strict=True)):
        found[i] = level.find(hash) if hash else None
        if found[i] is None:
            break
    return found


def assert_twin(
    events: Sequence[naive.Event], streams: Sequence[int], min_count: int = 2, has_longer: bool = True
) -> None:
    def count(threads: int, events_per_pass: int) -> list[tuple[Any, ...]]:
        return count_levels(
            events,
            streams,
            min_count=min_count,
            has_longer=has_longer,
            threads=threads,
            events_per_pass=events_per_pass,
        )

    counted = count(1, 2**22)
    levels = [Level.read(one, has_longer and number < len(streams)) for number, one in enumerate(counted, 1)]
    depths = range(1, len(streams) + 1)
    hashes = np.stack([context_hashes(events, streams[:depth]) for depth in depths], axis=1).tolist()
    found: list[dict[naive.Context, Words]] = [{} for _ in depths]
    for event, of_event in zip(events, hashes, strict=True):
        for depth, words in zip(depths, find(levels, of_event), strict=True):
            context = naive.context_of(event.values, streams[:depth])
            if words is not None and context is not None:
                found[depth - 1][context] = words
    for depth, one in zip(depths, counted, strict=True):
        expected = naive.followers(events, streams, depth, 1 if depth == 1 else min_count)
        if not has_longer:
            expected = {
                context: {word: naive.Follower(of.counts, of.counts) for word, of in words.items()}
                for context, words in expected.items()
            }
        assert found[depth - 1] == expected
        n = [of.contexts for words in expected.values() for of in words.values()]
        assert one[6:] == (len(expected), len(n), (n.count(1), n.count(2)))
    for threads, events_per_pass in ((1, 0), (2, 2**22), (3, 5000)):
        for one, other in zip(counted, count(threads, events_per_pass), strict=True):
            assert all(a.tobytes() == b.tobytes() for a, b in zip(one[:6], other[:6], strict=True))
            assert one[6:] == other[6:]


words = st.sampled_from([0, 2, 3, 4, 5, 200, 20_000])


@given(st.lists(words, max_size=60), st.integers(1, 3), st.booleans())
def test_the_kernel_is_its_twin(text: list[int], min_count: int, has_longer: bool) -> None:
    if text:
        assert_twin(words_before(text), CHAIN, min_count, has_longer)


def test_nothing() -> None:
    directory, entries, begins, *long_lists, contexts, ngrams, seen = _core.count_chain_level(
        np.zeros(0, np.uint64), ids([]), None, 1, 2
    )
    assert (contexts, ngrams, seen) == (0, 0, (0, 0))
    assert (directory.tolist(), entries.tolist(), begins.tolist()) == ([0, 0, 0], [], [0])
    assert not any(map(len, long_lists))


@pytest.mark.parametrize("min_count", [1, 2, 3])
def test_long_texts(min_count: int) -> None:
    """Many parts and buckets, and lists of more than 64 words."""
    assert_twin(words_before(random_words(20_000, 300, 1)), CHAIN, min_count)


@pytest.mark.parametrize("n_words", [63, 64, 65, 127, 128, 129])
@pytest.mark.parametrize("times", [1, 2, 5000])
def test_lists_at_the_edge_of_long_ones(n_words: int, times: int) -> None:
    """Longer than 64 words, or than 254 bytes."""
    followers = [3 + 700 * i for i in range(n_words)]
    text = [word for i, one in enumerate(followers) for word in (one, 2) * (times if i == 7 else 1)]
    events = words_before(text)
    assert_twin(events, CHAIN)
    assert_twin(events, CHAIN[:1])
    (counted,) = count_levels(events, CHAIN[:1])
    is_long = len(counted[3]) > 0
    assert is_long == (n_words > MAX_SHORT_LIST)


def test_lists_of_many_bytes_are_long() -> None:
    """64 words of five bytes each are more than an entry can hold."""
    text = [word for i in range(60) for word in (2**20 * (i + 1), 2) * 300]
    events = words_before(text)
    assert len(count_levels(events, CHAIN)[0][3]) == 60
    assert_twin(events, CHAIN)


def test_sentence_starts_have_no_longer_contexts() -> None:
    """After <s>, at the start of a sentence, there is no word before: each event is a context of its own."""
    events = words_before([3, 2, 3, 2, 3, 4, 2])
    assert naive.followers(events, (0, 1), 1)[1,] == {3: naive.Follower(3, 3)}
    assert naive.followers(events, (0, 1), 2) == {
        (3, 1): {2: naive.Follower(2, 2), 4: naive.Follower(1, 1)},
        (4, 3): {2: naive.Follower(1, 1)},
    }
    assert_twin(events, (0, 1))


# ---- long lists in the order of a tree


@dataclass
class LongList:
    """The bytes of a long list from a place on, and the ranks of all words."""

    data: bytes
    at: int
    paths: list[str]
    has_longer: bool

    @property
    def ranks(self) -> dict[int, int]:
        words = sorted((path, word) for word, path in enumerate(self.paths) if path)
        return {word: rank for rank, (_, word) in enumerate(words)}

    def read(self, width: int) -> int:
        self.at += width
        return int.from_bytes(self.data[self.at - width : self.at], "little")

    def read_node(self) -> tuple[int, int, int, int, int]:
        """Return a node, the bytes of its left side, and its types, counts and contexts."""
        control = self.read(1)
        assert control % 2 == 0
        of_types = (control >> 5 & 3) + 1
        node, skip = self.read((control >> 1 & 3) + 1), self.read((control >> 3 & 3) + 1)
        types, counts = self.read(of_types), self.read(of_types + (control >> 7))
        return node, skip, types, counts, self.read(of_types + (control >> 7)) if self.has_longer else counts

    def check(self, words: Words, low: int) -> None:
        """Check that the words come next; their ranks are at least `low`."""
        if len(words) <= MAX_LEAF_LIST:
            control = self.read(1)
            size = self.read(2) if control == 255 else control >> 1
            assert control % 2 == 1
            self.at += size
            found = read_list(self.data[self.at - size : self.at], self.has_longer)
            assert found == {self.ranks[word] - low: one for word, one in words.items()}
            return
        node, skip, *of_left = self.read_node()
        prefix = self.paths[min(words, key=lambda word: self.paths[word])]
        last = self.paths[max(words, key=lambda word: self.paths[word])]
        depth = next(i for i, (a, b) in enumerate(zip(prefix, last, strict=False)) if a != b)
        node += low
        assert node == min(
            rank for word, rank in self.ranks.items() if self.paths[word].startswith(last[: depth + 1])
        )
        left, right = (
            {word: one for word, one in words.items() if self.paths[word][depth] == bit} for bit in "01"
        )
        assert tuple(of_left) == sums(left)
        begin = self.at
        self.check(left, low)
        assert self.at == begin + skip
        self.check(right, node)


def sums(words: Words) -> tuple[int, int, int]:
    followers = words.values()
    return len(words), sum(one.counts for one in followers), sum(one.contexts for one in followers)


@pytest.mark.parametrize("has_longer", [False, True])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_long_lists_are_divided_by_the_nodes_where_their_words_part(seed: int, has_longer: bool) -> None:
    random = np.random.default_rng(seed)
    paths = random_paths(400, seed)
    begins, lists = [0], []
    for size in (65, 1, 24, 25, 399, 100):
        chosen = random.permutation([word for word in range(400) if word != 1])[:size]
        counts = random.zipf(1.5, size) % 1000 + 1
        contexts = random.integers(1, counts + 1) if has_longer else counts
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
        has_longer,
    )
    list_begins, data = _core.divide_long_lists(*arguments, 1)
    for words, begin, end in zip(lists, list_begins, list_begins[1:], strict=False):
        reader = LongList(data.tobytes(), int(begin), paths, has_longer)
        assert reader.read_node() == (0, 0, *sums(words))
        reader.check(words, 0)
        assert reader.at == end
    for threads in (2, 3):
        other = _core.divide_long_lists(*arguments, threads)
        assert [array.tobytes() for array in other] == [array.tobytes() for array in (list_begins, data)]
