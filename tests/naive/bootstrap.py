"""The paired bootstrap, said plainly.

Each resample draws as many units as there are, each time any of them with the same chance:

    unit of draw i of resample b = floor( units * random(seed, b, i) ),   random in [0, 1)

and adds up the values of the units drawn, those of all columns alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

_BITS = 2**64


def _hash(x: int) -> int:
    """Return the output function of SplitMix64."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % _BITS
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % _BITS
    return x ^ (x >> 31)


def drawn_units(units: int, resample: int, seed: int) -> list[int]:
    """Return the units that a resample draws."""
    stream = _hash((_hash(seed) + resample) % _BITS)
    draws = (_hash((stream + i * 0x9E3779B97F4A7C15) % _BITS) for i in range(1, units + 1))
    return [units * x // _BITS for x in draws]


def bootstrap_sums(values: Sequence[Sequence[float]], resamples: int, seed: int) -> list[list[float]]:
    """Return the sums of all columns over the units of each resample."""
    drawn = [[values[unit] for unit in drawn_units(len(values), b, seed)] for b in range(resamples)]
    return [[fsum(column) for column in zip(*rows, strict=True)] for rows in drawn]
