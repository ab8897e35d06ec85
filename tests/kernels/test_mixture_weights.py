"""The weights of a mixture are those of the plain twin, whatever the number of threads."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import naive.mixture as naive
from stategram import _core

Weights = NDArray[np.float64]


def random_ratios(seed: int, parts: int, events: int) -> NDArray[np.float32]:
    """Probabilities of parts, from nearly equal to far apart, divided by the greatest of each event."""
    random = np.random.default_rng(seed)
    logs = random.normal(0, random.uniform(0.1, 8), (parts, events)) + random.normal(0, 1, (parts, 1))
    return np.ascontiguousarray(np.exp(logs - logs.max(axis=0)), np.float32)


def em(
    ratios: NDArray[np.float32],
    starts: list[int],
    centre: Weights,
    strength: float = 0.0,
    iterations: int = 20,
    tolerance: float = 1e-9,
    threads: int = 1,
) -> tuple[Weights, Weights, NDArray[np.int64]]:
    begins = np.array(starts, np.int64)
    first = np.tile(centre, len(starts) - 1)
    return _core.em_weights(ratios, begins, first, centre, strength, iterations, tolerance, threads)


@settings(deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(1, 5),
    st.lists(st.integers(0, 90), min_size=1, max_size=4),
    st.sampled_from([0.0, 1.0, 50.0]),
    st.integers(0, 12),
    st.sampled_from([1e-9, 1e-2]),
)
def test_the_kernel_is_its_twin(
    seed: int, parts: int, sizes: list[int], strength: float, iterations: int, tolerance: float
) -> None:
    ratios = random_ratios(seed, parts, sum(sizes))
    centre = np.random.default_rng(seed).dirichlet(np.ones(parts)) * 0.9 + 0.1 / parts
    starts = [0, *itertools.accumulate(sizes)]
    weights, logs, done = em(ratios, starts, centre, strength, iterations, tolerance)
    for bucket, (begin, end) in enumerate(itertools.pairwise(starts)):
        found = weights.reshape(-1, parts)[bucket]
        events = ratios[:, begin:end].T.astype(np.float64).tolist()
        if not events:
            assert found.tolist() == centre.tolist()
            assert (logs[bucket], done[bucket]) == (0, 0)
            continue
        # The twin is not asked when to stop: a hair's breadth may decide that.
        expected, _ = naive.em(events, centre.tolist(), centre.tolist(), strength, int(done[bucket]), 0.0)
        # A hundred sums of a hundred values, each rounded.
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-300)
        assert logs[bucket] == pytest.approx(naive.log_likelihood(events, expected), rel=1e-11, abs=1e-11)
        following = np.array(naive.em_step(events, expected, centre.tolist(), strength))
        if done[bucket] < iterations:
            assert np.log(following / expected).max() <= tolerance + 1e-11


@given(st.integers(0, 2**32), st.integers(2, 6), st.sampled_from([0.0, 10.0]))
def test_no_step_lowers_the_posterior(seed: int, parts: int, strength: float) -> None:
    ratios = random_ratios(seed, parts, 70)
    centre = np.full(parts, 1 / parts)
    before = -np.inf
    for iterations in range(8):
        weights, logs, _ = em(ratios, [0, 70], centre, strength, iterations)
        posterior = logs[0] + strength * float(centre @ np.log(weights))
        assert posterior >= before - 1e-9 * abs(posterior)
        before = posterior


@pytest.mark.parametrize("sizes", [[30_000], [5000, 0, 1, 2048, 2049, 9000]])
def test_the_same_bytes_on_any_number_of_threads(sizes: list[int]) -> None:
    ratios = random_ratios(3, 4, sum(sizes))
    starts = [0, *itertools.accumulate(sizes)]
    one, *others = (em(ratios, starts, np.full(4, 0.25), 5.0, 30, threads=n) for n in (1, 2, 4))
    for other in others:
        assert [array.tobytes() for array in other] == [array.tobytes() for array in one]


def test_it_stops_where_nothing_can_be_gained() -> None:
    ratios = random_ratios(5, 3, 4000)
    _, logs, done = em(ratios, [0, 4000], np.full(3, 1 / 3), iterations=5000, tolerance=1e-8)
    assert 0 < done[0] < 5000
    random = np.random.default_rng(0)
    for other in (*np.eye(3), *random.dirichlet(np.ones(3), 200)):
        mixed = np.maximum(other @ ratios.astype(np.float64), 1e-300)
        assert np.log(mixed).sum() <= logs[0] + 4000 * 1e-8


def test_what_does_not_fit_is_refused() -> None:
    ratios, third = random_ratios(1, 3, 10), np.full(3, 1 / 3)
    for starts in ([0], [0, 9], [1, 10], [0, 11, 10]):
        with pytest.raises(ValueError, match="do not cover"):
            em(ratios, starts, third)
    with pytest.raises(ValueError, match="weight for each"):
        em(ratios, [0, 10], np.full(2, 0.5))
    with pytest.raises(ValueError, match="must not be negative"):
        em(ratios, [0, 10], third, strength=-1.0)
    with pytest.raises(ValueError, match="tolerance"):
        em(ratios, [0, 10], third, tolerance=0.0)
    with pytest.raises(ValueError, match="at least 1"):
        em(ratios, [0, 10], third, threads=0)
