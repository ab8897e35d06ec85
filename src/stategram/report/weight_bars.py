"""The chart of the weights of mixtures."""

from __future__ import annotations

from collections.abc import Sequence

from stategram.report.chart import Chart, Panel
from stategram.report.numbers import share
from stategram.report.specs import Datum, bars
from stategram.report.table import Cell, Column, Table

__all__ = ["weight_bars"]

_SERIES = tuple(f"series-{number}" for number in range(1, 11))


def weight_bars(mixtures: Sequence[tuple[str, Sequence[tuple[str, float]]]], text: str) -> Chart | None:
    """Draw the weights of mixtures: for each a name, and the names and weights of its parts."""
    if not mixtures:
        return None
    parts = list(dict.fromkeys(name for _, parts in mixtures for name, _ in parts))
    legend = tuple((name, _SERIES[i % len(_SERIES)]) for i, name in enumerate(parts))
    data: list[Datum] = [
        {
            "name": title,
            "value": weight,
            "series": name,
            "place": parts.index(name),
            "text": f"{title}: {share(weight)} {name}",
        }
        for title, of_mixture in mixtures
        for name, weight in of_mixture
    ]
    return Chart(
        "weights",
        "Weights",
        text,
        f"Stacked bars of the weights of {len(parts)} parts.",
        (
            Panel(
                "",
                bars(data, legend, "weight", percent=True),
                bars(data, legend, "weight", percent=True, narrow=True),
            ),
        ),
        legend,
        Table(
            "Weights",
            (Column("Mixture"), Column("Part"), Column("Weight", figures=True)),
            tuple(
                (Cell(title), Cell(name), Cell(share(weight)))
                for title, of_mixture in mixtures
                for name, weight in of_mixture
            ),
        ),
    )
