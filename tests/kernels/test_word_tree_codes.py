"""The paths to the words of a tree: those of the twin, at most 32 decisions long, always a whole tree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from naive.word_tree_paths import word_tree_paths
from stategram import _core

BEGIN, END = 1, 2


def kernel_paths(counts: list[int], labels: list[int], merges: list[tuple[int, int]]) -> list[str]:
    codes, lengths = _core.word_tree_codes(
        np.array(counts, np.int64),
        np.array(labels, np.int64),
        np.array(merges, np.int64).reshape(-1),
        BEGIN,
        END,
    )
    paths = [f"{code:032b}"[:length] for code, length in zip(codes.tolist(), lengths.tolist(), strict=True)]
    assert all(code % 2 ** (32 - len(path)) == 0 for code, path in zip(codes.tolist(), paths, strict=True))
    return paths


def assert_twin(counts: list[int], labels: list[int], merges: list[tuple[int, int]]) -> list[str]:
    found = kernel_paths(counts, labels, merges)
    assert found == word_tree_paths(counts, labels, merges, BEGIN, END)
    assert found[BEGIN] == ""
    assert found[END] == "1"
    words = [path for word, path in enumerate(found) if word != BEGIN]
    assert all(1 <= len(path) <= 32 for path in words)
    assert sum(2 ** (32 - len(path)) for path in words) == 2**32
    assert len(set(words)) == len(words)
    return found


@st.composite
def hierarchies(draw: st.DrawFn, n_classes: int) -> list[tuple[int, int]]:
    alive, merges = list(range(n_classes)), []
    for number in range(n_classes, 2 * n_classes - 1):
        first = alive.pop(draw(st.integers(0, len(alive) - 1)))
        second = alive.pop(draw(st.integers(0, len(alive) - 1)))
        merges.append((first, second))
        alive.append(number)
    return merges


@given(st.data())
def test_the_kernel_is_its_twin(data: st.DataObject) -> None:
    n_classes = data.draw(st.integers(1, 8))
    merges = data.draw(hierarchies(n_classes))
    counts = data.draw(st.lists(st.sampled_from([0, 1, 1, 2, 3, 5, 100, 2**40]), min_size=4, max_size=40))
    label = st.integers(-1, n_classes - 1)
    labels = data.draw(st.lists(label, min_size=len(counts), max_size=len(counts)))
    assert_twin(counts, labels, merges)


def test_huffman_by_hand() -> None:
    assert assert_twin([1, 0, 9, 1, 2, 4], [0] * 6, []) == ["0110", "", "1", "0111", "010", "00"]


def test_classes_by_their_hierarchy() -> None:
    counts = [0, 0, 5, 1, 1, 1, 1]
    found = assert_twin(counts, [-1, -1, -1, 0, 1, 2, 2], [(2, 1), (0, 3)])
    # Class 0 has the word 3, and <unk>, which has no class; class 2 has two words, class 1 has one.
    assert found == ["000", "", "1", "001", "011", "0100", "0101"]


def test_words_as_frequent_as_fibonacci_numbers_are_not_too_deep() -> None:
    counts = [1, 1]
    while len(counts) < 60:
        counts.append(counts[-1] + counts[-2])
    assert max(map(len, assert_twin([0, 0, 0, *counts], [0] * 63, []))) == 32


@pytest.mark.parametrize("n_classes", [31, 32, 33, 40, 300])
@pytest.mark.parametrize("is_left", [False, True])
def test_hierarchies_like_caterpillars_are_not_too_deep(n_classes: int, is_left: bool) -> None:
    merges, last = [], 0
    for one in range(1, n_classes):
        merges.append((last, one) if is_left else (one, last))
        last = n_classes + one - 1
    paths = assert_twin([0, 0, 0, *[1] * n_classes], [0, -1, -1, *range(n_classes)], merges)
    assert max(map(len, paths)) <= 32
    assert len(paths[2 + n_classes]) == 2  # the last that joined is the first that parts


def test_one_word() -> None:
    assert assert_twin([7, 0, 0], [0, 0, 0], []) == ["0", "", "1"]


def test_classes_without_words_are_not_in_the_tree() -> None:
    assert assert_twin([0, 0, 0, 1], [0, 0, 0, 3], [(0, 1), (2, 3), (4, 5)]) == ["00", "", "1", "01"]


def longs(*values: int) -> NDArray[np.int64]:
    return np.array(values, np.int64)


@pytest.mark.parametrize(
    ("counts", "labels", "merges", "words", "message"),
    [
        (longs(1, 1, 1, 1), longs(0, 0, 0), longs(), (1, 2), "each word needs a class"),
        (longs(1, 1, 1, 1), longs(0, 0, 0, 0), longs(0), (1, 2), "each word needs a class"),
        (longs(1, 1, 1, 1), longs(0, 0, 0, 1), longs(), (1, 2), "a class that is not there"),
        (longs(1, 1, 1, -1), longs(0, 0, 0, 0), longs(), (1, 2), "a class that is not there"),
        (longs(1, 1, 1, 1), longs(0, 0, 0, 0), longs(), (1, 4), "special words"),
        (longs(1, 1, 1, 1), longs(0, 0, 0, 0), longs(), (4, 2), "special words"),
        (longs(1, 1), longs(0, 0), longs(), (0, 1), "special words"),
        (longs(1, 1, 1, 1), longs(0, 0, 0, 1), longs(0, 0), (1, 2), "not a tree"),
        (longs(1, 1, 1, 1), longs(0, 0, 0, 1), longs(0, 2), (1, 2), "not a tree"),
        (longs(1, 1, 1, 1), longs(0, 0, 0, 1), longs(0, -1), (1, 2), "not a tree"),
        (longs(1, 1, 1, 1), longs(0, 0, 1, 2), longs(0, 1, 0, 2), (1, 2), "not a tree"),
        (longs(1, 1, 1, 1), longs(0, 0, 1, 2), longs(0, 1, 2, 4), (1, 2), "not a tree"),
    ],
)
def test_what_is_no_tree_is_refused(
    counts: NDArray[np.int64],
    labels: NDArray[np.int64],
    merges: NDArray[np.int64],
    words: tuple[int, int],
    message: str,
) -> None:
    with pytest.raises(ValueError, match=message):
        _core.word_tree_codes(counts, labels, merges, *words)
