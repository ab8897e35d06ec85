"""Contexts counted, found and summed: the kernels give what the twins give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import naive.contexts as naive
from stategram import _core

BEFORE = 1
Counted = list[tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]]


@dataclass(frozen=True)
class Problem:
    sentences: list[list[int]]
    n_words: int
    context: naive.Context

    @property
    def ids(self) -> NDArray[np.uint32]:
        return np.array([id for sentence in self.sentences for id in sentence], np.uint32)

    @property
    def starts(self) -> NDArray[np.int64]:
        return np.cumsum([0, *map(len, self.sentences)], dtype=np.int64)

    @property
    def maps(self) -> list[NDArray[np.uint32]]:
        return [np.array(values, np.uint32) for values in self.context.maps]

    @property
    def n_values(self) -> int:
        return max(self.n_words, *(max(values) + 1 for values in self.context.maps))

    def count(self, first: int, last: int, threads: int = 1) -> Counted:
        return _core.count_contexts(
            self.ids,
            self.starts,
            BEFORE,
            self.maps,
            list(self.context.distances),
            self.n_values,
            first,
            last,
            threads,
        )


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    n_words = draw(st.sampled_from([3, 4, 7, 40]))
    word = st.integers(0, n_words - 1)
    sentences = draw(st.lists(st.lists(word, max_size=9), max_size=12))
    depth = draw(st.integers(1, 8))
    # The words themselves, few tags, and categories with far more numbers than there are words.
    kinds = [
        st.just(list(range(n_words))),
        st.lists(st.integers(0, 2), min_size=n_words, max_size=n_words),
        st.lists(st.integers(0, 300), min_size=n_words, max_size=n_words),
    ]
    maps = draw(st.lists(st.one_of(kinds), min_size=depth, max_size=depth))
    # Gaps, the same place twice, and places beyond every sentence.
    distances = draw(st.lists(st.sampled_from([1, 1, 2, 3, 4, 7, 255]), min_size=depth, max_size=depth))
    return Problem(sentences, n_words, naive.Context(maps, distances, BEFORE))


def rows_of_children(first_child: NDArray[np.uint32]) -> list[int]:
    """The parent of each child."""
    return [row for row, (a, b) in enumerate(pairwise(first_child.tolist())) for _ in range(a, b)]


def as_dictionaries(levels: Counted, firsts: range) -> list[dict[naive.Node, dict[int, int]]]:
    """Follow the children from the first level down: the words after each node, by its values."""
    *nodes, (words, word_counts, no_children) = levels
    assert not len(no_children)
    assert nodes[0][0].tolist() == list(firsts)
    names: list[naive.Node] = [()]
    first_child = np.array([0, len(firsts)], np.uint32)
    found: list[dict[naive.Node, dict[int, int]]] = []
    totals = []
    for depth, (values, counts, children) in enumerate(nodes, 1):
        assert first_child[-1] == len(values) == len(counts) == len(children) - 1
        parents = rows_of_children(first_child)
        names = [(*names[parent], value) for parent, value in zip(parents, values.tolist(), strict=True)]
        assert names == sorted(set(names))
        # Only the first level has nodes for what the text lacks.
        assert depth == 1 or counts.all()
        found.append({name: {} for name, count in zip(names, counts.tolist(), strict=True) if count})
        totals.append({name: count for name, count in zip(names, counts.tolist(), strict=True) if count})
        first_child = children
    assert first_child[-1] == len(words) == len(word_counts)
    rows = rows_of_children(first_child)
    for row, word, count in zip(rows, words.tolist(), word_counts.tolist(), strict=True):
        for depth, level in enumerate(found, 1):
            after = level[names[row][:depth]]
            after[word] = after.get(word, 0) + count
    for level, total in zip(found, totals, strict=True):
        assert {name: sum(after.values()) for name, after in level.items()} == total
    return found


@given(problems(), st.data())
def test_contexts_are_those_of_the_twin(problem: Problem, data: st.DataObject) -> None:
    expected = naive.count_contexts(problem.sentences, problem.context)
    whole = as_dictionaries(problem.count(0, problem.n_values), range(problem.n_values))
    assert whole == expected
    cuts = data.draw(st.lists(st.integers(1, problem.n_values - 1), max_size=3, unique=True))
    together: list[dict[naive.Node, Any]] = [{} for _ in expected]
    for first, last in zip([0, *sorted(cuts)], [*sorted(cuts), problem.n_values], strict=True):
        for level, part in zip(
            together, as_dictionaries(problem.count(first, last), range(first, last)), strict=True
        ):
            level.update(part)
    assert together == expected


@given(problems())
def test_contexts_do_not_depend_on_the_number_of_threads(problem: Problem) -> None:
    one, two, three = (problem.count(0, problem.n_values, threads) for threads in (1, 2, 3))
    for level in range(len(one)):
        for array in range(3):
            assert one[level][array].tobytes() == two[level][array].tobytes()
            assert one[level][array].tobytes() == three[level][array].tobytes()


def test_a_longer_text_with_wide_keys() -> None:
    random = np.random.default_rng(3)
    n_words = 70_000  # 17 bits a value: nine symbols fill three limbs, and five with more
    sentences = [(random.zipf(1.3, 11) % n_words).tolist() for _ in range(400)]
    for depth in (1, 3, 7, 8):
        context = naive.Context([range(n_words)] * depth, range(1, depth + 1), BEFORE)
        problem = Problem(sentences, n_words, context)
        expected = naive.count_contexts(sentences, context)
        for threads in (1, 3):
            assert as_dictionaries(problem.count(0, n_words, threads), range(n_words)) == expected


# ---- finding


def flat(levels: Sequence[Sequence[naive.Node]]) -> tuple[list[NDArray[np.uint32]], list[NDArray[np.uint32]]]:
    """Lay sorted nodes out as the kernel wants them: first children, from the root on, and values."""
    first_child, symbols = [], []
    above: Sequence[naive.Node] = [()]
    for level in levels:
        sizes = [sum(node[:-1] == parent for node in level) for parent in above]
        first_child.append(np.cumsum([0, *sizes]).astype(np.uint32))
        symbols.append(np.array([node[-1] for node in level], np.uint32))
        above = level
    return first_child, symbols


@given(problems(), st.data())
def test_contexts_are_found_where_the_twin_finds_them(problem: Problem, data: st.DataObject) -> None:
    # A tree of some of the sentences, in which some contexts of the others are unknown.
    known = problem.sentences[: data.draw(st.integers(0, len(problem.sentences)))]
    tree = naive.count_contexts(known, problem.context)
    nodes = [sorted(level) for level in tree]
    expected = [
        naive.find_context(tree, problem.context.values(sentence, place))
        for sentence in problem.sentences
        for place in range(len(sentence))
    ]
    first_child, symbols = flat(nodes)
    for threads in (1, 2, 3):
        found, levels = _core.find_contexts(
            problem.ids,
            problem.starts,
            BEFORE,
            problem.maps,
            list(problem.context.distances),
            first_child,
            symbols,
            threads,
        )
        assert levels.tolist() == [len(node) for node in expected]
        for at, node in zip(found.tolist(), expected, strict=True):
            assert (nodes[len(node) - 1][at] if node else ()) == node


@given(problems(), st.data())
def test_a_damaged_tree_is_refused_or_gives_some_node_of_it(problem: Problem, data: st.DataObject) -> None:
    first_child, symbols = flat(
        [sorted(level) for level in naive.count_contexts(problem.sentences, problem.context)]
    )
    hostile = st.sampled_from([0, 1, 2, 5, 1000, 2**31, 2**32 - 1])
    for arrays in (first_child, symbols):
        array = data.draw(st.sampled_from(arrays))
        if len(array):
            array[data.draw(st.integers(0, len(array) - 1))] = data.draw(hostile)
    if data.draw(st.booleans()):
        which = data.draw(st.integers(0, len(symbols) - 1))
        symbols[which] = symbols[which][: data.draw(st.integers(0, len(symbols[which])))].copy()
        first_child[which] = first_child[which][: data.draw(st.integers(0, len(first_child[which])))].copy()
    distances = list(problem.context.distances)
    arguments = (problem.ids, problem.starts, BEFORE, problem.maps, distances, first_child, symbols, 2)
    try:
        nodes, levels = _core.find_contexts(*arguments)
    except ValueError:
        return
    for node, level in zip(nodes.tolist(), levels.tolist(), strict=True):
        assert node < len(symbols[level - 1]) if level else node == 0


# ---- rows

rows_of_counts = st.lists(
    st.dictionaries(st.integers(0, 9), st.sampled_from([1, 2, 70_000]), max_size=6), max_size=12
)


def compressed(rows: Sequence[naive.Row]) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]:
    return (
        np.cumsum([0, *map(len, rows)], dtype=np.int64),
        np.array([column for row in rows for column in sorted(row)], np.uint32),
        np.array([row[column] for row in rows for column in sorted(row)], np.uint32),
    )


@given(rows_of_counts, st.data())
def test_sums_of_rows_are_those_of_the_twin(rows: list[dict[int, int]], data: st.DataObject) -> None:
    group = st.lists(st.integers(0, len(rows) - 1), max_size=8) if rows else st.just([])
    groups = data.draw(st.lists(group, max_size=40))
    members = np.array([row for one in groups for row in one], np.uint32)
    offsets = np.cumsum([0, *map(len, groups)], dtype=np.int64)
    expected = compressed(naive.sum_rows(rows, groups))
    for threads in (1, 2, 3):
        found = _core.sum_rows(*compressed(rows), members, offsets, 10, threads)
        assert [array.tobytes() for array in found] == [array.tobytes() for array in expected]


@given(rows_of_counts, st.sampled_from([10, 11, 50]))
def test_the_transpose_is_that_of_the_twin(rows: list[dict[int, int]], n_columns: int) -> None:
    expected = compressed(naive.transposed(rows, n_columns))
    found = _core.transpose_counts(*compressed(rows), n_columns)
    assert [array.tobytes() for array in found] == [array.tobytes() for array in expected]


# ---- what is refused

IDS = np.array([0, 2], np.uint32)
STARTS = np.array([0, 2], np.int64)
WORDS = np.arange(3, dtype=np.uint32)
COUNT: dict[str, Any] = {
    "ids": IDS,
    "sentence_starts": STARTS,
    "before": 1,
    "maps": [WORDS],
    "distances": [1],
    "n_values": 3,
    "first": 0,
    "last": 3,
    "threads": 1,
}
FIND: dict[str, Any] = {
    **{name: COUNT[name] for name in ("ids", "sentence_starts", "before", "maps", "distances", "threads")},
    "first_child": [np.array([0, 3], np.uint32)],
    "symbols": [WORDS],
}
BAD_TEXT: list[dict[str, Any]] = [
    {"maps": [], "distances": []},
    {"distances": [1, 1]},
    {"distances": [0]},
    {"before": 3},
    {"ids": IDS + np.uint32(1)},
    {"sentence_starts": np.array([], np.int64)},
    {"sentence_starts": np.array([0, 1], np.int64)},
    {"sentence_starts": np.array([1, 2], np.int64)},
    {"sentence_starts": np.array([0, 2, 1, 2], np.int64)},
]


@pytest.mark.parametrize(
    "changes",
    [
        *BAD_TEXT,
        {"maps": [WORDS] * 9, "distances": [1] * 9},
        {"maps": [WORDS, WORDS[:2]], "distances": [1, 2]},
        {"maps": [WORDS + np.uint32(1)]},
        {"n_values": 2},
        {"n_values": 2**32 - 1},
        {"first": 3},
        {"last": 4},
    ],
)
def test_what_counting_refuses(changes: dict[str, Any]) -> None:
    _core.count_contexts(**COUNT)
    with pytest.raises(ValueError, match=r"\w"):
        _core.count_contexts(**{**COUNT, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        *BAD_TEXT,
        {"first_child": []},
        {"symbols": []},
        {"first_child": [np.array([0], np.uint32)]},
        {"first_child": [np.array([0, 4], np.uint32)]},
        {"first_child": [np.array([2, 1], np.uint32)]},
    ],
)
def test_what_finding_refuses(changes: dict[str, Any]) -> None:
    _core.find_contexts(**FIND)
    with pytest.raises(ValueError, match=r"\w"):
        _core.find_contexts(**{**FIND, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"offsets": np.array([], np.int64)},
        {"offsets": np.array([0, 2, 1, 2], np.int64)},
        {"offsets": np.array([0, 1], np.int64)},
        {"columns": np.array([0, 5], np.uint32)},
        {"counts": np.array([1], np.uint32)},
        {"counts": np.array([1, 0], np.uint32)},
        {"rows": np.array([2], np.uint32)},
        {"group_offsets": np.array([], np.int64)},
        {"group_offsets": np.array([0, 2], np.int64)},
        {"group_offsets": np.array([-1, 1], np.int64)},
        {"group_offsets": np.array([1, 0], np.int64)},
    ],
)
def test_what_summing_refuses(changes: dict[str, Any]) -> None:
    fine: dict[str, Any] = {
        "offsets": np.array([0, 1, 2], np.int64),
        "columns": np.array([0, 4], np.uint32),
        "counts": np.array([1, 2], np.uint32),
        "rows": np.array([1], np.uint32),
        "group_offsets": np.array([0, 1], np.int64),
        "n_columns": 5,
        "threads": 1,
    }
    _core.sum_rows(**fine)
    with pytest.raises(ValueError, match=r"\w"):
        _core.sum_rows(**{**fine, **changes})


def test_what_transposing_refuses() -> None:
    offsets, columns = np.array([0, 1], np.int64), np.array([4], np.uint32)
    with pytest.raises(ValueError, match="not below their number"):
        _core.transpose_counts(offsets, columns, columns, 4)
    with pytest.raises(ValueError, match="do not fit together"):
        _core.transpose_counts(offsets[:1], columns, columns, 5)
