"""What was found, in a sentence."""

from __future__ import annotations

from collections.abc import Callable

from stategram.experiments.reproduction import N_CLAIMS, Reproduction, RowResult
from stategram.report.numbers import share
from stategram.wording import plural

_OF_THE_PAPER = 4


def headline(found: Reproduction) -> str:
    """Say in a sentence whether the paper holds here.

    The gains are the largest in the paper's tables: of a tree against the flat clustering, and of a mixture
    against the n-gram model in it.
    """
    gains = [
        said
        for said in (
            _gain(found, is_tree, "the context tree lowers perplexity", "the context tree gains nothing"),
            _gain(
                found,
                lambda row: row.kind == "mixture",
                "interpolation lowers that of n-gram models",
                "interpolation with n-gram models gains nothing",
            ),
        )
        if said
    ]
    return _verdict(found) + (": " + ", ".join(gains) if gains else "") + "."


def incomplete(found: Reproduction) -> str | None:
    """Say that rows are missing, if they are."""
    if found.complete:
        return None
    rows = plural(len(found.rows), "row is", "rows are")
    return f"Not complete: {rows} done, others are missing. Verdicts and sentences speak of what is done."


def is_tree(row: RowResult) -> bool:
    """Whether a row is a model that was clustered along a context tree; one of a single level is flat."""
    return row.kind == "clustered" and row.tree is True and "," in (row.context or "")


def _verdict(found: Reproduction) -> str:
    held = [claim.holds for claim in found.claims]
    if not held:
        return "No claim of the paper has been tested here yet"
    tested = plural(len(held), "claim")
    tested += " of the paper" if len(held) == N_CLAIMS else f" that could be tested (of {N_CLAIMS})"
    if all(one == "yes" for one in held):
        return f"All {tested} hold here" if len(held) > 1 else f"The {tested} holds here"
    if all(one == "no" for one in held):
        return f"Of the {tested}, none holds here"
    return f"Of the {tested}, {plural(held.count('yes'), 'holds', 'hold')} here in full"


def _gain(found: Reproduction, chosen: Callable[[RowResult], bool], lowers: str, nothing: str) -> str | None:
    changes = [
        row.change
        for row in found.rows
        if row.table <= _OF_THE_PAPER and row.change is not None and chosen(row)
    ]
    if not changes:
        return None
    return f"{lowers} by up to {share(-min(changes))}" if min(changes) < 0 else nothing
