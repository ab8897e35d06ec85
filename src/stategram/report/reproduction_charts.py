"""The charts of a reproduction."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from stategram.clustering import SweepRecord
from stategram.experiments.reproduction import CountBand, Reproduction, RowResult
from stategram.report.chart import Chart, Panel, bar_panel
from stategram.report.numbers import band, count, nats, perplexity
from stategram.report.specs import Datum, lines
from stategram.report.table import Cell, Column, Table
from stategram.report.verdict import is_tree
from stategram.report.weight_bars import Weight, weight_bars
from stategram.wording import plural

_KINDS = (("tree", "tree"), ("flat", "flat"), ("n-gram", "ngram"), ("mixture", "mixture"))
# The perplexity of fewer events is chance more than anything else: it is said, but not drawn.
_EVENTS_OF_A_POINT = 100


def perplexity_chart(found: Reproduction) -> Chart | None:
    """Draw the test perplexity of every model, the best first."""
    rows = sorted(_different(found), key=lambda row: row.test.perplexity)
    rows = [row for row in rows if math.isfinite(row.test.perplexity)]
    if not rows:
        return None
    names = _names(rows)
    data: list[Datum] = [
        {
            "name": names[row.key],
            "value": row.test.perplexity,
            "shown": perplexity(row.test.perplexity),
            "series": _kind(row),
            "place": 0,
            "text": f"{row.title} ({_kind(row)}): {perplexity(row.test.perplexity)}",
        }
        for row in rows
    ]
    legend = tuple(pair for pair in _KINDS if any(_kind(row) == pair[0] for row in rows))
    best, worst = rows[0], rows[-1]
    return Chart(
        "perplexity",
        "Perplexity by model",
        "On the test text, <unk> counted as a word; lower is better.",
        f"Bars of the test perplexity of {len(rows)} models, from {best.title} with "
        f"{perplexity(best.test.perplexity)} to {worst.title} with {perplexity(worst.test.perplexity)}.",
        (bar_panel(data, legend, "test perplexity"),),
        legend,
        Table(
            "Perplexity by model",
            (Column("Model"), Column("Kind"), Column("Perplexity", figures=True)),
            tuple((Cell(row.title), Cell(_kind(row)), Cell(perplexity(row.test.perplexity))) for row in rows),
        ),
    )


def sweeps_chart(found: Reproduction) -> Chart | None:
    """Draw how the training perplexity falls from sweep to sweep, flat against tree."""

    def of_sweep(row: RowResult, number: int, sweep: SweepRecord) -> Datum:
        where = f"level {sweep.level}, " if row.tree else ""
        return {
            "x": number,
            "y": sweep.perplexity,
            "series": _kind(row),
            "text": f"{_kind(row)}, sweep {number} ({where}{sweep.step}): {perplexity(sweep.perplexity)}, "
            f"{count(sweep.moves)} moves",
        }

    pairs = _pairs(found, lambda row: any(math.isfinite(sweep.perplexity) for sweep in row.sweeps))
    if not pairs:
        return None
    panels = []
    for title, rows in pairs:
        data = [
            of_sweep(row, number, sweep)
            for row in rows
            for number, sweep in enumerate(row.sweeps, 1)
            if math.isfinite(sweep.perplexity)
        ]
        panels.append(Panel(title, lines(data, _legend(rows), "sweep", "training perplexity", points=False)))
    return Chart(
        "sweeps",
        "How the clusters are learned",
        "The perplexity of the training text after each sweep. A tree starts with groups of contexts and "
        "refines them level by level.",
        "Training perplexity falls from sweep to sweep.",
        tuple(panels),
        _legend([row for _, rows in pairs for row in rows]),
        Table(
            "Sweeps",
            (
                Column("Model"),
                Column("SweepRecord", figures=True),
                Column("Level", figures=True),
                Column("Step"),
                Column("Moves", figures=True),
                Column("Criterion", figures=True),
                Column("Perplexity", figures=True),
            ),
            tuple(
                (
                    Cell(row.title),
                    Cell(count(number)),
                    Cell(count(sweep.level)),
                    Cell(sweep.step),
                    Cell(count(sweep.moves)),
                    Cell(nats(sweep.criterion)),
                    Cell(perplexity(sweep.perplexity)),
                )
                for _, rows in pairs
                for row in rows
                for number, sweep in enumerate(row.sweeps, 1)
            ),
        ),
    )


def bands_chart(found: Reproduction) -> Chart | None:
    """Draw perplexity by how often a context was seen in training: where the tree helps."""

    def of_band(row: RowResult, one: CountBand) -> Datum:
        seen = band(one.least, one.most)
        return {
            "x": count(one.least),
            "y": one.perplexity,
            "series": _kind(row),
            "text": f"{_kind(row)}, context seen {seen} times: {perplexity(one.perplexity)} "
            f"({count(one.events)} events)",
        }

    pairs = _pairs(found, lambda row: any(map(_is_sure, row.by_count)))
    # A context that is alone says nothing of where the tree helps.
    pairs = [(title, rows) for title, rows in pairs if len(rows) > 1] or pairs
    if not pairs:
        return None
    panels = []
    for title, rows in pairs:
        drawn = [(row, one) for row in rows for one in row.by_count if _is_sure(one)]
        # Bands in their order, even if the first row has no events of one.
        names = [count(least) for least in sorted({one.least for _, one in drawn})]
        data = [of_band(row, one) for row, one in drawn]
        panels.append(
            Panel(
                title,
                lines(
                    data,
                    _legend(rows),
                    "context seen in training at least … times",
                    "test perplexity",
                    names=names,
                    log_y=True,
                ),
            )
        )
    return Chart(
        "bands",
        "Where the tree helps",
        "Test perplexity by how often the context of an event was seen in training (logarithmic). Rare "
        "contexts have the state of their group in a tree; flat, they all share one. Bands of fewer than "
        f"{plural(_EVENTS_OF_A_POINT, 'event')} are only in the data.",
        "Test perplexity by how often the context was seen in training.",
        tuple(panels),
        _legend([row for _, rows in pairs for row in rows]),
        Table(
            "Perplexity by count of the context",
            (
                Column("Model"),
                Column("Seen", figures=True),
                Column("Events", figures=True),
                Column("Perplexity", figures=True),
            ),
            tuple(
                (
                    Cell(row.title),
                    Cell(band(one.least, one.most)),
                    Cell(count(one.events)),
                    Cell(perplexity(one.perplexity)),
                )
                for _, rows in pairs
                for row in rows
                for one in row.by_count
            ),
        ),
    )


def _is_sure(one: CountBand) -> bool:
    return one.events >= _EVENTS_OF_A_POINT and math.isfinite(one.perplexity)


def sizes_chart(found: Reproduction) -> Chart | None:
    """Draw the held-out perplexity against the number of clusters."""
    titles = {row.key: row for row in found.rows}
    legend = (("held-out perplexity", "tree"),)
    panels = []
    for key in dict.fromkeys(trial.key for trial in found.sizes):
        data: list[Datum] = [
            {
                "x": trial.clusters,
                "y": trial.perplexity,
                "series": legend[0][0],
                "text": f"{count(trial.clusters)} clusters: {perplexity(trial.perplexity)}",
            }
            for trial in found.sizes
            if trial.key == key and math.isfinite(trial.perplexity)
        ]
        title = titles[key].title if key in titles else key
        panels.append(
            Panel(
                title, lines(data, legend, "states and categories, each", "held-out perplexity", log_x=True)
            )
        )
    if not panels:
        return None
    return Chart(
        "sizes",
        "How many clusters",
        "The perplexity of the held-out text with so many states and as many categories.",
        "Held-out perplexity against the number of clusters.",
        tuple(panels),
        (),
        Table(
            "Numbers of clusters",
            (Column("Model"), Column("Clusters", figures=True), Column("Held-out", figures=True)),
            tuple(
                (
                    Cell(titles[trial.key].title if trial.key in titles else trial.key),
                    Cell(count(trial.clusters)),
                    Cell(perplexity(trial.perplexity)),
                )
                for trial in found.sizes
            ),
        ),
    )


def weights_chart(found: Reproduction) -> Chart | None:
    """Draw the weights of the parts of each mixture."""
    mixtures = [row for row in _different(found) if row.parts]
    names, titles = _names(mixtures), _names(_different(found))
    colours = {row.key: dict(_KINDS).get(_kind(row), "mixture") for row in found.rows}
    return weight_bars(
        [
            (
                names[row.key],
                [
                    Weight(
                        titles.get(part.name, part.name),
                        colours.get(part.name) or _colour_of_part(part.name),
                        part.weight,
                    )
                    for part in row.parts
                ],
            )
            for row in mixtures
        ],
        "The weight of each part, on average over the test events.",
    )


def _colour_of_part(name: str) -> str:
    """Give the colour of a part of a recipe, which is no row of its own, by what it is called."""
    return "tree" if "clustered" in name else "flat" if "categor" in name else "ngram"


def _kind(row: RowResult) -> str:
    return "tree" if is_tree(row) else {"clustered": "flat", "ngram": "n-gram"}.get(row.kind, row.kind)


def _different(found: Reproduction) -> list[RowResult]:
    """Give each model once: one that several tables are compared with may be in all of them."""
    return list({row.key: row for row in found.rows}.values())


def _names(rows: Sequence[RowResult]) -> dict[str, str]:
    """Give each row a name of its own: its title, or its key too if another has the same."""
    titles = [row.title for row in rows]
    return {
        row.key: row.title if titles.count(row.title) == 1 else f"{row.title} ({row.key})" for row in rows
    }


def _pairs(found: Reproduction, chosen: Callable[[RowResult], bool]) -> list[tuple[str, list[RowResult]]]:
    """Give trees together with what they are compared with, and the other rows alone, in order."""
    rows = {row.key: row for row in _different(found) if row.kind == "clustered" and chosen(row)}
    names = _names(list(rows.values()))
    partner: dict[str, RowResult] = {}
    for row in rows.values():
        other = rows.get(row.compared_with or "")
        if is_tree(row) and other is not None and not is_tree(other):
            partner.setdefault(other.key, row)
    taken = {row.key for row in partner.values()}
    return [
        (_panel_title(row), [partner[key], row]) if key in partner else (names[key], [row])
        for key, row in rows.items()
        if key not in taken
    ]


def _panel_title(row: RowResult) -> str:
    if row.context is None:
        return row.title
    return f"{row.context} ({count(row.states)}, {count(row.categories)})" if row.states else row.context


def _legend(rows: Sequence[RowResult]) -> tuple[tuple[str, str], ...]:
    return tuple(pair for pair in _KINDS if any(_kind(row) == pair[0] for row in rows))
