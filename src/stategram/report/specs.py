"""The two shapes of our charts as Vega-Lite specifications: bars with their names, and lines with points.

Every datum has a ``text``, which is shown when the pointer rests on its mark.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

Datum = Mapping[str, str | float | int]

_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
_WIDE, _NARROW, _PANEL = 880, 350, 300
_LONGEST_NAME = 300
# An axis has about so many at least, and place for so many.
_TICKS, _MOST_TICKS = 4, 9
# The fonts of a reader may be wider than those with which a chart is drawn.
_WIDEST_LETTER = 6.8


def colours(legend: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Give the scale that gives each series its colour of the style sheet."""
    return {"domain": [name for name, _ in legend], "range": [f"var(--{colour})" for _, colour in legend]}


def bars(
    data: Sequence[Datum],
    legend: Sequence[tuple[str, str]],
    title: str,
    *,
    narrow: bool = False,
    percent: bool = False,
) -> dict[str, Any]:
    """Draw a bar for each ``name`` from top to bottom in the order given, stacked if there are several.

    Each datum has a ``name``, a ``value``, a ``series``, a ``place`` in the stack and a ``text``. Where there
    are no stacks the value stands at the end of its bar. On a narrow screen names stand above their bars.
    """
    names = list(dict.fromkeys(str(one["name"]) for one in data))
    stacked = len(names) < len(data)
    longest = max((float(one["value"]) for one in data), default=1.0)
    step = 34 if narrow else 22
    y: dict[str, Any] = {
        "field": "name",
        "type": "nominal",
        "sort": names,
        "title": None,
        "scale": {"paddingInner": 0.62 if narrow else 0.32, "paddingOuter": 0.45 if narrow else 0.1},
        "axis": None
        if narrow
        else {
            "ticks": False,
            "domain": False,
            "labelLimit": _LONGEST_NAME,
            "minExtent": min(_WIDEST_LETTER * max(map(len, names), default=0), _LONGEST_NAME),
            "labelColor": "var(--ink)",
            "labelPadding": 8,
        },
    }
    x: dict[str, Any] = {
        "field": "value",
        "type": "quantitative",
        "title": title,
        "axis": {
            "tickCount": 4 if narrow else 7,
            "domain": False,
            "ticks": False,
            **({"format": "%"} if percent else {}),
        },
        # The figure at the end of the longest bar needs some place.
        "scale": {"domain": [0, 1 if stacked else longest * (1.2 if narrow else 1.08)], "nice": False},
    }
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "bar"},
            "encoding": {
                "x": x,
                "color": {"field": "series", "type": "nominal", "scale": colours(legend), "legend": None},
                "order": {"field": "place", "type": "quantitative"},
                "description": {"field": "text"},
            },
        }
    ]
    if not stacked:
        layers.append(
            {
                "mark": {"type": "text", "align": "left", "dx": 5, "aria": False},
                "encoding": {"x": x, "text": {"field": "shown"}},
            }
        )
    if narrow:
        layers.append(
            {
                "transform": [{"aggregate": [], "groupby": ["name"]}],
                "mark": {"type": "text", "align": "left", "dy": -13, "aria": False, "limit": _NARROW - 10},
                "encoding": {"x": {"value": 0}, "text": {"field": "name"}},
            }
        )
    return {
        "$schema": _SCHEMA,
        "data": {"values": [dict(one) for one in data]},
        "width": _NARROW if narrow else _WIDE,
        "height": {"step": step},
        "autosize": {"type": "fit-x", "contains": "padding"},
        "encoding": {"y": y},
        "layer": layers,
    }


def lines(
    data: Sequence[Datum],
    legend: Sequence[tuple[str, str]],
    x_title: str,
    y_title: str,
    *,
    names: Sequence[str] | None = None,
    log_x: bool = False,
    log_y: bool = False,
    points: bool = True,
) -> dict[str, Any]:
    """Draw a line for each ``series`` through its ``x`` and ``y``; `names` are those of x if it is no number.

    The first series of the legend is drawn last, on top of the others.
    """
    x: dict[str, Any] = {
        "field": "x",
        "title": x_title,
        "axis": {
            "grid": False,
            "labelAngle": 0,
            "labelOverlap": "greedy",
            "format": ",d",
        },
        "type": "quantitative",
        "scale": {"type": "log", "base": 2, "nice": False} if log_x else {"zero": False, "nice": False},
    }
    if names is None:
        # Numbers of sweeps and of clusters: there is nothing between whole ones.
        whole = sorted({int(one["x"]) for one in data})
        x["axis"]["values"] = whole if log_x else _at_equal_distances(whole[0], whole[-1], least_step=1.0)
    else:
        x = {
            "field": "x",
            "title": x_title,
            "type": "ordinal",
            "sort": list(names),
            "axis": {"labelAngle": 0, "labelOverlap": "greedy", "grid": False},
        }
    y: dict[str, Any] = {
        "field": "y",
        "title": y_title,
        "type": "quantitative",
        "axis": {"tickCount": 4, "domain": False, "ticks": False, "format": ",~r"},
        "scale": {"zero": False, "nice": True},
    }
    if log_y:
        values = [float(one["y"]) for one in data]
        domain = [min(values) / 1.1, max(values) * 1.1]
        y["scale"] = {"type": "log", "domain": domain, "nice": False}
        # Every other one would be left out if there were more than `tickCount`.
        y["axis"] |= {"values": _round_numbers(*domain), "tickCount": 2 * _MOST_TICKS}
    colour = {"field": "series", "type": "nominal", "scale": colours(legend), "legend": None}
    marks: list[dict[str, Any]] = []
    for name, _ in reversed(legend):
        own = [{"filter": {"field": "series", "equal": name}}]
        marks += [
            {
                "transform": own,
                "mark": {"type": "line", "strokeWidth": 1.75, "aria": False},
                "encoding": {"color": colour},
            },
            {
                "transform": own,
                "mark": {"type": "point", "filled": True, "size": 34 if points else 14, "opacity": 1},
                "encoding": {"color": colour, "description": {"field": "text"}},
            },
        ]
    return {
        "$schema": _SCHEMA,
        "data": {"values": [dict(one) for one in data]},
        "width": _PANEL,
        "height": 190,
        "autosize": {"type": "fit", "contains": "padding"},
        "encoding": {"x": x, "y": y},
        "layer": marks,
    }


def _round_numbers(least: float, most: float) -> list[float]:
    """Give the numbers 1, 2, 5, 10, 20, ... of a range, or others if these are too few.

    >>> _round_numbers(3, 110)
    [5.0, 10.0, 20.0, 50.0, 100.0]
    >>> _round_numbers(200, 1250)
    [200.0, 400.0, 600.0, 800.0, 1000.0]
    """
    powers = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    numbers = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    found = [number for number in numbers if least <= number <= most]
    if len(found) < _TICKS:
        found = _at_equal_distances(least, most)
    apart = (most / least) ** (1 / _MOST_TICKS)
    kept = found[:1]
    for number in found[1:]:
        kept += [number] if number >= kept[-1] * apart else []
    return kept


def _at_equal_distances(least: float, most: float, *, least_step: float = 0.0) -> list[float]:
    """Give multiples of 1, 2 or 5 times a power of ten.

    >>> _at_equal_distances(1, 4, least_step=1.0), _at_equal_distances(1, 44, least_step=1.0)
    ([1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0])
    """
    power = math.floor(math.log10(max(most - least, 1e-9)))
    steps = [digit * 10.0**exponent for exponent in (power, power - 1) for digit in (5, 2, 1)]
    found: list[float] = []
    for step in [step for step in steps if step > least_step] + [least_step] * (least_step > 0):
        found = [round(n * step, 9) for n in range(math.ceil(least / step), math.floor(most / step) + 1)]
        if len(found) >= _TICKS:
            break
    return found
