"""What was found, in one sentence."""

from __future__ import annotations

from collections.abc import Callable

from stategram.experiments.reproduction import N_CLAIMS, Reproduction, RowResult
from stategram.report.numbers import percent
from stategram.wording import plural

PAPER_TABLES = 4


def headline(found: Reproduction) -> str:
    """Return in one sentence whether the paper's claims hold, with the largest gains in its tables.

    The gains are those of a tree against flat clustering, and of a mixture against the n-gram model in it.
    """
    gains = [
        _gain(found, is_tree, "the context tree lowers perplexity", "the context tree gains nothing"),
        _gain(
            found,
            lambda row: row.kind == "mixture",
            "interpolation lowers that of n-gram models",
            "interpolation with n-gram models gains nothing",
        ),
    ]
    return ": ".join(filter(None, [_verdict(found), ", ".join(filter(None, gains))])) + "."


def incomplete(found: Reproduction) -> str | None:
    """Return a warning if rows are missing."""
    if found.complete:
        return None
    rows = plural(len(found.rows), "row is", "rows are")
    return f"Incomplete: {rows} finished, others are missing. The verdicts are based on the finished rows."


def is_tree(row: RowResult) -> bool:
    """Whether a row is a model that was clustered along a context tree; one of a single level is flat."""
    return row.kind == "clustered" and row.tree is True and "," in (row.context or "")


def _verdict(found: Reproduction) -> str:
    holds = [claim.holds for claim in found.claims]
    if not holds:
        return "No claim of the paper has been tested yet"
    tested = plural(len(holds), "claim")
    tested += " of the paper" if len(holds) == N_CLAIMS else f" that could be tested (of {N_CLAIMS})"
    if all(one == "yes" for one in holds):
        return f"All {tested} hold" if len(holds) > 1 else f"The {tested} holds"
    if all(one == "no" for one in holds):
        return f"Of the {tested}, none holds"
    return f"Of the {tested}, {plural(holds.count('yes'), 'holds', 'hold')} in full"


def _gain(found: Reproduction, chosen: Callable[[RowResult], bool], lowers: str, nothing: str) -> str | None:
    changes = [
        row.change
        for row in found.rows
        if row.table <= PAPER_TABLES and row.change is not None and chosen(row)
    ]
    if not changes:
        return None
    return f"{lowers} by up to {percent(-min(changes))}" if min(changes) < 0 else nothing
