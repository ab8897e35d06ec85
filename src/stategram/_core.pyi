"""Kernels: flat arrays in, flat arrays out."""

import numpy as np
from numpy.typing import NDArray

def count_bigrams(
    ids: NDArray[np.uint32], first: int, types: int, threads: int
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]: ...
def transpose_counts(
    offsets: NDArray[np.int64], columns: NDArray[np.uint32], counts: NDArray[np.uint32]
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]: ...
