"""The weights of the parts of a mixture, which may depend on the history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.models.buckets import Buckets

Features = Mapping[str, NDArray[np.float32]]
"""What a part knows of histories: for each name a value for each event."""

_MOST_LEVELS = 8
_SINGLE: dict[str, tuple[str, ...]] = {
    "length": ("length",),
    "backoff": ("length", "backoff"),
    "category": ("category",),
    "state": ("state",),
}
# What `all` takes together, as far as the parts have it.
_TOGETHER = (
    *(_SINGLE[kind] for kind in ("backoff", "category", "state")),
    *((f"size-{level}",) for level in range(1, _MOST_LEVELS + 1)),
)
GATE_KINDS = ("none", *_SINGLE, "all")


@dataclass(frozen=True, eq=False)
class Gate:
    """Weights of parts by the buckets of a history.

    Parameters
    ----------
    kind
        Which features of a history tell its weights: ``none``; ``length``, the number of words that an n-gram
        model knows; ``backoff``, that and its back-off weight; ``category``, that of the last word;
        ``state``, that of a clustered model; ``all`` of these, and the sizes of contexts, together.
    buckets
        How each table is looked up.
    tables
        For each a row for each bucket, with a number for each part; a row sums to one.

    Notes
    -----
    The weights of a history are the products of its rows, made to sum to one: a log-linear model.

    Examples
    --------
    >>> Gate.constant([0.25, 0.75]).weights({}, 2)
    array([[0.25, 0.75],
           [0.25, 0.75]])

    """

    kind: str
    buckets: tuple[Buckets, ...]
    tables: tuple[NDArray[np.float64], ...]

    @classmethod
    def constant(cls, weights: Sequence[float] | NDArray[np.float64]) -> Gate:
        """Give the same weights to all histories."""
        return cls("none", (Buckets(),), (np.array([weights], np.float64),))

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

    @property
    def needs(self) -> dict[int, set[str]]:
        """Give for each part whose features are needed their names."""
        needs: dict[int, set[str]] = {}
        for buckets in self.buckets:
            if buckets.names:
                needs.setdefault(buckets.part, set()).update(buckets.names)
        return needs

    def weights(self, features: Mapping[int, Features], size: int) -> NDArray[np.float64]:
        """Give the weight of each part for each of `size` events from the `features` of parts."""
        if not self.needs:
            return np.broadcast_to(self.tables[0], (size, self.n_parts))
        weights = np.ones((size, self.n_parts))
        for buckets, table in zip(self.buckets, self.tables, strict=True):
            weights *= table[buckets.of(features.get(buckets.part, {}), size)]
        if len(self.tables) > 1:
            weights /= weights.sum(axis=1, keepdims=True)
        return weights

    def of_history(self, features: Mapping[int, Mapping[str, float]]) -> NDArray[np.float64]:
        """Give the weight of each part for a single history."""
        arrays = {
            part: {name: np.array([value], np.float32) for name, value in of.items()}
            for part, of in features.items()
        }
        of_one: NDArray[np.float64] = self.weights(arrays, 1)[0]
        return of_one

    def to_json(self) -> dict[str, Any]:
        """Give what the manifest says of it; `arrays` are the rest."""
        return {"kind": self.kind, "buckets": [buckets.to_json() for buckets in self.buckets]}

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """Give the tables by their names."""
        return {f"table-{number}": table for number, table in enumerate(self.tables)}

    @classmethod
    def from_json(cls, found: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Gate:
        """Take what `to_json` and `arrays` gave; KeyError, TypeError or ValueError if they did not."""
        buckets = tuple(map(Buckets.from_json, found["buckets"]))
        tables = tuple(arrays[f"table-{number}"] for number in range(len(buckets)))
        return cls(str(found["kind"]), buckets, tables)


def available_kinds(features: Sequence[Mapping[str, object]]) -> list[str]:
    """Give the kinds that the features of parts allow, the simplest first."""
    kinds = ["none", *(kind for kind, names in _SINGLE.items() if _first_with(names, features) is not None)]
    if sum(_first_with(names, features) is not None for names in _TOGETHER) > 1:
        kinds.append("all")
    return kinds


def learn_buckets(kind: str, features: Sequence[Features]) -> tuple[Buckets, ...]:
    """Lay the buckets of an available kind; of `all`, the first is that of all histories."""
    if kind == "none":
        return (Buckets(),)
    found = [
        (names, _first_with(names, features)) for names in (_TOGETHER if kind == "all" else (_SINGLE[kind],))
    ]
    return (
        Buckets(),
        *(Buckets.learn(names, part, features[part]) for names, part in found if part is not None),
    )


def _first_with(names: tuple[str, ...], features: Sequence[Mapping[str, object]]) -> int | None:
    having = (part for part, one in enumerate(features) if all(name in one for name in names))
    return next(having, None)
