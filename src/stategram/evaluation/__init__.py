"""How good classes and models are, in figures."""

from stategram.evaluation.class_bigram import (
    ClassBigramFigures,
    average_mutual_information,
    class_bigram_perplexity,
)
from stategram.evaluation.normalisation import HistorySum, history_sums
from stategram.evaluation.perplexity import HistoryFigures, OrderFigures, PerplexityFigures, evaluate
from stategram.models import PartFigures

__all__ = [
    "ClassBigramFigures",
    "HistoryFigures",
    "HistorySum",
    "OrderFigures",
    "PartFigures",
    "PerplexityFigures",
    "average_mutual_information",
    "class_bigram_perplexity",
    "evaluate",
    "history_sums",
]
