"""The charts of a reproduction."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from stategram.display import Column, count, display_table, perplexity, plural
from stategram.explore.pages.charts import Chart, Legend, Ranked, Weight, perplexity_bars, weight_bars
from stategram.explore.pages.line_charts import Panel, Point
from stategram.paper.claims import is_trial
from stategram.paper.results import CountBand, Reproduction, RowResult
from stategram.paper.rows import WORDS_TREE
from stategram.paper.tables import PAPER_TABLES, is_tree

_COLOURS = {"tree": "tree", "flat": "flat", "n-gram": "ngram", "mixture": "mixture", "word tree": "series-1"}
# The perplexity of fewer events is mostly chance: it is in the data, but not drawn.
_MIN_EVENTS = 100


def perplexity_chart(found: Reproduction) -> Chart | None:
    """Rank all models by test perplexity."""
    rows = [row for row in _distinct(found) if math.isfinite(row.test.perplexity)]
    names = _names(rows)
    if not rows:
        return None
    return perplexity_bars(
        "perplexity",
        "Perplexity by model",
        "On the test text, <unk> counted as a word; lower is better. Thin lines: 95% intervals.",
        [
            Ranked(names[row.key], _kind(row), _COLOURS[_kind(row)], row.test.perplexity, row.test.interval)
            for row in rows
        ],
    )


def sweeps_chart(found: Reproduction) -> Chart | None:
    """Draw the training perplexity after each sweep, flat against tree."""
    pairs = _pairs(found, lambda row: any(math.isfinite(sweep.perplexity) for sweep in row.sweeps))
    if not pairs:
        return None
    panels = []
    for title, rows in pairs:
        points = [
            Point(
                number,
                sweep.perplexity,
                _kind(row),
                f"{_kind(row)}, sweep {number} (level {sweep.level}, {sweep.step}): "
                f"{perplexity(sweep.perplexity)}, {count(sweep.moves)} moves",
            )
            for row in rows
            for number, sweep in enumerate(row.sweeps, 1)
            if math.isfinite(sweep.perplexity)
        ]
        panels.append(Panel(title, tuple(points), "sweep", "training perplexity", point_size=14))
    columns = "Model", "Sweep", "Level", "Step", "Moves", _number("Criterion"), _number("Perplexity")
    return Chart(
        "sweeps",
        "How the clusters are learned",
        "Perplexity of the training text after each sweep. A tree starts with groups of contexts and refines "
        "them level by level.",
        _legend(pairs),
        panels=tuple(panels),
        data=display_table(
            "Sweeps",
            columns,
            [
                (row.title, n, of.level, of.step, of.moves, f"{of.criterion:,.0f}", perplexity(of.perplexity))
                for _, rows in pairs
                for row in rows
                for n, of in enumerate(row.sweeps, 1)
            ],
        ),
    )


def bands_chart(found: Reproduction) -> Chart | None:
    """Draw perplexity by how often the context was seen in training: where the tree helps."""
    pairs = _pairs(found, lambda row: any(map(_is_reliable, row.by_count)))
    # A context without a flat twin does not show where the tree helps.
    pairs = [(title, rows) for title, rows in pairs if len(rows) > 1] or pairs
    if not pairs:
        return None
    panels = []
    for title, rows in pairs:
        drawn = [(row, band) for row in rows for band in row.by_count if _is_reliable(band)]
        # In the order of counts, even if the first row has no events in some band.
        drawn.sort(key=lambda pair: pair[1].least)
        points = [
            Point(
                count(band.least),
                band.perplexity,
                _kind(row),
                f"{_kind(row)}, context seen {_count_range(band.least, band.most)} times: "
                f"{perplexity(band.perplexity)} ({plural(band.events, 'event')})",
            )
            for row, band in drawn
        ]
        x = "context seen in training (times, at least)"
        panels.append(Panel(title, tuple(points), x, "test perplexity", log_y=True))
    return Chart(
        "bands",
        "Where the tree helps",
        "Test perplexity (logarithmic) by how often the context of an event was seen in training. In a tree, "
        "rare contexts have the state of their group; flat, they stay where the initial clustering put them. "
        f"Bands with fewer than {_MIN_EVENTS} events are not drawn.",
        _legend(pairs),
        panels=tuple(panels),
        data=display_table(
            "Perplexity by count of the context",
            ("Model", _number("Seen"), "Events", _number("Perplexity")),
            [
                (row.title, _count_range(band.least, band.most), band.events, perplexity(band.perplexity))
                for _, rows in pairs
                for row in rows
                for band in row.by_count
            ],
        ),
    )


def _is_reliable(band: CountBand) -> bool:
    return band.events >= _MIN_EVENTS and math.isfinite(band.perplexity)


def sizes_chart(found: Reproduction) -> Chart | None:
    """Draw held-out perplexity by number of clusters."""
    trials = sorted(
        (row.clusters.categories, row.heldout_perplexity, row.title)
        for row in _distinct(found)
        if row.clusters is not None and is_trial(row) and math.isfinite(row.heldout_perplexity)
    )
    if not trials:
        return None
    points = [
        Point(number, value, "held-out perplexity", f"{plural(number, 'cluster')}: {perplexity(value)}")
        for number, value, _ in trials
    ]
    panel = Panel(
        WORDS_TREE, tuple(points), "states, and as many categories", "held-out perplexity", log_x=True
    )
    return Chart(
        "sizes",
        "How many clusters",
        "Perplexity of the held-out text by the number of states, with as many categories.",
        (("held-out perplexity", "tree"),),
        panels=(panel,),
        data=display_table(
            "Numbers of clusters",
            ("Model", "Clusters", _number("Held-out")),
            [(title, number, perplexity(value)) for number, value, title in trials],
        ),
    )


def weights_chart(found: Reproduction) -> Chart | None:
    """Draw the weights of the parts of each mixture."""
    mixtures = [row for row in _distinct(found) if row.parts]
    if not mixtures:
        return None
    names, titles = _names(mixtures), _names(_distinct(found))
    colours = {row.key: _COLOURS[_kind(row)] for row in found.rows}
    return weight_bars(
        [
            (
                names[row.key],
                [Weight(titles[part.name], colours[part.name], part.weight) for part in row.parts],
            )
            for row in mixtures
        ],
        "The weight of each part, on average over the test events.",
    )


def _number(title: str) -> Column:
    """Return a column of numbers that are written out."""
    return Column(title, "number")


def _kind(row: RowResult) -> str:
    return "tree" if is_tree(row) else {"clustered": "flat", "ngram": "n-gram"}.get(row.kind, row.kind)


def _distinct(found: Reproduction) -> list[RowResult]:
    """Return each model once: one that others are compared with may be in several tables."""
    return list({row.key: row for row in found.rows}.values())


def _names(rows: Sequence[RowResult]) -> dict[str, str]:
    """Return a unique name for each row: its title, with its key if another row has the same."""
    titles = [row.title for row in rows]
    return {
        row.key: row.title if titles.count(row.title) == 1 else f"{row.title} ({row.key})" for row in rows
    }


def _pairs(found: Reproduction, chosen: Callable[[RowResult], bool]) -> list[tuple[str, list[RowResult]]]:
    """Return trees together with the flat clustering they are compared with, other rows alone, in order."""
    rows = {row.key: row for row in _distinct(found) if row.kind == "clustered" and chosen(row)}
    names = _names(list(rows.values()))
    trees: dict[str, RowResult] = {}
    for row in rows.values():
        other = rows.get(row.compared_with or "")
        if is_tree(row) and other is not None and not is_tree(other):
            trees.setdefault(other.key, row)
    paired = {row.key for row in trees.values()}
    return [
        (_pair_title(trees[key]), [trees[key], row]) if key in trees else (names[key], [row])
        for key, row in rows.items()
        if key not in paired
    ]


def _pair_title(tree: RowResult) -> str:
    """Return the context of a pair; beyond the paper's tables pairs differ in more than that."""
    if tree.table > PAPER_TABLES:
        return tree.title
    assert tree.clusters is not None
    return f"{tree.clusters.context} ({count(tree.clusters.states)}, {count(tree.clusters.categories)})"


def _legend(pairs: Sequence[tuple[str, list[RowResult]]]) -> Legend:
    kinds = {_kind(row) for _, rows in pairs for row in rows}
    return tuple((kind, colour) for kind, colour in _COLOURS.items() if kind in kinds)


def _count_range(least: int, most: int | None) -> str:
    """Return a range of counts.

    >>> _count_range(0, 0), _count_range(1, 5), _count_range(1000, None)
    ('0', '1–5', '1,000+')
    """
    if most is None:
        return f"{least:,}+"
    return f"{least:,}" if least == most else f"{least:,}\N{EN DASH}{most:,}"
