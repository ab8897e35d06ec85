"""Buckets of histories: a mixture may have other weights in each.

A bucket follows from the history alone, so that the weights are the same for all words that may come next
and their probabilities sum to one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["KINDS", "Buckets"]

# The features of a model that a kind of buckets needs: the first is a whole number, the second any number.
_FEATURES: dict[str, tuple[str, ...]] = {
    "none": (),
    "length": ("length",),
    "backoff": ("length", "backoff"),
    "category": ("category",),
    "state": ("state",),
}
KINDS = tuple(_FEATURES)
_MOST_QUANTILES = 16
_EVENTS_A_BUCKET = 50


@dataclass(frozen=True)
class Buckets:
    """How the history of an event tells its bucket.

    Parameters
    ----------
    kind
        ``none``: one bucket. ``length``: how many words of the history an n-gram model knows. ``backoff``:
        the same, and a range of the back-off weight there. ``category``: the category of the last word.
        ``state``: the state of a clustered model.
    part
        The part of the mixture whose features they are.
    edges
        For each value of the first feature, the edges between ranges of the second. The last entry is for
        all greater values.

    """

    kind: str = "none"
    part: int = 0
    edges: tuple[tuple[float, ...], ...] = ((),)

    @classmethod
    def learn(cls, kind: str, part: int, features: Mapping[str, NDArray[np.float32]]) -> Buckets:
        """Lay buckets so that the events which have these features fall evenly into the ranges of a value."""
        names = _FEATURES[kind]
        if not names:
            return cls()
        first = features[names[0]].astype(np.int64)
        n = int(first.max(initial=-1)) + 2  # one more for what was not met
        if len(names) == 1:
            return cls(kind, part, ((),) * n)
        second = features[names[1]]
        return cls(kind, part, tuple(_edges(second[first == value]) for value in range(n)))

    @property
    def names(self) -> tuple[str, ...]:
        """The features that they need."""
        return _FEATURES[self.kind]

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

    def of_history(self, features: Mapping[str, float]) -> int:
        """Give the bucket of a single history from its features."""
        return int(self.of({name: np.array([value], np.float32) for name, value in features.items()}, 1)[0])

    def to_json(self) -> dict[str, Any]:
        """Give what the manifest says of them."""
        return {"kind": self.kind, "part": self.part, "edges": [list(edges) for edges in self.edges]}

    @classmethod
    def from_json(cls, found: Mapping[str, Any], n_parts: int) -> Buckets:
        """Take what `to_json` gave; ValueError if it did not."""
        buckets = cls(
            str(found["kind"]), int(found["part"]), tuple(tuple(map(float, one)) for one in found["edges"])
        )
        if buckets.kind not in KINDS or not 0 <= buckets.part < n_parts or not buckets.edges:
            raise ValueError("its buckets make no sense")
        return buckets


def available_kinds(features: Sequence[Mapping[str, object]]) -> dict[str, int]:
    """Give the kinds of buckets that the features of parts allow, each with the first part that has them."""
    found = {}
    for kind, names in _FEATURES.items():
        having = (part for part, one in enumerate(features) if all(name in one for name in names))
        if (part := next(having, None)) is not None:
            found[kind] = part
    return found


def _edges(values: NDArray[np.float32]) -> tuple[float, ...]:
    n = min(_MOST_QUANTILES, len(values) // _EVENTS_A_BUCKET)
    if n < 2:
        return ()
    quantiles = np.quantile(values, np.arange(1, n) / n)
    # Below the first edge there would be nothing if it were the least value.
    return tuple(np.unique(quantiles[quantiles > values.min()]).tolist())
