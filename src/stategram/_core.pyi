"""Kernels of stategram: flat arrays in, flat arrays out."""

import numpy as np
from numpy.typing import NDArray

def count_bigrams(
    ids: NDArray[np.uint32], first: int, types: int, threads: int
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]: ...
def transpose_counts(
    offsets: NDArray[np.int64], columns: NDArray[np.uint32], counts: NDArray[np.uint32]
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]: ...

class HierarchyBuilder:
    """Merges classes two by two, each time with the least loss of average mutual information."""

    def __init__(self, counts: NDArray[np.int64], mergeable: int) -> None: ...
    def run(self, most: int) -> int:
        """Do up to `most` mergers; give the number still to be done."""
    def merges(self) -> NDArray[np.int64]:
        """Give the names of the two clusters of each merger, one after the other."""
    def losses(self) -> NDArray[np.float64]:
        """Give the fall of the criterion, in nats, of each merger."""
    @property
    def evaluations(self) -> int:
        """How many exact losses were computed."""
