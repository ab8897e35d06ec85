"""The tables of Ueberla and Gransden (1996), on any text."""

from stategram.experiments.reproduction.claims import N_CLAIMS
from stategram.experiments.reproduction.paper import (
    CHOICES,
    PAPER,
    RARE_CONTEXTS,
    TAGS,
    TRAINING_WORDS,
    VOCABULARY_SIZE,
)
from stategram.experiments.reproduction.results import (
    CountBand,
    Reproduction,
    RowResult,
    SeedFigures,
    Verdict,
)
from stategram.experiments.reproduction.rows import check_scale
from stategram.experiments.reproduction.run import TABLES, Clock
from stategram.experiments.reproduction.runner import check_folder, reproduce, reproduce_texts
from stategram.experiments.reproduction.texts import Texts, read_texts, texts_of_sentences

__all__ = [
    "CHOICES",
    "N_CLAIMS",
    "PAPER",
    "RARE_CONTEXTS",
    "TABLES",
    "TAGS",
    "TRAINING_WORDS",
    "VOCABULARY_SIZE",
    "Clock",
    "CountBand",
    "Reproduction",
    "RowResult",
    "SeedFigures",
    "Texts",
    "Verdict",
    "check_folder",
    "check_scale",
    "read_texts",
    "reproduce",
    "reproduce_texts",
    "texts_of_sentences",
]
