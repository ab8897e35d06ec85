"""The tables of a reproduction, the paper's figures beside ours, and what they show in one sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from stategram.display import (
    Cell,
    Column,
    DisplayTable,
    Value,
    change,
    count,
    display_table,
    duration,
    percent,
    perplexity,
    plural,
    size,
    table_text,
)
from stategram.paper.claims import N_CLAIMS, untested
from stategram.paper.published import PAPER, RARE_CONTEXTS, TAGS, TRAINING_WORDS, VOCABULARY_SIZE
from stategram.paper.results import Reproduction, RowResult, Verdict

PAPER_TABLES = 4
TABLE_TITLES = {
    1: "Table 1. Contexts of words",
    2: "Table 2. Contexts of part-of-speech tags",
    3: "Table 3. Contexts of learned word classes",
    4: "Table 4. Interpolation with n-gram models",
    5: "Table 5. Beyond the paper",
}
COMPARABLE = (
    "The paper used about 38 million words of the Wall Street Journal and a vocabulary of 20,000 words. "
    "Relative differences can be compared between texts: how much better a tree is than flat clustering, or "
    "a mixture than its n-gram model. Absolute perplexities cannot: they depend on the text, its size and "
    "its vocabulary."
)
MEASURES = (
    "An event is a word or the end of a sentence. “Perplexity” is that of the test text with <unk> counted "
    "as a word; “Without <unk>” leaves out the events of unknown words; “Held-out” is that of the text on "
    "which weights were learned. “Change” is relative to the row named below it."
)
_NO_TABLE_2 = "Table 2 is missing, because there are no tags: "


def uncertainty(found: Reproduction) -> str:
    """Return how the confidence intervals were found, and what they cover."""
    units = found.resampling.drawn
    text = (
        f"Perplexities and changes have {found.resampling.level:.0%} confidence intervals: those of a paired "
        f"bootstrap, {count(found.resampling.resamples)} resamples of the {units} of the test text. They "
        "cover the choice of the test text, not that of the training text or of the seed."
    )
    if found.resampling.is_unreliable:
        text += f" With only {units} these intervals are unreliable, most likely too short."
    return text


def missing(found: Reproduction) -> list[str]:
    """Return why table 2 is missing, and which claims could not be tested."""
    lines = []
    if found.no_tags is not None:
        lines.append(f"{_NO_TABLE_2}{found.no_tags}.")
    if found.complete and (claims := untested(found.claims)):
        names = "; ".join(f"“{claim}”" for claim in claims)
        number = plural(len(claims), "claim was", "claims were")
        lines.append(f"{number} not tested: {names}.")
    return lines


def summary(found: Reproduction) -> str:
    """Return all tables, the claims, time and memory for a terminal."""
    test = next(text for text in found.texts if text.use == "test")
    run = found.run
    memory = f", {size(run.peak_bytes)} at most" if run.peak_bytes else ""
    claims = [
        f"  {claim.verdict + ':':13} {claim.claim} ({claim.rule})\n"
        f"                paper: {claim.paper}; here: {claim.found}"
        for claim in found.claims
    ]
    if claims:
        claims = [headline(found), "The claims of the paper, its figures, and those found here:", *claims]
    return "\n".join(
        [
            f"Perplexity of {test.events:,} test events ({test.unknown:,} of them unknown words, which "
            f"count); vocabulary of {found.vocabulary:,} words.",
            *filter(None, (uncertainty(found), *missing(found))),
            *(f"\n{table_text(one)}" for one in (*paper_tables(found), conditions_table(found))),
            "",
            *claims,
            f"\n{table_text(times_table(found))}",
            f"{duration(run.seconds)} in all, {duration(run.cpu_seconds)} of processor time{memory}.",
        ]
    )


def claims_table(found: Reproduction) -> DisplayTable:
    """Return the paper's claims, its figures beside ours."""
    return display_table(
        "The paper's claims",
        ("Claim", "Paper", "Here", "Verdict"),
        [
            (
                Cell(claim.claim, f"Rule: {claim.rule}." if claim.rule else ""),
                claim.paper,
                claim.found,
                Cell(
                    claim.verdict,
                    f"by equation (1): {claim.printed}" if claim.printed not in (None, claim.verdict) else "",
                    f"verdict {claim.verdict}",
                ),
            )
            for claim in found.claims
        ],
        missing(found),
    )


def conditions_table(found: Reproduction) -> DisplayTable:
    """Return the conditions of the paper beside ours."""
    rows = {row.key: row for row in found.rows}
    words = next((text.words for text in found.texts if text.use == "train"), None)
    lines: list[tuple[Value | Cell, ...]] = [
        ("Words of the training text", f"about {count(TRAINING_WORDS)}", count(words)),
        ("Words of the vocabulary", count(VOCABULARY_SIZE), count(found.vocabulary)),
    ]
    if (tree := rows.get("w-2,w-1 tree")) is not None and tree.clusters is not None:
        fraction = percent(tree.clusters.rare_contexts / tree.clusters.contexts)
        name = "Distinct contexts w-2,w-1 that occurred fewer than 6 times"
        lines.append((name, RARE_CONTEXTS, Cell(fraction, f"of {count(tree.clusters.contexts)}")))
    if found.tags is not None:
        lines.append(("Tags", count(TAGS), count(found.tags.number)))
    for key, printed in (("back-off 3", "back-off 3"), ("w-2,w-1 tree", "w-2,w-1 tree strict")):
        if printed in rows:
            name = f"Parameters of the model {rows[printed].title}"
            lines.append((name, f"about {count(PAPER[key].parameters)}", count(rows[printed].parameters)))
    columns = ("Condition", Column("Paper", "number paper"), Column("Here", "number ours"))
    return display_table("Conditions", columns, lines)


def paper_tables(found: Reproduction) -> list[DisplayTable]:
    """Return the tables that have rows."""
    return [paper_table(found, number) for number in sorted({row.table for row in found.rows})]


def paper_table(found: Reproduction, number: int) -> DisplayTable:
    """Return a table, the paper's figures beside ours."""
    rows = [row for row in found.rows if row.table == number]
    # Events are in the note below the table, and in it only if they differ.
    differ = len({(row.test.events, row.test.unknown) for row in rows}) > 1
    return display_table(
        TABLE_TITLES.get(number, f"Table {number}"),
        (
            "Model",
            Column("States \N{MULTIPLICATION SIGN} categories", "number"),
            Column("Perplexity", "number ours"),
            Column("Paper", "number paper"),
            Column("Change", "number ours"),
            Column("Paper's change", "number paper"),
            Column("Without <unk>", "number"),
            Column("Held-out", "number"),
            Column("Parameters", "number"),
            Column("Events", "number"),
            Column("Unknown", "number"),
        ),
        [_row(row, found, events=differ) for row in rows],
        [_note(rows)],
    )


def times_table(found: Reproduction) -> DisplayTable:
    """Return how long each row took, here and in the paper."""
    return display_table(
        "Time of each row",
        (
            "Model",
            Column("Time", "number ours"),
            Column("Sweeps", "number"),
            Column("Per sweep", "number"),
            Column("Paper", "number paper"),
        ),
        [_time(row) for row in {row.key: row for row in found.rows}.values()],
    )


def _time(row: RowResult) -> tuple[Value | Cell, ...]:
    sweeps = len(row.sweeps)
    return (
        row.title,
        duration(row.seconds),
        sweeps or None,
        duration(row.seconds / sweeps) if sweeps else "",
        _paper_time(row),
    )


def _paper_time(row: RowResult) -> Cell:
    """Return the paper's time of a row; it is compared with ours if there are as many clusters."""
    seconds = row.paper.seconds if row.paper else None
    if seconds is None:
        return Cell()
    as_many = _sizes(row) == row.asked
    ratio = float(f"{seconds / row.seconds:.2g}") if row.seconds else 0.0
    return Cell(f"about {duration(seconds)}", f"{ratio:,.0f} times as long" if as_many and ratio else "")


def _row(row: RowResult, found: Reproduction, *, events: bool) -> tuple[Value | Cell, ...]:
    against, differs = _against(row, found), row.difference
    ends = "" if differs is None else f"{change(differs.low)} to {change(differs.high)}"
    return (
        Cell(row.title, row.note),
        Cell(
            _clusters(_sizes(row)),
            f"paper: {_clusters(row.asked)}" if _has_other_sizes(row) else "",
        ),
        Cell(perplexity(row.test.perplexity), str(row.test.interval or "")),
        Cell(row.paper.perplexity if row.paper else None),
        Cell(
            change(None if differs is None else differs.relative),
            f"against {against}\n{ends}" if against and differs is not None else ends,
        ),
        change(row.paper.change if row.paper else None),
        perplexity(row.test.perplexity_known),
        perplexity(row.heldout_perplexity),
        count(row.parameters),
        count(row.test.events) if events else "",
        count(row.test.unknown) if events else "",
    )


def _against(row: RowResult, found: Reproduction) -> str:
    """Return the name of the row that a row is compared with."""
    if row.compared_with is None:
        return ""
    other = next((one for one in found.rows if one.key == row.compared_with), None)
    if other is None:
        return row.compared_with
    if other.clusters is None or row.clusters is None or other.clusters.context != row.clusters.context:
        return other.title
    name = "the tree" if is_tree(other) else "flat"
    return name if other.table == row.table else f"{name} of table {other.table}"


def _note(rows: list[RowResult]) -> str:
    sizes = {(row.test.events, row.test.unknown) for row in rows}
    note = "The models were not tested on the same events."
    if len(sizes) == 1:
        ((events, unknown),) = sizes
        fraction = f" ({percent(unknown / events)})" if events else ""
        note = f"{plural(events, 'test event')}, {count(unknown)} of them unknown words{fraction}."
    perplexities = {row.key: row.test.perplexity for row in rows}
    flat, bigram = (perplexities.get(key, math.nan) for key in ("w-2,w-1 flat", "w-1 2000,2000"))
    if flat > bigram:
        note += (
            f" Without the tree, two words of context (w-2,w-1) are {percent(flat / bigram - 1)} worse here "
            "than one (w-1); in the paper they are better."
        )
    if any(map(_has_other_sizes, rows)):
        note += " Where the paper has other numbers of states and categories, they are below ours."
    return note


def _sizes(row: RowResult) -> tuple[int, int] | None:
    return None if row.clusters is None else (row.clusters.states, row.clusters.categories)


def _clusters(sizes: tuple[int, int] | None) -> str:
    return "" if sizes is None else f"{sizes[0]:,} \N{MULTIPLICATION SIGN} {sizes[1]:,}"


def _has_other_sizes(row: RowResult) -> bool:
    return row.asked is not None and _sizes(row) != row.asked


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
    return row.clusters is not None and row.clusters.tree and "," in row.clusters.context


def _verdict(found: Reproduction) -> str:
    verdicts = [claim.verdict for claim in found.claims]
    if not verdicts:
        return "No claim of the paper has been tested yet"
    tested = plural(len(verdicts), "claim")
    tested += " of the paper" if len(verdicts) == N_CLAIMS else f" that could be tested (of {N_CLAIMS})"
    notes = []
    printed = [claim.printed or claim.verdict for claim in found.claims]
    if printed != verdicts:
        notes.append(f"by equation (1) as printed {_counts(printed)}")
    if found.resampling.is_unreliable:
        notes.append(f"by only {found.resampling.drawn}")
    note = f" ({'; '.join(notes)})" if notes else ""
    if set(verdicts) == {"holds"}:
        return f"All {tested} hold{note}" if len(verdicts) > 1 else f"The {tested} holds{note}"
    return f"Of the {tested}, {_counts(verdicts)}{note}"


def _counts(verdicts: Sequence[Verdict]) -> str:
    """Return how many claims hold, are contradicted and are undecided."""
    shown = {
        "holds": ("holds", "hold"),
        "contradicted": ("is contradicted", "are contradicted"),
        "undecided": ("is undecided", "are undecided"),
    }
    return ", ".join(
        plural(verdicts.count(name), *forms) for name, forms in shown.items() if name in verdicts
    )


def _gain(found: Reproduction, chosen: Callable[[RowResult], bool], lowers: str, nothing: str) -> str | None:
    differences = [
        row.difference
        for row in found.rows
        if row.table <= PAPER_TABLES and row.difference is not None and chosen(row)
    ]
    if not differences:
        return None
    best = min(differences, key=lambda difference: difference.relative)
    if best.relative >= 0:
        return nothing
    return f"{lowers} by up to {percent(-best.relative)}{'' if best.decided else ' (undecided)'}"
