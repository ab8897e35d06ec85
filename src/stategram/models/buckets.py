"""Buckets of histories: a mixture may have other weights in each.

A bucket follows from the history alone, so that the weights are the same for all words that may come next
and their probabilities sum to one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST_QUANTILES = 16
_EVENTS_A_BUCKET = 50
# Features are float32: greater whole numbers would not be told apart.
_MOST_VALUES = 1 << 24


@dataclass(frozen=True)
class Buckets:
    """How the history of an event tells its bucket.

    Parameters
    ----------
    names
        The features of the history that tell it: none, for a single bucket; a whole number; or a whole number
        and any other, of which ranges are buckets.
    part
        The part of the mixture whose features they are.
    edges
        For each value of the first feature, the edges between ranges of the second. The last entry is for
        all greater values.

    """

    names: tuple[str, ...] = ()
    part: int = 0
    edges: tuple[tuple[float, ...], ...] = ((),)

    @classmethod
    def learn(cls, names: tuple[str, ...], part: int, features: Mapping[str, NDArray[np.float32]]) -> Buckets:
        """Lay buckets so that the events which have these features fall evenly into the ranges of a value."""
        if not names:
            return cls()
        first = features[names[0]].astype(np.int64)
        n = int(first.max(initial=-1)) + 2  # one more for what was not met
        if len(names) == 1:
            return cls(names, part, ((),) * n)
        second = features[names[1]]
        return cls(names, part, tuple(_edges(second[first == value]) for value in range(n)))

    @property
    def number(self) -> int:
        """The number of buckets."""
        return sum(len(edges) + 1 for edges in self.edges)

    def of(self, features: Mapping[str, NDArray[np.float32]], size: int) -> NDArray[np.int64]:
        """Give the bucket of each of `size` events from the features of its history."""
        if not self.names:
            return np.zeros(size, np.int64)
        first = np.clip(features[self.names[0]].astype(np.int64), 0, len(self.edges) - 1)
        begins = np.cumsum([0, *(len(edges) + 1 for edges in self.edges)])
        buckets: NDArray[np.int64] = begins[first]
        if len(self.names) > 1:
            second = features[self.names[1]]
            for value, edges in enumerate(self.edges):
                chosen = np.flatnonzero(first == value)
                buckets[chosen] += np.searchsorted(edges, second[chosen], "right")
        return buckets

    def to_json(self) -> dict[str, Any]:
        """Give what the manifest says of them."""
        edges = [list(edges) for edges in self.edges] if len(self.names) == 2 else len(self.edges)
        return {"names": list(self.names), "part": self.part, "edges": edges}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Buckets:
        """Take what `to_json` gave; TypeError or ValueError if it did not."""
        given = found["edges"]
        if isinstance(given, int) and not 0 < given <= _MOST_VALUES:
            raise ValueError("its buckets make no sense")
        edges = ((),) * given if isinstance(given, int) else tuple(tuple(map(float, one)) for one in given)
        buckets = cls(tuple(map(str, found["names"])), int(found["part"]), edges)
        if len(buckets.names) > 2 or not edges or any(list(one) != sorted(one) for one in edges):
            raise ValueError("its buckets make no sense")
        return buckets


def _edges(values: NDArray[np.float32]) -> tuple[float, ...]:
    values = values[np.isfinite(values)]  # a weight of 0 has no logarithm
    n = min(_MOST_QUANTILES, len(values) // _EVENTS_A_BUCKET)
    if n < 2:
        return ()
    quantiles = np.quantile(values, np.arange(1, n) / n)
    # Below the first edge there would be nothing if it were the least value.
    return tuple(np.unique(quantiles[quantiles > values.min()]).tolist())
