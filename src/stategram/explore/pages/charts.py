"""Charts of a page: horizontal bars, which are HTML, and panels of lines, which are SVG."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import NamedTuple

from stategram.display import Column, DisplayTable, display_table, percent, perplexity
from stategram.evaluation import LEVEL, Interval
from stategram.explore.pages.line_charts import Panel

_NGRAM = "ngram"
_NGRAMS = (_NGRAM, "ngram-2", "ngram-3", "ngram-4")
_SERIES = tuple(f"series-{number}" for number in range(1, 9))

Legend = tuple[tuple[str, str], ...]
"""Names of series with their colours, which are variables of the style sheet."""


class Segment(NamedTuple):
    """A piece of a bar: its length as a fraction of the longest bar, its colour, and what it stands for."""

    length: float
    colour: str
    text: str


class Whisker(NamedTuple):
    """The confidence interval of a bar, in words too.

    `below` is how far it begins before the end of the bar, `length` how long it is, as fractions of the
    longest bar.
    """

    below: float
    length: float
    text: str


class Bar(NamedTuple):
    """A bar with its name on the left and its value at the end."""

    name: str
    segments: tuple[Segment, ...]
    value: str = ""
    whisker: Whisker | None = None


@dataclass(frozen=True)
class Chart:
    """A figure of a page: bars, or panels of lines.

    `key` is its id in the page, `text` how to read it; `data` are the drawn values, if they cannot be read
    off the chart itself.
    """

    key: str
    title: str
    text: str
    legend: Legend
    bars: tuple[Bar, ...] = ()
    panels: tuple[Panel, ...] = ()
    data: DisplayTable | None = None


class Ranked(NamedTuple):
    """A model of a ranking: its name, the name and colour of its kind, its perplexity and the interval."""

    name: str
    kind: str
    colour: str
    perplexity: float
    interval: Interval | None = None


def perplexity_bars(key: str, title: str, text: str, models: Iterable[Ranked]) -> Chart:
    """Rank models by perplexity, the best first."""
    ranked = sorted(models, key=lambda model: model.perplexity)
    longest = max(model.interval.high if model.interval else model.perplexity for model in ranked)
    bars = [
        Bar(
            model.name,
            (Segment(model.perplexity / longest, model.colour, model.kind),),
            perplexity(model.perplexity),
            _whisker(model, longest),
        )
        for model in ranked
    ]
    return Chart(key, title, text, tuple({model.kind: model.colour for model in ranked}.items()), tuple(bars))


def _whisker(model: Ranked, longest: float) -> Whisker | None:
    ends = model.interval
    if ends is None:
        return None
    below, length = (model.perplexity - ends.low) / longest, (ends.high - ends.low) / longest
    return Whisker(below, length, f"{LEVEL:.0%} interval: {ends}")


class Weight(NamedTuple):
    """The weight of a part of a mixture; `colour` is that of its kind of model in other charts."""

    name: str
    colour: str
    weight: float


def weight_bars(mixtures: Sequence[tuple[str, Sequence[Weight]]], text: str) -> Chart:
    """Stack the weights of each mixture, those of n-gram models first."""
    kinds = {part.name: part.colour for _, parts in mixtures for part in parts}
    names = sorted(kinds, key=lambda name: kinds[name] != _NGRAM)
    colours = dict(zip(names, _distinct_colours(kinds[name] for name in names), strict=True))
    stacks = [(title, sorted(parts, key=lambda part: names.index(part.name))) for title, parts in mixtures]
    return Chart(
        "weights",
        "Weights",
        text,
        tuple(colours.items()),
        bars=tuple(
            Bar(
                title,
                tuple(
                    Segment(part.weight, colours[part.name], f"{part.name}: {percent(part.weight)}")
                    for part in parts
                ),
            )
            for title, parts in stacks
        ),
        data=display_table(
            "Weights",
            ("Mixture", "Part", Column("Weight", "number")),
            [(title, part.name, percent(part.weight)) for title, parts in stacks for part in parts],
        ),
    )


def _distinct_colours(kinds: Iterable[str]) -> Iterator[str]:
    """Shade n-gram models in one colour; the first part of each other kind has the colour of its kind.

    >>> list(_distinct_colours(["ngram", "ngram", "flat", "tree", "tree"]))
    ['ngram', 'ngram-2', 'flat', 'tree', 'series-1']
    """
    ngrams, others, seen = cycle(_NGRAMS), cycle(_SERIES), set()
    for kind in kinds:
        if kind == _NGRAM:
            yield next(ngrams)
        else:
            yield next(others) if kind in seen else kind
        seen.add(kind)
