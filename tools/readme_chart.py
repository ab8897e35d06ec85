"""Writes docs/paper-scale.svg, the chart of the README, from the tables.json of a reproduction.

Usage: python tools/readme_chart.py OUT/tables.json
"""

from __future__ import annotations

import io
import re
import sys
from importlib import resources
from pathlib import Path

import altair
import msgspec

from stategram.experiments.reproduction import Reproduction
from stategram.report.charts import Chart
from stategram.report.line_charts import accessible_svg, themed
from stategram.report.reproduction_charts import perplexity_chart

PICTURE = Path(__file__).parent.parent / "docs" / "paper-scale.svg"
ROWS = (
    "w-1 2000,2000",
    "w-2,w-1 flat",
    "w-2,w-1 tree",
    "back-off 3",
    "w-2,w-1 tree + back-off 3",
    "kneser-ney 3",
    "w-2,w-1 tree + kneser-ney 3",
    "kneser-ney 5",
    "w-2,w-1 tree + kneser-ney 5",
    "recipe best",
)


def bars_svg(chart: Chart) -> str:
    """Draw bars of a report as a picture of its own, which is light or dark as its reader likes it."""
    values = [
        {
            "name": bar.name,
            "length": bar.segments[0].length,
            "colour": f"var(--{bar.segments[0].colour})",
            "value": bar.value,
        }
        for bar in chart.bars
    ]
    base = altair.Chart(altair.InlineData(values=values), width=880, height=altair.Step(22)).encode(
        x=altair.X("length:Q").scale(domain=[0, 1.08], nice=False).axis(None),
        y=altair.Y("name:N")
        .sort([bar.name for bar in chart.bars])
        .title(None)
        .axis(ticks=False, domain=False, labelColor="var(--ink)", labelLimit=300, labelPadding=8),
    )
    names = base.mark_bar(height={"band": 0.7}).encode(color=altair.Color("colour:N").scale(None))
    figures = base.mark_text(align="left", dx=5).encode(text="value:N")
    picture = io.StringIO()
    themed(names + figures).save(picture, format="svg")
    style = resources.files("stategram.report").joinpath("templates/page.css").read_text(encoding="utf-8")
    colours = re.search(r":root \{.*?\}", style, re.DOTALL)
    assert colours is not None
    start, rest = accessible_svg(picture.getvalue(), f"{chart.title}. {chart.text}").split(">", 1)
    return f"{start}><style>{colours[0]}</style>{rest}\n"


def main() -> None:
    """Draw the rows that tell most."""
    found = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=Reproduction)
    rows = tuple(row for row in found.rows if row.key in ROWS)
    chart = perplexity_chart(msgspec.structs.replace(found, rows=rows))
    assert chart is not None
    PICTURE.write_text(bars_svg(chart), encoding="utf-8")


if __name__ == "__main__":
    main()
