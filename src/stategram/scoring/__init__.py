"""What a model says of each word of a text, as tables."""

from stategram.scoring.sentence_columns import sentence_columns
from stategram.scoring.text_scorer import TextScorer
from stategram.scoring.word_columns import BASES, COLUMNS, SCORE_COLUMNS, WordColumns
from stategram.scoring.word_table import surprisal

__all__ = ["BASES", "COLUMNS", "SCORE_COLUMNS", "TextScorer", "WordColumns", "sentence_columns", "surprisal"]
