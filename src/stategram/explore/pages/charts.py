"""Charts of a page: horizontal bars, which are HTML, and panels of lines, which are SVG."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import NamedTuple

import numpy as np

from stategram.display import Column, DisplayTable, display_table
from stategram.errors import BadDataError
from stategram.evaluation import LEVEL, Interval
from stategram.explore.pages.line_charts import Panel
from stategram.models import Model, WordScore, generate
from stategram.text import UNKNOWN, Corpus, LineBlock, corpus_from_sentences
from stategram.wording import percent, perplexity

_NGRAM = "ngram"
_NGRAMS = (_NGRAM, "ngram-2", "ngram-3", "ngram-4")
_SERIES = tuple(f"series-{number}" for number in range(1, 9))

# Which sentence of a test text is shown: the first without unknown words of so many different words, which a
# heading has not, and of so many events.
_MIN_WORDS, _MAX_EVENTS = 8, 25
_TRIED = 1000
_MAX_SENTENCES = 5
_LONGEST = 60
"""No more words of a sentence are shown."""
# The longer the n-gram that a word was found in, the darker; the last colour is of five words and more.
_ORDER_COLOURS = ("ngram-3", "ngram", "ngram-2", "ngram-4", "tree")

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


def surprisal_charts(
    model: Model, kind: tuple[str, str], text: Corpus | None, sentences: LineBlock | None
) -> list[Chart]:
    """Return a chart of each sentence, or of one of the text, or else of one that the model makes up.

    `kind` is the name and the colour of the kind of model.
    """
    title = "A sentence of the test text"
    if sentences is not None:
        title, shown, spelling = "A given sentence", sentences.corpus, sentences.spelling
    elif text is not None and (typical := _typical(text)) is not None:
        shown, spelling = typical, typical.vocabulary
    else:
        title = "A sentence that the model made up"
        try:
            drawn = next(generate(model, 1, max_words=_MAX_EVENTS))
        except BadDataError:  # all probability is that of <unk>
            return []
        shown, spelling = corpus_from_sentences([drawn.words], vocabulary=model.vocabulary), model.vocabulary
    charts = []
    for number, scored in zip(range(_MAX_SENTENCES), model.score(shown).sentences(), strict=False):
        if len(scored) > 1:
            events = list(map(_spelled, scored, map(spelling.word, shown.sentence(number).tolist())))
            key = "surprisal" if number == 0 else f"surprisal-{number + 1}"
            charts.append(_surprisal_chart(key, title, events[:_LONGEST], kind))
    return charts


def _spelled(event: WordScore, word: str) -> WordScore:
    """Return an unknown word as it is spelled, marked as unknown; other events as they are."""
    return event._replace(word=f"{word} (unknown)") if event.unknown else event


def _typical(text: Corpus) -> Corpus | None:
    """Return the first sentence that is neither short nor long and has no unknown words; None without one."""
    lengths = np.diff(text.sentence_starts)
    for number in np.flatnonzero((lengths > _MIN_WORDS) & (lengths <= _MAX_EVENTS))[:_TRIED].tolist():
        ids = text.sentence(number)
        if len(np.unique(ids)) > _MIN_WORDS and not (ids == UNKNOWN).any():
            return Corpus(ids, np.array([0, len(ids)]), text.vocabulary)
    return None


def _surprisal_chart(key: str, title: str, events: list[WordScore], kind: tuple[str, str]) -> Chart:
    bits = [-event.log_prob / math.log(2.0) for event in events]
    finite = [value for value in bits if math.isfinite(value)]
    longest = max(finite, default=1.0) or 1.0
    mean = sum(finite) / len(finite) if finite else math.inf
    bars = tuple(
        Bar(
            event.word,
            (Segment(max(min(value / longest, 1.0), 0.0), *_look(event, kind)),),
            f"{value:.1f}" if math.isfinite(value) else "infinite",
        )
        for event, value in zip(events, bits, strict=True)
    )
    text = (
        f"Surprisal of each word in bits, {mean:.1f} on average: one bit less is a word that the model took "
        "for twice as likely."
    )
    return Chart(key, title, text, _legend(events, kind), bars)


def _look(event: WordScore, kind: tuple[str, str]) -> tuple[str, str]:
    """Return the colour of a word, and what the colour stands for."""
    if event.order is None:
        return kind[1], kind[0]
    colour = _ORDER_COLOURS[min(max(event.order, 1), len(_ORDER_COLOURS)) - 1]
    return colour, f"{event.order}-gram"


def _legend(events: list[WordScore], kind: tuple[str, str]) -> Legend:
    looks = sorted({_look(event, kind) for event in events}, key=lambda look: look[1])
    return tuple((name, colour) for colour, name in looks)
