"""The report of a reproduction of the paper's tables."""

from __future__ import annotations

import os
from pathlib import Path

from stategram.experiments.reproduction import Reproduction, RowResult
from stategram.report.chart import Chart, chart_html, check_report_extra
from stategram.report.galleries import gallery_html
from stategram.report.inputs import FileRead, inputs_table
from stategram.report.markup import Html, element, join
from stategram.report.numbers import DASH, count, share
from stategram.report.page import facts, fold, page
from stategram.report.paper_tables import COMPARABLE, EVENTS, claims_table, paper_tables, tables_markdown
from stategram.report.reproduction_charts import (
    bands_chart,
    perplexity_chart,
    sizes_chart,
    sweeps_chart,
    weights_chart,
)
from stategram.report.table import Cell, Column, Table, table_html
from stategram.report.terms import terms_html
from stategram.report.verdict import headline, incomplete, is_tree
from stategram.storage import atomic_write
from stategram.wording import duration, plural, size

# Ueberla and Gransden (1996), on a workstation of that year.
_SECONDS_OF_A_SWEEP_1996 = 5 * 3600
_SECONDS_OF_THE_TREE_1996 = 3 * 86400
_TREE_OF_1996 = "w-2,w-1"


def write_report(found: Reproduction, folder: str | os.PathLike[str]) -> None:
    """Write ``tables.md`` and ``report.html``, each whole, into a folder that is there."""
    files = {
        "tables.md": tables_markdown(found).encode(),
        "report.html": report_html(found).encode(),
    }
    for name, data in files.items():
        atomic_write(Path(folder) / name, data)


def report_html(found: Reproduction) -> str:
    """Give the report: one HTML file that needs no other and no network."""
    check_report_extra()
    missing = incomplete(found)
    lede = [
        *([element("p", missing, class_="warning", role="note")] if missing else []),
        element("p", _what_it_is(found), class_="lede"),
        element("p", COMPARABLE, class_="lede"),
        terms_html(),
    ]
    parts = [
        ("claims", "Does the paper hold?", _claims(found)),
        ("tables", "The tables", _tables(found)),
        ("tree", "What the tree does", _drawn(bands_chart(found), sweeps_chart(found), sizes_chart(found))),
        ("mixtures", "Mixtures", _drawn(weights_chart(found))),
        ("clusters", "What is in the clusters", _galleries(found)),
        ("time", "How long it took", _times(found)),
        ("repeat", "To repeat it", _repeat(found)),
    ]
    return page(
        headline(found), "Clustered language models, reproduced", lede, [part for part in parts if part[2]]
    )


def _what_it_is(found: Reproduction) -> str:
    text = next((text for text in found.texts if text.use == "train"), None)
    words = f" on {plural(text.words, 'word')} of text" if text else ""
    return (
        f"The tables of J. P. Ueberla and I. R. Gransden, “Clustered Language Models with Context-Equivalent "
        f"States” (ICSLP 1996), computed again{words} with a vocabulary of "
        f"{plural(found.vocabulary, 'word')}."
    )


def _claims(found: Reproduction) -> Html:
    if not found.claims:
        return Html("")
    return element("div", table_html(claims_table(found), caption=False), class_="prose")


def _tables(found: Reproduction) -> Html:
    return join(element("p", EVENTS), _drawn(perplexity_chart(found)), *map(table_html, paper_tables(found)))


def _drawn(*charts: Chart | None) -> Html:
    return join(*(chart_html(chart) for chart in charts if chart is not None))


def _galleries(found: Reproduction) -> Html:
    titles = {row.key: row.title for row in found.rows}
    return join(*(gallery_html(one, titles.get(one.key, one.key)) for one in found.galleries))


def _times(found: Reproduction) -> Html:
    table = Table(
        "Time of each row",
        (
            Column("Model"),
            Column("Time", figures=True, style="ours"),
            Column("Sweeps", figures=True, may_go=True),
            Column("A sweep", figures=True, may_go=True),
            Column("1996", figures=True, may_go=True, style="paper"),
        ),
        tuple(_time(row) for row in {row.key: row for row in found.rows}.values()),
        (
            "Without what rows share"
            + "".join(f"; {name}: {duration(seconds)}" for name, seconds in found.shared_seconds.items())
            + ". In 1996 a sweep of the tree trigram took about 5 hours, all of it about 3 days, on a "
            "workstation of that year and another text: an impression, not a comparison of methods.",
        ),
    )
    rows = plural(len(table.rows), "row")
    return join(
        element("p", f"{rows} in {duration(found.seconds)}."),
        fold("Time of each row", table_html(table.without_empty_columns(), caption=False)),
    )


def _time(row: RowResult) -> tuple[Cell, ...]:
    sweeps = len(row.sweeps)
    a_sweep = row.seconds / sweeps if sweeps else None
    return (
        Cell(row.title),
        Cell(duration(row.seconds)),
        Cell(count(sweeps) if sweeps else DASH),
        Cell(duration(a_sweep) if a_sweep is not None else DASH),
        _of_1996(row, a_sweep),
    )


def _of_1996(row: RowResult, a_sweep: float | None) -> Cell:
    """Give the time of the one row of which it is known; it is compared with that of as many clusters."""
    if not is_tree(row) or row.context != _TREE_OF_1996 or row.table != 1:
        return Cell()
    note = ""
    if a_sweep and (row.states, row.categories) == row.asked:
        whole, one = _SECONDS_OF_THE_TREE_1996 / row.seconds, _SECONDS_OF_A_SWEEP_1996 / a_sweep
        note = f"{_rounded(whole)} times as long, a sweep {_rounded(one)} times"
    return Cell("about 3 days, 5 h a sweep", note)


def _rounded(ratio: float) -> str:
    return f"{float(f'{ratio:.2g}'):,.0f}"


def _tags(found: Reproduction) -> str:
    if found.tags is None:
        return "none"
    if found.tag_coverage is None:
        return found.tags
    return f"{found.tags}; {share(found.tag_coverage)} of the words of the training text are in it"


def _repeat(found: Reproduction) -> Html:
    said = [
        ("Scale", found.scale),
        ("Tags", _tags(found)),
        ("Seed", str(found.seed)),
        ("Threads", str(found.threads)),
        *((name, version) for name, version in found.versions.items()),
        ("Machine", found.machine),
        ("Time in all", duration(found.seconds)),
        *([("Most memory", size(found.peak_bytes))] if found.peak_bytes else []),
    ]
    texts = Table(
        "Texts",
        (
            Column("Text"),
            Column("Sentences", figures=True),
            Column("Words", figures=True),
            Column("Events", figures=True),
            Column("Unknown words", figures=True),
        ),
        tuple(
            (
                Cell(text.use),
                Cell(count(text.sentences)),
                Cell(count(text.words)),
                Cell(count(text.events)),
                Cell(count(text.unknown)),
            )
            for text in found.texts
        ),
    )
    inputs = inputs_table(FileRead(one.use, one.name, one.bytes, one.sha256) for one in found.inputs)
    return join(element("pre", found.command), facts(said), table_html(texts), table_html(inputs))
