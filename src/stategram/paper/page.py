"""The report of a reproduction of the paper's tables."""

from __future__ import annotations

import os
from pathlib import Path

from stategram.explore.pages.numbers import DASH, count
from stategram.explore.pages.rendering import render
from stategram.explore.pages.tables import Cell, Column, Table, input_files_table, table
from stategram.paper.charts import bands_chart, perplexity_chart, sizes_chart, sweeps_chart, weights_chart
from stategram.paper.published import CHOICES
from stategram.paper.results import Reproduction, RowResult
from stategram.paper.tables import (
    COMPARABLE,
    MEASURES,
    claims_table,
    conditions_table,
    headline,
    incomplete,
    missing,
    paper_tables,
    tables_markdown,
    uncertainty,
)
from stategram.storage import atomic_write
from stategram.wording import duration


def write_report(found: Reproduction, folder: str | os.PathLike[str]) -> None:
    """Write ``tables.md`` and ``report.html`` into a folder, each atomically."""
    files = {"tables.md": tables_markdown(found), "report.html": report_html(found)}
    for name, text in files.items():
        atomic_write(Path(folder) / name, text.encode())


def report_html(found: Reproduction) -> str:
    """Return the report: one HTML file that needs no other file and no network."""
    titles = {row.key: row.title for row in found.rows}
    return render(
        "reproduction.html",
        package="stategram.paper",
        found=found,
        title=headline(found),
        incomplete=incomplete(found),
        missing=missing(found),
        uncertainty=uncertainty(found),
        train_words=next((text.words for text in found.texts if text.use == "train"), None),
        comparable=COMPARABLE,
        measures=MEASURES,
        choices=CHOICES,
        claims=claims_table(found),
        tables=paper_tables(found),
        conditions=conditions_table(found),
        perplexities=perplexity_chart(found),
        tree_charts=list(filter(None, (bands_chart(found), sweeps_chart(found), sizes_chart(found)))),
        weights=weights_chart(found),
        galleries=[(titles.get(one.key, one.key), one) for one in found.galleries],
        times=_times(found),
        texts=_texts(found),
        inputs=input_files_table(found.inputs),
    )


def _times(found: Reproduction) -> Table:
    return table(
        "Time of each row",
        (
            Column("Model"),
            Column("Time", "number ours"),
            Column("Sweeps", "number"),
            Column("Per sweep", "number"),
            Column("Paper", "number paper"),
        ),
        [_time(row) for row in {row.key: row for row in found.rows}.values()],
    )


def _time(row: RowResult) -> tuple[str | Cell, ...]:
    sweeps = len(row.sweeps)
    return (
        row.title,
        duration(row.seconds),
        count(sweeps) if sweeps else DASH,
        duration(row.seconds / sweeps) if sweeps else DASH,
        _paper_time(row),
    )


def _paper_time(row: RowResult) -> Cell:
    """Return the paper's time of a row; it is compared with ours if there are as many clusters."""
    seconds = row.paper.seconds if row.paper else None
    if seconds is None:
        return Cell()
    as_many = (row.states, row.categories) == row.asked
    ratio = float(f"{seconds / row.seconds:.2g}") if row.seconds else 0.0
    return Cell(f"about {duration(seconds)}", f"{ratio:,.0f} times as long" if as_many and ratio else "")


def _texts(found: Reproduction) -> Table:
    return table(
        "Texts",
        (
            Column("Text"),
            Column("Sentences", "number"),
            Column("Words", "number"),
            Column("Events", "number"),
            Column("Unknown words", "number"),
        ),
        [
            (text.use, count(text.sentences), count(text.words), count(text.events), count(text.unknown))
            for text in found.texts
        ],
    )
