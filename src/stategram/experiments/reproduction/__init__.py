"""The tables of Ueberla and Gransden (1996), on any text."""

from stategram.experiments.reproduction.claims import N_CLAIMS
from stategram.experiments.reproduction.paper_figures import CITATION
from stategram.experiments.reproduction.plan import RowPlan, n_row_steps
from stategram.experiments.reproduction.reproducing import VOCABULARY_SIZE, reproduce, reproduce_texts
from stategram.experiments.reproduction.results import CountBand, Reproduction, RowResult, Sweep
from stategram.experiments.reproduction.sizes import check_scale
from stategram.experiments.reproduction.steps import RowSteps, TimeLeft
from stategram.experiments.reproduction.texts import Texts, input_file, read_texts, texts_of_sentences
from stategram.experiments.reproduction.work_folder import check_folder

__all__ = [
    "CITATION",
    "N_CLAIMS",
    "VOCABULARY_SIZE",
    "CountBand",
    "Reproduction",
    "RowPlan",
    "RowResult",
    "RowSteps",
    "Sweep",
    "Texts",
    "TimeLeft",
    "check_folder",
    "check_scale",
    "input_file",
    "n_row_steps",
    "read_texts",
    "reproduce",
    "reproduce_texts",
    "texts_of_sentences",
]
