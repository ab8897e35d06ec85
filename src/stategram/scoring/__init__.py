"""What a model says of each word of a text, as tables."""

from stategram.scoring.columns import (
    BASES,
    COLUMNS,
    OF_REGIONS,
    REGION_COLUMNS,
    SCORE_COLUMNS,
    WordColumns,
)
from stategram.scoring.items import ItemBlock, score_items, surprisal
from stategram.scoring.score import TextScorer, score_texts

__all__ = [
    "BASES",
    "COLUMNS",
    "OF_REGIONS",
    "REGION_COLUMNS",
    "SCORE_COLUMNS",
    "ItemBlock",
    "TextScorer",
    "WordColumns",
    "score_items",
    "score_texts",
    "surprisal",
]
