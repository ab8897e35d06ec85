"""Memory that is given back to the system."""

from __future__ import annotations

import os
import platform

import numpy as np
import pytest

from stategram import _core
from stategram.counts.workspace import memory_in_use


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc" or "san.so" in os.environ.get("LD_PRELOAD", ""),
    reason="other allocators, those of sanitizers too, have no gaps to give back",
)
def test_gaps_between_small_arrays_are_given_back() -> None:
    size, number = 2**14, 6000
    arrays = [np.ones(size, np.uint8) for _ in range(number)]
    kept = arrays[::100]
    del arrays
    before = memory_in_use()
    _core.trim_memory()
    assert before - memory_in_use() > 0.8 * size * number
    assert all(array.all() for array in kept)
