"""What a model says of each word of a text, as tables."""

from stategram.scoring.columns import BASES, COLUMNS, DEFAULT_COLUMNS, UNITS, WordColumns
from stategram.scoring.items import ItemBlock, check_unit, score_items, surprisal
from stategram.scoring.score import TextScorer, score_texts

__all__ = [
    "BASES",
    "COLUMNS",
    "DEFAULT_COLUMNS",
    "UNITS",
    "ItemBlock",
    "TextScorer",
    "WordColumns",
    "check_unit",
    "score_items",
    "score_texts",
    "surprisal",
]
