"""What a model says of each word of a text, as tables."""

from stategram.scoring.item_block import ItemBlock
from stategram.scoring.item_table import item_table
from stategram.scoring.model_source import ModelSource
from stategram.scoring.pieces import PieceScorer
from stategram.scoring.region_columns import OF_REGIONS, REGION_COLUMNS
from stategram.scoring.sentence_columns import sentence_columns
from stategram.scoring.text_parts import TablePart, TextScoring, score_parts
from stategram.scoring.text_scorer import TextScorer
from stategram.scoring.word_columns import BASES, COLUMNS, SCORE_COLUMNS, WordColumns
from stategram.scoring.word_table import surprisal

__all__ = [
    "BASES",
    "COLUMNS",
    "OF_REGIONS",
    "REGION_COLUMNS",
    "SCORE_COLUMNS",
    "ItemBlock",
    "ModelSource",
    "PieceScorer",
    "TablePart",
    "TextScorer",
    "TextScoring",
    "WordColumns",
    "item_table",
    "score_parts",
    "sentence_columns",
    "surprisal",
]
