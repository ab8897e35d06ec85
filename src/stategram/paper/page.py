"""The report of a reproduction of the paper's tables."""

from __future__ import annotations

import os
from pathlib import Path

from stategram.display import DisplayTable, display_table
from stategram.explore.pages.rendering import input_files_table, render
from stategram.paper.charts import bands_chart, perplexity_chart, sizes_chart, sweeps_chart, weights_chart
from stategram.paper.published import CHOICES
from stategram.paper.results import Reproduction
from stategram.paper.tables import (
    COMPARABLE,
    MEASURES,
    claims_table,
    conditions_table,
    headline,
    incomplete,
    missing,
    paper_tables,
    times_table,
    uncertainty,
)
from stategram.storage import atomic_write


def write_report(found: Reproduction, folder: str | os.PathLike[str]) -> None:
    """Write ``report.html`` into a folder, atomically."""
    atomic_write(Path(folder) / "report.html", report_html(found).encode())


def report_html(found: Reproduction) -> str:
    """Return the report: one HTML file that needs no other file and no network."""
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
        galleries=list({row.key: (row.title, row.gallery) for row in found.rows if row.gallery}.values()),
        times=times_table(found),
        texts=_texts(found),
        inputs=input_files_table(found.inputs),
    )


def _texts(found: Reproduction) -> DisplayTable:
    return display_table(
        "Texts",
        ("Text", "Sentences", "Words", "Events", "Unknown words"),
        [(text.use, text.sentences, text.words, text.events, text.unknown) for text in found.texts],
    )
