"""The tables of Ueberla and Gransden (1996), on any text, and the report on them."""

from stategram.paper.page import write_report
from stategram.paper.published import VOCABULARY_SIZE
from stategram.paper.results import Reproduction, RowResult
from stategram.paper.rows import check_scale
from stategram.paper.run import TABLES, Clock, check_folder, reproduce, reproduce_texts
from stategram.paper.tables import summary
from stategram.paper.texts import Texts, read_texts, texts_of_sentences

__all__ = [
    "TABLES",
    "VOCABULARY_SIZE",
    "Clock",
    "Reproduction",
    "RowResult",
    "Texts",
    "check_folder",
    "check_scale",
    "read_texts",
    "reproduce",
    "reproduce_texts",
    "summary",
    "texts_of_sentences",
    "write_report",
]
