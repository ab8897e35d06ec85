"""How good classes and models are, in figures."""

from stategram.evaluation.class_bigram import (
    ClassBigramFigures,
    average_mutual_information,
    class_bigram_perplexity,
)
from stategram.evaluation.comparison import ComparedModel, Comparison, compare, compare_scores
from stategram.evaluation.figures import describe_class_bigram, describe_comparison, describe_perplexity
from stategram.evaluation.normalisation import HistorySum, history_sums
from stategram.evaluation.parts_table import cross_validated, heldout_tables
from stategram.evaluation.perplexity import (
    HistoryFigures,
    OrderFigures,
    PartFigures,
    PerplexityFigures,
    evaluate,
    evaluate_resampled,
    score_in_pieces,
)
from stategram.evaluation.rescoring import Rescored, WordErrors, rescore
from stategram.evaluation.uncertainty import (
    LEVEL,
    Difference,
    Interval,
    ResampledPerplexity,
    Resampling,
    Units,
    quantiles,
)

__all__ = [
    "LEVEL",
    "ClassBigramFigures",
    "ComparedModel",
    "Comparison",
    "Difference",
    "HistoryFigures",
    "HistorySum",
    "Interval",
    "OrderFigures",
    "PartFigures",
    "PerplexityFigures",
    "ResampledPerplexity",
    "Resampling",
    "Rescored",
    "Units",
    "WordErrors",
    "average_mutual_information",
    "class_bigram_perplexity",
    "compare",
    "compare_scores",
    "cross_validated",
    "describe_class_bigram",
    "describe_comparison",
    "describe_perplexity",
    "evaluate",
    "evaluate_resampled",
    "heldout_tables",
    "history_sums",
    "quantiles",
    "rescore",
    "score_in_pieces",
]
