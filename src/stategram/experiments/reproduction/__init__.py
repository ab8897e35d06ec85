"""The tables of Ueberla and Gransden (1996), on any text."""

from stategram.experiments.reproduction.claims import N_CLAIMS
from stategram.experiments.reproduction.paper import CHOICES, CITATION, PAPER, VOCABULARY_SIZE
from stategram.experiments.reproduction.results import (
    Claim,
    CountBand,
    PaperFigures,
    Reproduction,
    RowResult,
    SizeTrial,
    TextFigures,
)
from stategram.experiments.reproduction.rows import check_scale
from stategram.experiments.reproduction.runner import check_folder, reproduce, reproduce_texts
from stategram.experiments.reproduction.texts import Texts, input_file, read_texts, texts_of_sentences

__all__ = [
    "CHOICES",
    "CITATION",
    "N_CLAIMS",
    "PAPER",
    "VOCABULARY_SIZE",
    "Claim",
    "CountBand",
    "PaperFigures",
    "Reproduction",
    "RowResult",
    "SizeTrial",
    "TextFigures",
    "Texts",
    "check_folder",
    "check_scale",
    "input_file",
    "read_texts",
    "reproduce",
    "reproduce_texts",
    "texts_of_sentences",
]
