"""How good classes and models are, in figures."""

from stategram.evaluation.class_bigram import (
    ClassBigramFigures,
    average_mutual_information,
    class_bigram_perplexity,
)

__all__ = ["ClassBigramFigures", "average_mutual_information", "class_bigram_perplexity"]
