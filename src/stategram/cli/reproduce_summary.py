"""The tables of a reproduction as plain text."""

from __future__ import annotations

from collections.abc import Iterator

from stategram.experiments.reproduction import Reproduction, RowResult
from stategram.report import TABLE_TITLES
from stategram.wording import duration, size

_WIDTH = 50


def summary(found: Reproduction) -> str:
    """Give all tables, the claims and where the figures are from."""
    return "\n".join(_lines(found))


def _lines(found: Reproduction) -> Iterator[str]:
    test = next(text for text in found.texts if text.use == "test")
    yield (
        f"Perplexity of {test.events:,} test events ({test.unknown:,} of them unknown words, which count); "
        f"vocabulary of {found.vocabulary:,} words."
    )
    for number, title in TABLE_TITLES.items():
        rows = [row for row in found.rows if row.table == number]
        if not rows:
            continue
        yield ""
        yield f"{title:{_WIDTH}} {'states':>7} {'categ.':>7} {'perplexity':>11} {'change':>7} {'time':>12}"
        yield from map(_row, rows)
    yield ""
    yield (
        "change: against the flat row for a tree, the n-gram model for a mixture; in table 5, against the "
        "tree of table 1, for the recipe against Kneser-Ney 5"
    )
    if found.claims:
        yield ""
        yield "What the paper says, and what was found here:"
        for claim in found.claims:
            yield f"  {claim.holds + ':':7} {claim.claim}"
            yield f"          paper: {claim.paper}; here: {claim.found}"
    yield ""
    memory = f", {size(found.peak_bytes)} at most" if found.peak_bytes else ""
    yield f"{duration(found.seconds)} in all{memory}."


def _row(row: RowResult) -> str:
    states = "" if row.states is None else f"{row.states:,}"
    categories = "" if row.categories is None else f"{row.categories:,}"
    change = "" if row.change is None else f"{round(row.change, 3) + 0.0:+.1%}"
    return (
        f"  {row.title:{_WIDTH - 2}} {states:>7} {categories:>7} {row.test.perplexity:>11,.1f} "
        f"{change:>7} {duration(row.seconds):>12}"
    )
