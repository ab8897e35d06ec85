"""The weights of the parts of a mixture, which may depend on the history.

A history falls into one bucket of each of a few tables, by features of it that the parts know, such as how
many of its words an n-gram model has seen. Its weights are the product of the rows of its buckets. Features
do not depend on the word that follows, so that the probabilities of all words still sum to one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.errors import UsageError
from stategram.storage import Entries, Finite, Natural, array_of

Features: TypeAlias = Mapping[str, NDArray[np.float32]]
"""Features of histories that a part knows: for each name a value for each event."""

# The features that look up each table besides that of all histories; `all` has those that the parts know.
_TABLES: dict[str, tuple[tuple[str, ...], ...]] = {
    "none": (),
    "length": (("length",),),
    "backoff": (("length", "backoff"),),
    "category": (("category",),),
    "state": (("state",),),
    "all": (
        ("length", "backoff"),
        ("category",),
        ("state",),
        *((f"size-{level}",) for level in range(1, 9)),
    ),
}
GATE_KINDS = tuple(_TABLES)

_MAX_QUANTILES = 16
_EVENTS_PER_BUCKET = 50


class BucketEntries(Entries, frozen=True):
    """The buckets of one table in a manifest; `edges` is the number of values if there is one feature."""

    names: tuple[str, ...]
    part: Natural
    edges: Natural | tuple[tuple[Finite, ...], ...]


class GateEntries(Entries, frozen=True):
    """A gate in a manifest."""

    kind: str
    buckets: tuple[BucketEntries, ...]


@dataclass(frozen=True)
class Buckets:
    """The buckets of one table."""

    names: tuple[str, ...] = ()
    """The features of a history that choose its bucket: none, for a single bucket; an integer; or an integer
    and any other number, of which ranges are buckets."""
    part: int = 0
    """The part of the mixture whose features they are."""
    edges: tuple[tuple[float, ...], ...] = ((),)
    """For each value of the first feature, the edges between ranges of the second; the last entry is for all
    greater values."""

    @classmethod
    def learn(cls, names: tuple[str, ...], part: int, features: Features) -> Buckets:
        """Choose edges so that the events with these features fall evenly into the ranges of a value."""
        first = features[names[0]].astype(np.int64)
        n = int(first.max(initial=-1)) + 2  # one more for what was not met
        if len(names) == 1:
            return cls(names, part, ((),) * n)
        second = features[names[1]]
        return cls(names, part, tuple(_edges(second[first == value]) for value in range(n)))

    @property
    def number(self) -> int:
        """The number of buckets."""
        return int(self.begins[-1])

    @cached_property
    def begins(self) -> NDArray[np.int64]:
        """The first bucket of each value of the first feature, and the end."""
        return np.cumsum([0, *(len(edges) + 1 for edges in self.edges)])

    def of(self, features: Features, size: int) -> NDArray[np.int64]:
        """Return the bucket of each of `size` events from the features of its history."""
        if not self.names:
            return np.zeros(size, np.int64)
        first = np.clip(features[self.names[0]].astype(np.int64), 0, len(self.edges) - 1)
        buckets: NDArray[np.int64] = self.begins[first]
        if len(self.names) > 1:
            second = features[self.names[1]]
            for value, edges in enumerate(self.edges):
                chosen = np.flatnonzero(first == value)
                buckets[chosen] += np.searchsorted(edges, second[chosen], "right")
        return buckets

    def to_json(self) -> dict[str, Any]:
        """Return their entry in the manifest."""
        edges = [list(edges) for edges in self.edges] if len(self.names) == 2 else len(self.edges)
        return {"names": list(self.names), "part": self.part, "edges": edges}

    @classmethod
    def from_entries(cls, entries: BucketEntries, n_rows: int) -> Buckets:
        """Inverse of `to_json`, where the table has so many rows; ValueError if they do not fit."""
        given = entries.edges
        # Compared before as many edges are made: the rows of a table are there.
        if n_rows != (given if isinstance(given, int) else sum(len(one) + 1 for one in given)) or n_rows == 0:
            raise ValueError("its buckets are inconsistent with their weights")
        edges = ((),) * given if isinstance(given, int) else given
        if len(entries.names) > 2 or any(list(one) != sorted(one) for one in edges):
            raise ValueError("its buckets are inconsistent")
        return cls(entries.names, entries.part, edges)


def _edges(values: NDArray[np.float32]) -> tuple[float, ...]:
    values = values[np.isfinite(values)]  # a weight of 0 has no logarithm
    n = min(_MAX_QUANTILES, len(values) // _EVENTS_PER_BUCKET)
    if n < 2:
        return ()
    quantiles = np.quantile(values, np.arange(1, n) / n)
    # Below the first edge there would be nothing if it were the smallest value.
    return tuple(np.unique(quantiles[quantiles > values.min()]).tolist())


@dataclass(frozen=True, eq=False)
class Gate:
    """Weights of parts by the buckets of a history: the products of its rows, made to sum to one.

    >>> Gate.constant([0.25, 0.75]).weights({}, 2)
    array([[0.25, 0.75],
           [0.25, 0.75]])
    """

    kind: str
    """Which features of a history choose its weights; `Mixture.fit` describes each kind."""
    buckets: tuple[Buckets, ...]
    """How each table is looked up."""
    tables: tuple[NDArray[np.float64], ...]
    """For each a row for each bucket, with a number for each part; a row sums to one."""

    @classmethod
    def constant(cls, weights: Sequence[float] | NDArray[np.float64]) -> Gate:
        """Return the gate with the same weights for all histories."""
        return cls("none", (Buckets(),), (np.array([weights], np.float64),))

    def __getstate__(self) -> dict[str, Any]:
        # Without the kernel, which can be neither pickled nor copied.
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def __post_init__(self) -> None:
        if self.kind not in GATE_KINDS or not self.buckets or len(self.buckets) != len(self.tables):
            raise UsageError("a gate needs buckets for each table")
        for buckets, table in zip(self.buckets, self.tables, strict=True):
            if table.shape != (buckets.number, self.n_parts) or table.dtype != np.float64:
                raise UsageError(
                    f"weights of shape {table.shape}; {buckets.number} buckets of {self.n_parts} parts need "
                    "a row for each bucket"
                )
            if not (table >= 0).all() or not np.allclose(table.sum(axis=1), 1.0, rtol=0, atol=1e-9):
                raise UsageError("the weights of each bucket must be 0 or more and sum to one")
        if len(self.tables) > 1 and not all((table > 0).all() for table in self.tables):
            raise UsageError("weights that are multiplied must be above 0")

    @property
    def n_parts(self) -> int:
        """The number of parts."""
        return int(self.tables[0].shape[-1])

    @property
    def parameters(self) -> int:
        """The number of weights."""
        return sum(table.size for table in self.tables)

    @cached_property
    def needs(self) -> dict[int, set[str]]:
        """The names of the features that each part has to return."""
        needs: dict[int, set[str]] = {}
        for buckets in self.buckets:
            if buckets.names:
                needs.setdefault(buckets.part, set()).update(buckets.names)
        return needs

    def weights(self, features: Mapping[int, Features], size: int) -> NDArray[np.float64]:
        """Return the weight of each part for each of `size` events from the `features` of parts."""
        if not self.needs:
            return np.broadcast_to(self.tables[0], (size, self.n_parts))
        weights = np.ones((size, self.n_parts))
        for buckets, table in zip(self.buckets, self.tables, strict=True):
            weights *= table[buckets.of(features.get(buckets.part, {}), size)]
        if len(self.tables) > 1:
            weights /= weights.sum(axis=1, keepdims=True)
        return weights

    @cached_property
    def kernel(self) -> _core.GateTables:
        """The same tables for kernels."""
        kernel = _core.GateTables(self.n_parts)
        for buckets, table in zip(self.buckets, self.tables, strict=True):
            kernel.add(
                list(buckets.names),
                buckets.part,
                buckets.begins,
                np.array([edge for of_value in buckets.edges for edge in of_value], np.float64),
                np.ascontiguousarray(table),
            )
        return kernel

    def to_json(self) -> dict[str, Any]:
        """Return its entry in the manifest; `arrays` are the rest."""
        return {"kind": self.kind, "buckets": [buckets.to_json() for buckets in self.buckets]}

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """Return the tables by their names."""
        return {f"table-{number}": table for number, table in enumerate(self.tables)}

    @classmethod
    def from_entries(cls, entries: GateEntries, arrays: Mapping[str, NDArray[Any]], n_parts: int) -> Gate:
        """Inverse of `to_json` and `arrays` for so many parts; ValueError if they do not fit."""
        tables = [
            array_of(arrays, f"table-{number}", np.float64, None, n_parts)
            for number in range(len(entries.buckets))
        ]
        buckets = [Buckets.from_entries(*one) for one in zip(entries.buckets, map(len, tables), strict=True)]
        return cls(entries.kind, tuple(buckets), tuple(tables))


def available_kinds(features: Sequence[Features]) -> list[str]:
    """Return the kinds that the features of parts allow, the simplest first."""
    found = {kind: len(learn_buckets(kind, features)) - 1 for kind in GATE_KINDS}
    return [kind for kind in GATE_KINDS if kind == "none" or found[kind] > (kind == "all")]


def learn_buckets(kind: str, features: Sequence[Features]) -> tuple[Buckets, ...]:
    """Return the buckets of a kind, from the first part that has the features of each table.

    The first table is that of all histories.
    """
    tables = [Buckets()]
    for names in _TABLES[kind]:
        part = next((i for i, known in enumerate(features) if known.keys() >= set(names)), None)
        if part is not None:
            tables.append(Buckets.learn(names, part, features[part]))
    return tuple(tables)
