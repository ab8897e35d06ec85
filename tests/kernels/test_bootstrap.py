"""Resampled sums against their plain twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import bootstrap as naive
from stategram import _core


@given(st.data())
def test_sums_are_those_of_the_twin(data: st.DataObject) -> None:
    width = data.draw(st.integers(1, 19))
    units = data.draw(st.integers(1, 11))
    seed = data.draw(st.integers(0, 2**64 - 1))
    # Sums of whole numbers have no rounding: every byte is the same.
    numbers = st.integers(-1000, 1000)
    values = data.draw(
        st.lists(st.lists(numbers, min_size=width, max_size=width), min_size=units, max_size=units)
    )
    expected = naive.bootstrap_sums(values, 5, seed)
    for threads in (1, 3):
        found = _core.bootstrap_sums(np.array(values, np.float64).reshape(-1), width, 5, seed, threads)
        assert found.reshape(5, width).tolist() == expected


def test_the_same_bytes_for_any_number_of_threads_and_columns() -> None:
    values = np.random.default_rng(1).normal(-70, 30, (999, 11))
    found = [_core.bootstrap_sums(values.reshape(-1), 11, 50, 7, threads) for threads in (1, 2, 5)]
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()
    # Columns of another call are of the same resamples: differences are paired.
    one = _core.bootstrap_sums(np.ascontiguousarray(values[:, 9]), 1, 50, 7, 1)
    assert one.tolist() == found[0].reshape(50, 11)[:, 9].tolist()
    twin = naive.bootstrap_sums(values.tolist(), 3, 7)
    np.testing.assert_allclose(found[0].reshape(50, 11)[:3], twin, rtol=1e-12)


def test_every_unit_is_as_likely() -> None:
    units, resamples = 7, 20_000
    drawn = _core.bootstrap_sums(np.eye(units).reshape(-1), units, resamples, 3, 2).reshape(resamples, units)
    assert (drawn.sum(axis=1) == units).all()
    # Counts of one unit are binomial with mean 1 and variance 6/7; five standard errors.
    deviation = np.sqrt(6 / 7 / resamples)
    np.testing.assert_allclose(drawn.mean(axis=0), 1, atol=5 * deviation)
    np.testing.assert_allclose(drawn.var(axis=0), 6 / 7, rtol=0.06)
    # Two units have the covariance -1/7 of a multinomial distribution.
    covariance = np.cov(drawn.T)
    np.testing.assert_allclose(covariance[~np.eye(units, dtype=bool)], -1 / 7, atol=0.03)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="each column"):
        _core.bootstrap_sums(np.zeros(5), 2, 1, 0, 1)
    with pytest.raises(ValueError, match="each column"):
        _core.bootstrap_sums(np.zeros(5), 0, 1, 0, 1)
    with pytest.raises(ValueError, match="from one to"):
        _core.bootstrap_sums(np.zeros(0), 1, 1, 0, 1)
    with pytest.raises(ValueError, match="not finite"):
        _core.bootstrap_sums(np.array([0.0, -np.inf]), 1, 1, 0, 1)
    with pytest.raises(ValueError, match="too many"):
        _core.bootstrap_sums(np.zeros(5), 1, 2**41, 0, 1)
