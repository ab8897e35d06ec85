"""The table of items that were scored: of their words, of their sentences, or of their regions."""

from __future__ import annotations

from stategram.progress import Progress
from stategram.scoring.item_block import ItemBlock, check_names
from stategram.scoring.region_columns import check_summable, region_columns
from stategram.scoring.sentence_columns import SENTENCE_COLUMNS, sentence_columns
from stategram.scoring.text_scorer import TextScorer
from stategram.scoring.word_columns import WordColumns
from stategram.tables import Table

ROWS = ("words", "sentences", "regions")
"""What a row of a table of scores is."""


def item_table(
    scorer: TextScorer,
    items: ItemBlock,
    columns: WordColumns,
    rows: str = "words",
    progress: Progress | None = None,
) -> Table:
    """Score items; return a row for each of their words, sentences or regions."""
    if rows == "sentences":
        check_names(items.carried, SENTENCE_COLUMNS)
        found = sentence_columns(scorer.score(items.block))
        return Table(
            items.with_carried(found, items.rows[items.block.corpus.sentence_starts[:-1]]),
            exact=items.carried,
        )
    if rows == "regions":
        check_summable(columns)
        check_names(items.carried, [*columns.column_names, "words"])
        scored = scorer.score(items.block, columns.features)
        return Table(
            items.with_carried(region_columns(columns, items, scored, progress), slice(None)),
            exact=items.carried,
        )
    check_names(items.carried, columns.column_names)
    scored = scorer.score(items.block, columns.features)
    return Table(items.with_carried(columns.of(scored, progress), items.rows), exact=items.carried)
