"""The mixing of events is that of the plain twin, for all tables of a gate."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import naive.mixture as naive
from stategram import _core
from stategram.models import Gate
from stategram.models.gate import Buckets

NAMES = ((), ("length",), ("length", "backoff"))


def random_gate(random: np.random.Generator, parts: int, tables: list[int]) -> Gate:
    """Give a gate whose tables have so many features each."""
    buckets, rows = [], []
    for n_features in tables:
        values = int(random.integers(1, 5)) if n_features else 1
        sizes = random.integers(0, 4, values) if n_features == 2 else np.zeros(values, int)
        edges = tuple(tuple(np.sort(random.normal(size=size)).tolist()) for size in sizes)
        buckets.append(Buckets(NAMES[n_features], int(random.integers(parts)), edges))
        table = random.uniform(0.01, 1.0, (buckets[-1].number, parts))
        rows.append(table / table.sum(axis=1, keepdims=True))
    return Gate("all", tuple(buckets), tuple(rows))


def random_events(
    random: np.random.Generator, gate: Gate, n: int
) -> tuple[list[NDArray[np.float64]], list[list[NDArray[np.float32]]]]:
    """Give log-probabilities, some of them tiny or of 0, and features, some of them out of range."""
    log_probs = -random.exponential(10.0 ** random.uniform(-2, 4), (gate.n_parts, n))
    log_probs[random.random(log_probs.shape) < 0.1] = -math.inf
    features = []
    for buckets in gate.buckets:
        first = random.integers(-2, len(buckets.edges) + 2, n).astype(np.float32)
        second = random.normal(size=n).astype(np.float32)
        second[random.random(n) < 0.1] = -math.inf
        features.append([first, second][: len(buckets.names)])
    return list(log_probs), features


@settings(deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(1, 18),
    st.integers(0, 40),
    st.lists(st.integers(0, 2), min_size=1, max_size=4),
)
def test_the_kernel_is_its_twin(seed: int, parts: int, n: int, tables: list[int]) -> None:
    random = np.random.default_rng(seed)
    gate = random_gate(random, parts, tables)
    log_probs, features = random_events(random, gate, n)
    mixed = np.empty(n)
    log_sums, weight_sums = _core.mix_events(gate.kernel, log_probs, features, mixed, 1)
    all_weights = []
    for event in range(n):
        rows = []
        for buckets, table, of_table in zip(gate.buckets, gate.tables, features, strict=True):
            at = naive.bucket([float(values[event]) for values in of_table], buckets.edges)
            rows.append(table[at].tolist())
        weights = naive.gate_weights(rows)
        all_weights.append(weights)
        expected = naive.mixed_log_prob(weights, [float(of_part[event]) for of_part in log_probs])
        assert mixed[event] == pytest.approx(expected, rel=1e-13, abs=1e-13)
    assert weight_sums.tolist() == pytest.approx(np.sum(all_weights, axis=0).tolist() if n else [0.0] * parts)
    assert log_sums.tolist() == pytest.approx([of_part.sum() for of_part in log_probs])


@pytest.mark.parametrize("parts", [1, 4, 8, 11])
def test_the_same_bytes_on_any_number_of_threads(parts: int) -> None:
    random = np.random.default_rng(parts)
    gate = random_gate(random, parts, [0, 2, 1])
    log_probs, features = random_events(random, gate, 5000)
    results = []
    for threads in (1, 2, 5):
        mixed = np.empty(5000)
        sums = _core.mix_events(gate.kernel, log_probs, features, mixed, threads)
        results.append((mixed.tobytes(), *(of.tobytes() for of in sums)))
    assert results[0] == results[1] == results[2]


def test_what_does_not_fit_is_refused() -> None:
    gate = _core.GateTables(2)
    rows, longs = np.array([[0.5, 0.5], [0.1, 0.9]]), np.array([0, 2])
    edges = np.array([0.5])
    for names, part, begins, given_edges, given_rows, message in (
        (["a", "b", "c"], 0, longs, edges, rows, "up to two features"),
        (["a"], 2, longs, edges, rows, "up to two features of a part"),
        (["a"], 0, longs[:0], edges, rows, "buckets for each value"),
        (["a"], 0, np.array([1, 3]), edges, rows, "buckets for each value"),
        (["a"], 0, np.array([0, 0, 2]), edges[:0], rows, "has no bucket"),
        (["a"], 0, longs, edges[:0], rows, "one bucket more than edges"),
        (["a"], 0, longs, edges, rows[:1], "a weight for each part"),
        (["a"], 0, longs, edges, rows[:, :1].copy(), "a weight for each part"),
    ):
        with pytest.raises(ValueError, match=message):
            gate.add(names, part, begins, given_edges, given_rows)
    mixed, floats = np.empty(3), np.zeros(3, np.float32)
    with pytest.raises(ValueError, match="features of each table"):
        _core.mix_events(gate, [mixed, mixed], [], mixed, 1)
    gate.add(["a", "b"], 1, longs, edges, rows)
    for log_probs, features, message in (
        ([mixed], [[floats, floats]], "of each part"),
        ([mixed, mixed], [], "features of each table"),
        ([mixed, mixed[:2]], [[floats, floats]], "of each event"),
        ([mixed, mixed], [[floats]], "lacks features"),
        ([mixed, mixed], [[floats, floats[:2]]], "a feature of each event"),
    ):
        with pytest.raises(ValueError, match=message):
            _core.mix_events(gate, log_probs, features, np.empty(3), 1)
    with pytest.raises(ValueError, match="one part or more"):
        _core.GateTables(0)
