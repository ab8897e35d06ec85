"""The weights of a mixture are those of the plain twin, whatever the number of threads."""

from __future__ import annotations

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
    best = logs.max(axis=0, initial=-np.inf) if events else 0
    return np.ascontiguousarray(np.exp(logs - best), np.float32)


def em(
    ratios: NDArray[np.float32],
    first: Weights,
    iterations: int = 20,
    tolerance: float = 1e-9,
    threads: int = 1,
) -> tuple[Weights, float, int]:
    return _core.em_weights(ratios, first, iterations, tolerance, threads)


@settings(deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(1, 5),
    st.integers(0, 90),
    st.integers(0, 12),
    st.sampled_from([1e-9, 1e-2]),
)
def test_the_kernel_is_its_twin(seed: int, parts: int, size: int, iterations: int, tolerance: float) -> None:
    ratios = random_ratios(seed, parts, size)
    first = np.random.default_rng(seed).dirichlet(np.ones(parts)) * 0.9 + 0.1 / parts
    found, log_likelihood, done = em(ratios, first, iterations, tolerance)
    events = ratios.T.astype(np.float64).tolist()
    if not events:
        assert found.tolist() == first.tolist()
        assert (log_likelihood, done) == (0, 0)
        return
    # The twin is not asked when to stop: a hair's breadth may decide that.
    expected = naive.em(events, first.tolist(), done)
    # A hundred sums of a hundred values, each rounded.
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-300)
    assert log_likelihood == pytest.approx(naive.log_likelihood(events, expected), rel=1e-11, abs=1e-11)
    if done < iterations:
        following = np.array(naive.em_step(events, expected))
        assert np.log(following / expected).max() <= tolerance + 1e-11


@given(st.integers(0, 2**32), st.integers(2, 6))
def test_no_step_lowers_the_likelihood(seed: int, parts: int) -> None:
    ratios = random_ratios(seed, parts, 70)
    before = -np.inf
    for iterations in range(8):
        _, log_likelihood, _ = em(ratios, np.full(parts, 1 / parts), iterations)
        assert log_likelihood >= before - 1e-9 * abs(log_likelihood)
        before = log_likelihood


@pytest.mark.parametrize("size", [1, 2048, 2049, 30_000])
def test_the_same_bytes_on_any_number_of_threads(size: int) -> None:
    ratios = random_ratios(3, 4, size)
    one, *others = (em(ratios, np.full(4, 0.25), 30, threads=n) for n in (1, 2, 4))
    for other in others:
        assert other[0].tobytes() == one[0].tobytes()
        assert other[1:] == one[1:]


def test_it_stops_where_nothing_can_be_gained() -> None:
    ratios = random_ratios(5, 3, 4000)
    _, log_likelihood, done = em(ratios, np.full(3, 1 / 3), iterations=5000, tolerance=1e-8)
    assert 0 < done < 5000
    random = np.random.default_rng(0)
    for other in (*np.eye(3), *random.dirichlet(np.ones(3), 200)):
        mixed = np.maximum(other @ ratios.astype(np.float64), 1e-300)
        assert np.log(mixed).sum() <= log_likelihood + 4000 * 1e-8


def test_what_does_not_fit_is_refused() -> None:
    ratios, third = random_ratios(1, 3, 10), np.full(3, 1 / 3)
    with pytest.raises(ValueError, match="weight for each"):
        em(ratios, np.full(2, 0.5))
    with pytest.raises(ValueError, match="tolerance above 0"):
        em(ratios, third, tolerance=0.0)
    with pytest.raises(ValueError, match="not be negative"):
        em(ratios, third, iterations=-1)
