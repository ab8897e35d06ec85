"""Counts of categories after states: the same as those of a full table, with memory for what is there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray

from stategram import _core
from stategram.models.state_counts import StateCounts

TABLES = arrays(
    np.uint32,
    array_shapes(min_dims=2, max_dims=2, max_side=20),
    elements=st.sampled_from([0, 0, 0, 0, 0, 0, 1, 2, 3, 9]),
)


def probabilities(table: NDArray[np.uint32], fractions: NDArray[np.float64]) -> NDArray[np.float64]:
    """p(g | s) = (N(s,g) - D(N(s,g))) / N(s) + fractions(g) sum_g' D(N(s,g')) / N(s)"""
    discounts = np.array([0.0, 0.7, 1.1, 1.5])[np.minimum(table, 3)]
    total = table.sum(axis=1, keepdims=True)
    own, taken = (table - discounts) / np.maximum(total, 1), discounts.sum(axis=1, keepdims=True)
    found: NDArray[np.float64] = own + np.where(total, taken / np.maximum(total, 1), 1.0) * fractions
    return found


@given(TABLES, st.integers(0, 9))
def test_they_are_those_of_the_full_table(table: NDArray[np.uint32], seed: int) -> None:
    counts = StateCounts.from_table(table)
    assert counts.shape == table.shape
    assert [counts.row(state).tolist() for state in range(len(table))] == table.tolist()
    assert counts.of_states.tolist() == table.sum(axis=1).tolist()
    assert counts.of_categories.tolist() == table.sum(axis=0).tolist()
    again = StateCounts.from_arrays(counts.arrays(), *table.shape)
    assert again.offsets.tolist() == counts.offsets.tolist()
    fractions = np.random.default_rng(seed).dirichlet(np.ones(table.shape[1]))
    probs, expected = counts.smoothed(fractions), probabilities(table, fractions)
    np.testing.assert_allclose(probs.rows(np.arange(len(table), dtype=np.uint32)), expected, rtol=1e-12)
    states, categories = (one.reshape(-1).astype(np.uint32) for one in np.indices(table.shape))
    np.testing.assert_allclose(probs.at(states, categories), expected.reshape(-1), rtol=1e-12)


@given(TABLES)
def test_the_kernel_has_the_same_probabilities(table: NDArray[np.uint32]) -> None:
    """Whether its rows are stored in full or as lists: a model whose only context is of no words."""
    table = np.hstack((table, np.zeros((len(table), 3), np.uint32)))
    n_states, n_categories = table.shape
    fractions = np.full(n_categories, 1 / n_categories)
    expected = probabilities(table, fractions)
    words = np.arange(n_categories, dtype=np.uint32)
    states, buckets = words % np.uint32(n_states), np.ones(n_categories, np.uint8)
    stepper = _core.ClusteredStepper(
        _core.StateTree([words], [1], [words], [], [states], [buckets], [words[:1]]),
        [StateCounts.from_table(table).smoothed(fractions).for_kernel()],
        np.ones((1, 2)),
        fractions,
        words,
        np.ones(n_categories),
    )
    ids = np.tile(words, 2)
    log_probs, _, _ = stepper.score_text(ids, np.array([0, len(ids)]), words[:1], False, [False], 1)
    before = np.concatenate(([0], ids[:-1]))
    np.testing.assert_allclose(np.exp(log_probs), expected[before % n_states, ids], rtol=1e-12)


def test_a_large_table_needs_little_memory() -> None:
    rows, columns, counts = np.zeros(3, np.uint32), np.array([1, 5, 9], np.uint32), np.ones(3, np.uint32)
    given = {"rows": rows, "columns": columns, "counts": counts}
    # As full tables, 4.3 thousand million cells each.
    probs = StateCounts.from_arrays(given, 2**16, 2**16).smoothed(np.full(2**16, 2.0**-16))
    assert probs.rows(np.array([0], np.uint32))[0, 5] == pytest.approx(0.1 + 0.7 * 2.0**-16)
    probs.for_kernel()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": [0, 2]}, "no state or category"),
        ({"columns": [0, 3]}, "no state or category"),
        ({"rows": [1, 0]}, "not in order"),
        ({"columns": [1, 1]}, "not in order"),
        ({"counts": [1, 0]}, "not in order"),
        ({"counts": [1]}, "rows is uint32 of shape"),
        ({"rows": [[0], [0]]}, "rows is uint32 of shape"),
    ],
)
def test_cells_that_do_not_fit_are_refused(change: dict[str, list[int]], message: str) -> None:
    given = {"rows": [0, 0], "columns": [0, 1], "counts": [2, 2], **change}
    with pytest.raises(ValueError, match=message):
        StateCounts.from_arrays({name: np.array(one, np.uint32) for name, one in given.items()}, 2, 3)
