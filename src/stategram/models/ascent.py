"""The maximum of a smooth function of many numbers, by the method of limited-memory BFGS.

Nocedal (1980), "Updating quasi-Newton matrices with limited storage".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

_Vector = NDArray[np.float64]
_REMEMBERED = 8
_WINDOW = 4
_HALVINGS = 20
# A step has to gain this share of what the slope promises.
_SHARE = 1e-4


def climb(
    value_and_gradient: Callable[[_Vector], tuple[float, _Vector]],
    start: _Vector,
    *,
    tolerance: float,
    max_iterations: int,
) -> tuple[_Vector, float, int]:
    """Go up from `start` until a few steps together gain less than `tolerance`; give point, value and steps.

    Examples
    --------
    >>> point, value, _ = climb(lambda x: (-float(((x - 3) ** 2).sum()), -2 * (x - 3)), np.zeros(2),
    ...                         tolerance=1e-9, max_iterations=50)
    >>> point.round(6), abs(value) < 1e-9
    (array([3., 3.]), True)

    """
    point = start
    value, gradient = value_and_gradient(point)
    remembered: deque[tuple[_Vector, _Vector]] = deque(maxlen=_REMEMBERED)
    values = [value]
    while len(values) <= max_iterations:
        direction = _direction(gradient, remembered)
        slope = _dot(direction, gradient)
        if not slope > 0:  # rounding has the last word
            break
        size = 1.0
        for _ in range(_HALVINGS):
            next_point = point + size * direction
            next_value, next_gradient = value_and_gradient(next_point)
            if next_value >= value + _SHARE * size * slope:
                break
            size /= 2
        else:
            break
        change, bend = next_point - point, gradient - next_gradient
        if _dot(change, bend) > 1e-12 * _dot(bend, bend):
            remembered.append((change, bend))
        point, value, gradient = next_point, next_value, next_gradient
        values.append(value)
        if len(values) > _WINDOW and value - values[-1 - _WINDOW] < tolerance:
            break
    return point, value, len(values) - 1


def _direction(gradient: _Vector, remembered: deque[tuple[_Vector, _Vector]]) -> _Vector:
    """Give the inverse of the remembered curvature times the gradient."""
    if not remembered:
        return gradient / max(1.0, float(np.sqrt(_dot(gradient, gradient))))
    direction = gradient.copy()
    shares = []
    for change, bend in reversed(remembered):
        share = _dot(change, direction) / _dot(change, bend)
        direction -= share * bend
        shares.append(share)
    change, bend = remembered[-1]
    direction *= _dot(change, bend) / _dot(bend, bend)
    for (change, bend), share in zip(remembered, reversed(shares), strict=True):
        direction += (share - _dot(bend, direction) / _dot(change, bend)) * change
    return direction


def _dot(one: _Vector, other: _Vector) -> float:
    # Not np.dot, whose sums depend on the number of threads of the linear algebra.
    return float((one * other).sum())
