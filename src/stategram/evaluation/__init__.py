"""How good classes and models are, in figures."""

from stategram.evaluation.class_bigram import (
    ClassBigramFigures,
    average_mutual_information,
    class_bigram_perplexity,
)
from stategram.evaluation.nbest import HypothesisErrors, NBestLists, WordErrors, hypothesis_errors
from stategram.evaluation.normalisation import HistorySum, history_sums
from stategram.evaluation.perplexity import HistoryFigures, OrderFigures, PerplexityFigures, evaluate
from stategram.evaluation.rescoring import Rescored, rescore
from stategram.models import PartFigures

__all__ = [
    "ClassBigramFigures",
    "HistoryFigures",
    "HistorySum",
    "HypothesisErrors",
    "NBestLists",
    "OrderFigures",
    "PartFigures",
    "PerplexityFigures",
    "Rescored",
    "WordErrors",
    "average_mutual_information",
    "class_bigram_perplexity",
    "evaluate",
    "history_sums",
    "hypothesis_errors",
    "rescore",
]
