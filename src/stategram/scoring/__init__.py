"""What a model says of each word of a text, as tables."""

from stategram.scoring.columns import (
    BASES,
    COLUMNS,
    OF_REGIONS,
    REGION_COLUMNS,
    SCORE_COLUMNS,
    WordColumns,
)
from stategram.scoring.score import (
    ModelSource,
    PieceScorer,
    TextScorer,
    TextScoring,
    keep_models,
    score_text,
    score_texts,
)
from stategram.scoring.surprisal import ItemBlock, score_items, surprisal

__all__ = [
    "BASES",
    "COLUMNS",
    "OF_REGIONS",
    "REGION_COLUMNS",
    "SCORE_COLUMNS",
    "ItemBlock",
    "ModelSource",
    "PieceScorer",
    "TextScorer",
    "TextScoring",
    "WordColumns",
    "keep_models",
    "score_items",
    "score_text",
    "score_texts",
    "surprisal",
]
