"""The likelihood of a gate is that of the plain twin, and its gradient that of small steps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import naive.mixture as naive
from kernels.test_mixture_weights import random_ratios
from stategram import _core


def problem(
    seed: int, parts: int, events: int, sizes: list[int]
) -> tuple[NDArray[np.float32], NDArray[np.uint32], NDArray[np.float64]]:
    """Give ratios, rows and factors of tables with so many rows."""
    random = np.random.default_rng(seed)
    starts = np.cumsum([0, *sizes])
    rows = [random.integers(0, size, events) + start for size, start in zip(sizes, starts[:-1], strict=True)]
    factors = random.normal(0, random.uniform(0, 4), (int(starts[-1]), parts))
    ratios = np.ascontiguousarray(random_ratios(seed, parts, events).T)
    return ratios, np.array(rows, np.uint32).reshape(len(sizes), events), factors


@settings(deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(1, 17),
    st.integers(0, 40),
    st.lists(st.integers(1, 6), min_size=1, max_size=4),
)
def test_the_kernel_is_its_twin(seed: int, parts: int, events: int, sizes: list[int]) -> None:
    ratios, rows, factors = problem(seed, parts, events, sizes)
    kernel = _core.GateLikelihood(ratios, rows, len(factors), 1)
    value, gradient = kernel.value_and_gradient(factors.ravel())

    def twin(of: NDArray[np.float64]) -> float:
        return naive.gate_log_likelihood(ratios.astype(float).tolist(), rows.T.tolist(), of.tolist())

    assert value == pytest.approx(twin(factors), rel=1e-9, abs=1e-9)
    assert gradient.shape == (factors.size,)
    random = np.random.default_rng(seed)
    for _ in range(5):
        row, part = int(random.integers(len(factors))), int(random.integers(parts))
        step = np.zeros_like(factors)
        step[row, part] = 1e-4
        slope = (twin(factors + step) - twin(factors - step)) / 2e-4
        assert gradient.reshape(-1, parts)[row, part] == pytest.approx(slope, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("parts", [2, 7, 20])
def test_the_same_bytes_on_any_number_of_threads(parts: int) -> None:
    ratios, rows, factors = problem(1, parts, 20_000, [1, 30, 500])
    one, *others = (
        _core.GateLikelihood(ratios, rows, len(factors), n).value_and_gradient(factors.ravel())
        for n in (1, 2, 4)
    )
    for other in others:
        assert other[0] == one[0]
        assert other[1].tobytes() == one[1].tobytes()


def test_what_does_not_fit_is_refused() -> None:
    ratios, rows, factors = problem(1, 3, 10, [2, 2])
    with pytest.raises(ValueError, match="a row of each table"):
        _core.GateLikelihood(ratios[:9].copy(), rows, 4, 1)
    with pytest.raises(ValueError, match="a row of each table"):
        _core.GateLikelihood(ratios, rows[:0].copy(), 4, 1)
    with pytest.raises(ValueError, match="row that is missing"):
        _core.GateLikelihood(ratios, rows, 3, 1)
    kernel = _core.GateLikelihood(ratios, rows, 4, 1)
    with pytest.raises(ValueError, match="factor for each part"):
        kernel.value_and_gradient(factors.ravel()[:-1].copy())
