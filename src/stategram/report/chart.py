"""Charts as they stand in a page: SVG that follows the colours of the page, and its data as a table.

They are drawn by Vega-Lite when the report is written. Interactive ones would put its 900 kB of JavaScript
into every report, need colours of their own in the dark, and print badly; the value of each mark is shown by
the browser when the pointer rests on it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any
from xml.etree import ElementTree

from stategram.errors import StategramError
from stategram.report.markup import Html, element, join
from stategram.report.package_files import style_sheet
from stategram.report.specs import Datum, bars
from stategram.report.table import Table, table_html

_SVG = "http://www.w3.org/2000/svg"
_LONG_NUMBER = re.compile(r"-?\d+\.\d{2,}")
_OF_PLACES = frozenset({"d", "transform", "x2", "y2"})
# How charts look, whatever they show. The colours are variables of the page's style sheet.
_CONFIG: dict[str, Any] = {
    "background": None,
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--soft)",
        "titleColor": "var(--soft)",
        "gridColor": "var(--line)",
        "domainColor": "var(--rule)",
        "tickColor": "var(--rule)",
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelPadding": 4,
        "tickSize": 3,
    },
    "text": {"color": "var(--ink)", "fontSize": 11},
}


@dataclass(frozen=True)
class Panel:
    """One drawing of a chart: a Vega-Lite specification, and another for narrow screens if need be."""

    title: str
    wide: dict[str, Any]
    narrow: dict[str, Any] | None = None


def bar_panel(
    data: Sequence[Datum], legend: Sequence[tuple[str, str]], title: str, *, percent: bool = False
) -> Panel:
    """Draw bars (see `bars`) for wide and for narrow screens."""
    wide, narrow = (bars(data, legend, title, percent=percent, narrow=one) for one in (False, True))
    return Panel("", wide, narrow)


@dataclass(frozen=True)
class Chart:
    """Panels that belong together.

    Parameters
    ----------
    key
        Its name in the page.
    title, text
        What it shows; what there is to see.
    alternative
        The same for those who do not see it.
    legend
        What each colour of the page's style sheet stands for.
    data
        All that is drawn.

    """

    key: str
    title: str
    text: str
    alternative: str
    panels: tuple[Panel, ...]
    legend: tuple[tuple[str, str], ...]
    data: Table


def check_report_extra() -> None:
    """Raise an error now, before any long work, if there is nothing to draw charts with."""
    if find_spec("vl_convert") is None:
        raise StategramError('a report needs vl-convert to draw its charts: pip install "stategram[report]"')


def chart_html(chart: Chart) -> Html:
    """Draw a chart."""
    panels = []
    for number, panel in enumerate(chart.panels):
        alternative = f"{panel.title}: {chart.alternative}" if panel.title else chart.alternative
        drawings = [
            (panel.wide, "wide" if panel.narrow else ""),
            *([(panel.narrow, "narrow")] if panel.narrow else []),
        ]
        panels.append(
            element(
                "div",
                *([element("h4", panel.title)] if panel.title else []),
                *(
                    _drawing(spec, f"{chart.key}-{number}{style}", alternative, style)
                    for spec, style in drawings
                ),
                class_="panel",
            )
        )
    legend = [
        element("span", element("i", style=f"background:var(--{colour})"), name)
        for name, colour in chart.legend
    ]
    return element(
        "figure",
        element("figcaption", element("h3", chart.title), element("p", chart.text)),
        *([element("p", *legend, class_="legend")] if legend else []),
        element("div", *panels, class_="panels one" if chart.panels[0].narrow else "panels"),
        element("details", element("summary", "Data of this chart"), table_html(chart.data, caption=False)),
        id=chart.key,
    )


def chart_svg(chart: Chart) -> str:
    """Draw the first panel of a chart as a picture of its own, light or dark as its reader likes it."""
    colours = re.search(r":root \{.*?\}", style_sheet(), re.DOTALL)
    assert colours is not None
    drawing = _drawing(chart.panels[0].wide, chart.key, chart.alternative, "")
    start, rest = str(drawing).split(">", 1)
    return f"{start}><style>{colours[0]}</style>{rest}\n"


def _drawing(spec: dict[str, Any], key: str, alternative: str, style: str) -> Html:
    check_report_extra()
    import vl_convert

    drawn = vl_convert.vegalite_to_svg({**spec, "config": _CONFIG}, vl_version="5.20", allowed_base_urls=[])
    return _tidied(drawn, key, alternative, style)


def _tidied(svg: str, key: str, alternative: str, style: str) -> Html:
    """Make a drawing one picture with a text alternative; its marks keep their texts as titles."""
    root = ElementTree.fromstring(svg)
    for parent in root.iter():
        for child in list(parent):
            if child.get("class") in ("background", "foreground") or child.get("opacity") == "0":
                parent.remove(child)
    for one in root.iter():
        label = one.get("aria-label")
        is_mark = one.get("role") == "graphics-symbol" and len(one) == 0
        for name in [name for name in one.attrib if name == "role" or name.startswith("aria-")]:
            del one.attrib[name]
        if label and is_mark:
            ElementTree.SubElement(one, f"{{{_SVG}}}title").text = label
        for name, value in one.attrib.items():
            if name in _OF_PLACES:
                one.set(name, _LONG_NUMBER.sub(lambda found: f"{float(found[0]):.1f}", value))
            if name == "id":
                one.set(name, f"{key}-{value}")
            if "url(#" in value:
                one.set(name, value.replace("url(#", f"url(#{key}-"))
    root.attrib.update({"role": "img", "aria-label": alternative, "class": f"chart {style}".strip()})
    ElementTree.register_namespace("", _SVG)
    return join(Html(ElementTree.tostring(root, encoding="unicode")))
