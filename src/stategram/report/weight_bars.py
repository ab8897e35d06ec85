"""The chart of the weights of mixtures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle
from typing import NamedTuple

from stategram.report.chart import Chart, bar_panel
from stategram.report.numbers import share
from stategram.report.specs import Datum
from stategram.report.table import Cell, Column, Table

_NGRAM = "ngram"
_NGRAMS = (_NGRAM, "ngram-2", "ngram-3", "ngram-4")
_SERIES = tuple(f"series-{number}" for number in range(1, 9))


class Weight(NamedTuple):
    """The weight of a part; `kind` is the colour that its kind of model has in other charts."""

    name: str
    kind: str
    weight: float


def weight_bars(mixtures: Sequence[tuple[str, Sequence[Weight]]], text: str) -> Chart | None:
    """Draw the weights of mixtures: for each a name, and its parts; n-gram models stand first."""
    if not mixtures:
        return None
    kinds = {part.name: part.kind for _, parts in mixtures for part in parts}
    names = sorted(kinds, key=lambda name: kinds[name] != _NGRAM)
    legend = tuple(zip(names, _colours(kinds[name] for name in names), strict=True))
    weights = [
        (title, part)
        for title, parts in mixtures
        for part in sorted(parts, key=lambda part: names.index(part.name))
    ]
    data: list[Datum] = [
        {
            "name": title,
            "value": part.weight,
            "series": part.name,
            "place": names.index(part.name),
            "text": f"{title}: {share(part.weight)} {part.name}",
        }
        for title, part in weights
    ]
    return Chart(
        "weights",
        "Weights",
        text,
        f"Stacked bars of the weights of {len(names)} parts.",
        (bar_panel(data, legend, "weight", percent=True),),
        legend,
        Table(
            "Weights",
            (Column("Mixture"), Column("Part"), Column("Weight", figures=True)),
            tuple((Cell(title), Cell(part.name), Cell(share(part.weight))) for title, part in weights),
        ),
    )


def _colours(kinds: Iterable[str]) -> Iterator[str]:
    """Give n-gram models shades of one colour; of the others the first of each kind has that of its kind.

    >>> list(_colours(["ngram", "ngram", "flat", "tree", "tree"]))
    ['ngram', 'ngram-2', 'flat', 'tree', 'series-1']
    """
    ngrams, others, met = cycle(_NGRAMS), cycle(_SERIES), set()
    for kind in kinds:
        if kind == _NGRAM:
            yield next(ngrams)
        else:
            yield next(others) if kind in met else kind
        met.add(kind)
