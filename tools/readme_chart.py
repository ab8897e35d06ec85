"""Writes docs/paper-scale.svg, the chart of the README, from the tables.json of a reproduction.

Usage: python tools/readme_chart.py OUT/tables.json
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from stategram.experiments.reproduction import Reproduction
from stategram.report.chart import chart_svg
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


def main() -> None:
    """Draw the rows that tell most."""
    found = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=Reproduction)
    rows = tuple(row for row in found.rows if row.key in ROWS)
    chart = perplexity_chart(msgspec.structs.replace(found, rows=rows))
    assert chart is not None
    PICTURE.write_text(chart_svg(chart), encoding="utf-8")


if __name__ == "__main__":
    main()
