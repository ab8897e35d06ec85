"""The tables of a reproduction: the paper's four, and what goes beyond it."""

from __future__ import annotations

from stategram.experiments.reproduction import Reproduction, RowResult
from stategram.report.numbers import DASH, TIMES, change, count, perplexity, share
from stategram.report.table import Cell, Column, Table, markdown_text, table_markdown
from stategram.report.verdict import headline, incomplete, is_tree
from stategram.wording import plural

TABLE_TITLES = {
    1: "Table 1. Contexts of words",
    2: "Table 2. Contexts of part-of-speech tags",
    3: "Table 3. Contexts of learned word classes",
    4: "Table 4. Interpolation with n-gram models",
    5: "Table 5. Beyond the paper",
}
COMPARABLE = (
    "Relative differences can be compared between texts: how much better a tree is than flat clusters, a "
    "mixture than its n-gram model. Absolute perplexities cannot: they depend on the text, its vocabulary "
    "and its size, and the paper's are of another text."
)
EVENTS = (
    "An event is a word or the end of a sentence. “Perplexity” is that of the test text with <unk> counted "
    "as a word; “Without <unk>” leaves the events of unknown words out. “Held-out” is of the text on which "
    "weights were learned."
)


def tables_markdown(found: Reproduction) -> str:
    """Give the verdict, the claims and all tables as Markdown."""
    first = [headline(found), *filter(None, [incomplete(found)]), COMPARABLE, EVENTS]
    tables = ([claims_table(found)] if found.claims else []) + paper_tables(found)
    return "# " + "\n\n".join(map(markdown_text, first)) + "\n\n" + "\n".join(map(table_markdown, tables))


def claims_table(found: Reproduction) -> Table:
    """Give what the paper claims beside what was found."""
    return Table(
        "What the paper claims",
        (Column("Claim"), Column("Paper"), Column("Here"), Column("Holds")),
        tuple(
            (
                Cell(claim.claim, f"Judged here: {claim.rule}." if claim.rule else ""),
                Cell(claim.paper or DASH),
                Cell(claim.found or DASH),
                Cell(claim.holds, style=f"holds {claim.holds}"),
            )
            for claim in found.claims
        ),
    )


def paper_tables(found: Reproduction) -> list[Table]:
    """Give the tables that have rows."""
    return [paper_table(found, number) for number in sorted({row.table for row in found.rows})]


def paper_table(found: Reproduction, number: int) -> Table:
    """Give a table, the paper's figures beside ours as far as they are known."""
    rows = [row for row in found.rows if row.table == number]
    columns = (
        Column("Model"),
        Column(f"States {TIMES} categories", figures=True, may_go=True),
        Column("Perplexity", figures=True, style="ours"),
        Column("Without <unk>", figures=True),
        Column("Change", figures=True, may_go=True, style="ours"),
        Column("Paper", figures=True, may_go=True, style="paper"),
        Column("Paper's change", figures=True, may_go=True, style="paper"),
        Column("Held-out", figures=True),
        Column("Parameters", figures=True),
        Column("Events", figures=True, may_go=True),
        Column("Unknown", figures=True, may_go=True),
    )
    # The events are said below the table, and in it only if they differ.
    differ = len({(row.test.events, row.test.unknown) for row in rows}) > 1
    return Table(
        TABLE_TITLES.get(number, f"Table {number}"),
        columns,
        tuple(_row(row, found, events=differ) for row in rows),
        _notes(rows),
    ).without_empty_columns()


def _row(row: RowResult, found: Reproduction, *, events: bool) -> tuple[Cell, ...]:
    paper = row.paper
    against = _against(row, found)
    return (
        Cell(row.title, row.note),
        Cell(
            _clusters(row.states, row.categories),
            f"paper: {_clusters(*row.asked)}" if row.asked and _differs(row) else "",
        ),
        Cell(perplexity(row.test.perplexity)),
        Cell(perplexity(row.test.perplexity_known)),
        Cell(change(row.change), f"against {against}" if against and row.change is not None else ""),
        Cell(perplexity(paper.perplexity if paper else None)),
        Cell(change(paper.change) if paper else DASH),
        Cell(perplexity(row.heldout_perplexity)),
        Cell(count(row.parameters)),
        Cell(count(row.test.events) if events else DASH),
        Cell(count(row.test.unknown) if events else DASH),
    )


def _against(row: RowResult, found: Reproduction) -> str:
    """Say what a row is compared with."""
    if row.compared_with is None:
        return ""
    other = next((one for one in found.rows if one.key == row.compared_with), None)
    if other is not None and other.kind == "clustered" and other.context == row.context:
        return "the tree of table 1" if is_tree(other) else "flat"
    return other.title if other is not None else row.compared_with


def _notes(rows: list[RowResult]) -> tuple[str, ...]:
    sizes = {(row.test.events, row.test.unknown) for row in rows}
    notes = ["The models were not tested on the same events."]
    if len(sizes) == 1:
        ((events, unknown),) = sizes
        part = f" ({share(unknown / events)})" if events else ""
        notes = [f"{plural(events, 'test event')}, {count(unknown)} of them unknown words{part}."]
    if any(map(_differs, rows)):
        notes.append("Where the paper has other numbers of states and categories, they are below ours.")
    return (" ".join(notes),)


def _clusters(states: int | None, categories: int | None) -> str:
    return DASH if states is None and categories is None else f"{count(states)} {TIMES} {count(categories)}"


def _differs(row: RowResult) -> bool:
    return row.asked is not None and (row.states, row.categories) != row.asked
