from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import naive.counts
from stategram import _core

THREADS = (1, 2, 3)


@st.composite
def streams(draw: st.DrawFn) -> tuple[list[int], int, int]:
    types = draw(st.integers(1, 40))
    ids = st.integers(0, types - 1)
    return draw(st.lists(ids, max_size=200)), draw(ids), types


def array(values: list[int]) -> NDArray[np.uint32]:
    return np.array(values, dtype=np.uint32)


def as_lists(rows: tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]) -> naive.counts.Rows:
    offsets, columns, counts = rows
    return offsets.tolist(), columns.tolist(), counts.tolist()


@given(streams())
def test_the_kernel_counts_as_its_twin_on_any_number_of_threads(stream: tuple[list[int], int, int]) -> None:
    ids, first, types = stream
    expected = naive.counts.count_bigrams(ids, first, types)
    for threads in THREADS:
        assert as_lists(_core.count_bigrams(array(ids), first, types, threads)) == expected


@given(streams())
def test_the_kernel_transposes_as_its_twin(stream: tuple[list[int], int, int]) -> None:
    ids, first, types = stream
    rows = _core.count_bigrams(array(ids), first, types, 1)
    transposed = _core.transpose_counts(*rows, types)
    assert as_lists(transposed) == naive.counts.transpose_counts(as_lists(rows))
    assert as_lists(_core.transpose_counts(*transposed, types)) == as_lists(rows)


@pytest.mark.parametrize("types", [65_535, 65_536, 100_003])
def test_pairs_at_the_edge_of_32_bit_keys(types: int) -> None:
    """The last type of 65,535 still fits a key of 32 bits; one type more needs 64."""
    last = types - 1
    ids = [last, last, 0, last, 1, last, last]
    expected = {(last, last): 3, (last, 0): 1, (0, last): 1, (last, 1): 1, (1, last): 1}
    for threads in THREADS:
        offsets, columns, counts = _core.count_bigrams(array(ids), last, types, threads)
        assert len(offsets) == types + 1
        rows = np.repeat(np.arange(types), np.diff(offsets))
        assert dict(zip(zip(rows.tolist(), columns.tolist(), strict=True), counts.tolist(), strict=True)) == (
            expected
        )


def test_a_long_stream_gives_the_same_bytes_on_any_number_of_threads() -> None:
    ids = np.random.default_rng(1).zipf(1.3, 200_000).clip(max=5000).astype(np.uint32) - np.uint32(1)
    one, *others = (_core.count_bigrams(ids, 0, 5000, threads) for threads in THREADS)
    assert int(one[2].sum()) == ids.size
    for other in others:
        assert [part.tobytes() for part in other] == [part.tobytes() for part in one]


def test_no_events_give_empty_rows() -> None:
    offsets, columns, counts = _core.count_bigrams(array([]), 0, 3, 2)
    assert (offsets.tolist(), columns.size, counts.size) == ([0, 0, 0, 0], 0, 0)


@pytest.mark.parametrize("threads", THREADS)
def test_an_id_out_of_range_is_refused(threads: int) -> None:
    with pytest.raises(ValueError, match="id is not below the number of types"):
        _core.count_bigrams(array([0, 1, 3, 0, 1, 2]), 0, 3, threads)


@pytest.mark.parametrize(
    ("first", "types", "threads", "message"),
    [
        (3, 3, 1, "first is not below the number of types"),
        (0, 0, 1, "first is not below the number of types"),
        (0, 3, 0, "threads must be at least 1"),
        (0, 3, -1, "threads must be at least 1"),
    ],
)
def test_parameters_out_of_range_are_refused(first: int, types: int, threads: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _core.count_bigrams(array([0]), first, types, threads)


@pytest.mark.parametrize("ids", [np.array([0.5]), np.zeros((2, 2), np.uint32), np.zeros(4, np.uint32)[::2]])
def test_arrays_that_are_not_flat_ids_are_refused(ids: NDArray[np.uint32]) -> None:
    with pytest.raises(TypeError):
        _core.count_bigrams(ids, 0, 3, 1)


@pytest.mark.parametrize(
    ("offsets", "columns", "counts"),
    [
        ([], [], []),
        ([0, 1], [0], [1, 1]),
        ([0, 2], [0], [1]),
        ([0, 9, 1], [0], [1]),
        ([-1, 1], [0], [1]),
        ([1, 1], [0], [1]),
    ],
    ids=["none", "counts", "end", "falling", "negative", "start"],
)
def test_rows_that_do_not_fit_together_are_refused(
    offsets: list[int], columns: list[int], counts: list[int]
) -> None:
    with pytest.raises(ValueError, match="do not fit together"):
        _core.transpose_counts(np.array(offsets, dtype=np.int64), array(columns), array(counts), 3)


def test_a_column_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="column is not below"):
        _core.transpose_counts(np.array([0, 1], dtype=np.int64), array([1]), array([1]), 1)
