"""Panels of lines, drawn by Altair and Vega-Lite as SVG in the colours of the page.

They are drawn when the report is written. Interactive charts would put 900 kB of JavaScript into every
report, need colours of their own in the dark, and print badly; a browser shows the text of a point when the
pointer rests on it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree

from stategram.explore.pages.drawing import draw_svg

if TYPE_CHECKING:
    import altair

_WIDTH, _HEIGHT = 300, 190
_MIN_TICKS, _MAX_TICKS = 4, 6
_SVG = "http://www.w3.org/2000/svg"
_LONG_NUMBER = re.compile(r"-?\d+\.\d{2,}")
_COORDINATES = frozenset({"d", "transform", "x2", "y2"})


class Point(NamedTuple):
    """A point of a series; x may be the name of a category."""

    x: float | str
    y: float
    series: str
    text: str


@dataclass(frozen=True)
class Panel:
    """Lines through points, one for each series, with the titles of the axes."""

    title: str
    points: tuple[Point, ...]
    x_title: str
    y_title: str
    log_x: bool = False
    log_y: bool = False
    point_size: int = 34


def panel_svg(panel: Panel, legend: Sequence[tuple[str, str]], alternative: str) -> str:
    """Draw a panel; the first series of the legend is drawn on top of the others."""
    return _accessible_svg(draw_svg(_altair_chart(panel, legend).to_dict(), vega_lite_version()), alternative)


def vega_lite_version() -> str:
    """Return the version of Vega-Lite that charts are written for, such as ``5.20``."""
    import altair

    return ".".join(altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


def _altair_chart(panel: Panel, legend: Sequence[tuple[str, str]]) -> altair.LayerChart:
    import altair

    # Later points are drawn on top of earlier ones.
    order = [name for name, _ in reversed(legend)]
    points = sorted(panel.points, key=lambda point: order.index(point.series))
    base = altair.Chart(
        altair.InlineData(values=[point._asdict() for point in points]), width=_WIDTH, height=_HEIGHT
    ).encode(
        x=_x_axis(panel),
        y=_y_axis(panel),
        color=altair.Color("series:N")
        .scale(domain=[name for name, _ in legend], range=[f"var(--{colour})" for _, colour in legend])
        .legend(None),
    )
    lines = base.mark_line(strokeWidth=1.75, aria=False)
    dots = base.mark_point(filled=True, opacity=1, size=panel.point_size).encode(description="text:N")
    return _themed(lines + dots)


def _x_axis(panel: Panel) -> altair.X:
    import altair

    axis = altair.X("x:Q").title(panel.x_title)
    if isinstance(panel.points[0].x, str):
        names = list(dict.fromkeys(str(point.x) for point in panel.points))
        return altair.X("x:O").title(panel.x_title).sort(names).axis(labelAngle=0, grid=False)
    values = sorted({int(point.x) for point in panel.points})
    if panel.log_x:
        return axis.scale(type="log", nice=False).axis(values=values, format=",d", grid=False)
    # No ticks between whole numbers.
    ticks = min(_MAX_TICKS, max(values[-1] - values[0], 1))
    return axis.scale(zero=False, nice=False).axis(tickCount=ticks, format=",d", grid=False)


def _y_axis(panel: Panel) -> altair.Y:
    import altair

    axis = altair.Y("y:Q").title(panel.y_title)
    if not panel.log_y:
        return axis.scale(zero=False, nice=True).axis(tickCount=4, format=",~r", domain=False, ticks=False)
    values = [point.y for point in panel.points]
    low, high = min(values) / 1.1, max(values) * 1.1
    return axis.scale(type="log", domain=[low, high], nice=False).axis(
        values=_round_numbers(low, high) or altair.Undefined,
        tickCount=_MAX_TICKS,
        format=",~r",
        domain=False,
        ticks=False,
    )


def _round_numbers(low: float, high: float) -> list[float]:
    """Return ticks of a logarithmic axis; none if the range is too narrow for them.

    Vega labels 1, 2, 3, 4, 5, 10, 20, ... where there is room, which looks like chance.

    >>> _round_numbers(3, 110), _round_numbers(200, 1250), _round_numbers(100, 130)
    ([3.0, 10.0, 30.0, 100.0], [200.0, 300.0, 500.0, 700.0, 1000.0], [])
    """
    for digits in ((1,), (1, 3), (1, 2, 5), (1, 2, 3, 5, 7)):
        numbers = [digit * 10.0**power for power in range(9) for digit in digits]
        ticks = [number for number in numbers if low <= number <= high]
        if len(ticks) >= _MIN_TICKS:
            return ticks
    return []


def _themed(chart: altair.LayerChart) -> altair.LayerChart:
    """Set the colours and sizes of a chart; the colours are variables of the page's style sheet."""
    configured: altair.LayerChart = (
        chart.configure(
            background="transparent", font="sans-serif", autosize={"type": "fit", "contains": "padding"}
        )
        .configure_view(stroke=None)
        .configure_text(color="var(--ink)", fontSize=11)
        .configure_axis(
            labelColor="var(--soft)",
            titleColor="var(--soft)",
            gridColor="var(--line)",
            domainColor="var(--rule)",
            tickColor="var(--rule)",
            labelFontSize=11,
            titleFontSize=11,
            titleFontWeight="normal",
            titlePadding=8,
            labelPadding=4,
            tickSize=3,
        )
    )
    return configured


def _accessible_svg(svg: str, alternative: str) -> str:
    """Make a drawing of Vega one image with a text alternative, the labels of its marks shown as tooltips."""
    root = ElementTree.fromstring(svg)
    for parent in root.iter():
        for child in list(parent):
            if child.get("class") in ("background", "foreground"):
                parent.remove(child)
    for one in root.iter():
        label = one.get("aria-label")
        if label and one.get("role") == "graphics-symbol" and len(one) == 0:
            ElementTree.SubElement(one, f"{{{_SVG}}}title").text = label
        for name, value in list(one.attrib.items()):
            if name == "role" or name.startswith("aria-"):
                del one.attrib[name]
            elif name in _COORDINATES:
                one.set(name, _LONG_NUMBER.sub(lambda found: f"{float(found[0]):.1f}", value))
    root.attrib.update({"role": "img", "aria-label": alternative, "class": "chart"})
    ElementTree.register_namespace("", _SVG)
    return ElementTree.tostring(root, encoding="unicode")
