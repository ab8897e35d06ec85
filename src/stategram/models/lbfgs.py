"""The maximum of a smooth function of many variables, by limited-memory BFGS.

Nocedal (1980), "Updating quasi-Newton matrices with limited storage". SciPy has it too, but is not worth a
dependency for this one function.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

_Vector = NDArray[np.float64]
_MEMORY = 8
_WINDOW = 4
_HALVINGS = 20
_ARMIJO = 1e-4


def maximize_lbfgs(
    value_and_gradient: Callable[[_Vector], tuple[float, _Vector]],
    start: _Vector,
    *,
    tolerance: float,
    max_iterations: int,
) -> tuple[_Vector, float, int]:
    """Maximize until four steps together gain less than `tolerance`; return point, value and iterations.

    Examples
    --------
    >>> point, value, _ = maximize_lbfgs(lambda x: (-float(((x - 3) ** 2).sum()), -2 * (x - 3)), np.zeros(2),
    ...                                  tolerance=1e-9, max_iterations=50)
    >>> point.round(6), abs(value) < 1e-9
    (array([3., 3.]), True)

    """
    point = start
    value, gradient = value_and_gradient(point)
    memory: deque[tuple[_Vector, _Vector]] = deque(maxlen=_MEMORY)  # s and y of the last steps
    values = [value]
    while len(values) <= max_iterations:
        direction = _direction(gradient, memory)
        slope = _dot(direction, gradient)
        if not slope > 0:  # no further than rounding allows
            break
        size = 1.0
        for _ in range(_HALVINGS):
            next_point = point + size * direction
            next_value, next_gradient = value_and_gradient(next_point)
            if next_value >= value + _ARMIJO * size * slope:
                break
            size /= 2
        else:
            break
        s, y = next_point - point, gradient - next_gradient
        if _dot(s, y) > 1e-12 * _dot(y, y):
            memory.append((s, y))
        point, value, gradient = next_point, next_value, next_gradient
        values.append(value)
        if len(values) > _WINDOW and value - values[-1 - _WINDOW] < tolerance:
            break
    return point, value, len(values) - 1


def _direction(gradient: _Vector, memory: deque[tuple[_Vector, _Vector]]) -> _Vector:
    """Return the approximate inverse Hessian times the gradient, by the two-loop recursion."""
    if not memory:
        return gradient / max(1.0, float(np.sqrt(_dot(gradient, gradient))))
    direction = gradient.copy()
    alphas = []
    for s, y in reversed(memory):
        alpha = _dot(s, direction) / _dot(s, y)
        direction -= alpha * y
        alphas.append(alpha)
    s, y = memory[-1]
    direction *= _dot(s, y) / _dot(y, y)
    for (s, y), alpha in zip(memory, reversed(alphas), strict=True):
        direction += (alpha - _dot(y, direction) / _dot(s, y)) * s
    return direction


def _dot(a: _Vector, b: _Vector) -> float:
    # Not np.dot, whose sums depend on the number of threads of the linear algebra.
    return float((a * b).sum())
