"""Files that other tools read and write."""

from stategram.formats.arpa import read_arpa, write_arpa
from stategram.formats.class_files import CLASS_FORMATS, read_classes, write_classes
from stategram.formats.clusters import MODEL_CLASS_FORMATS, write_model_classes, write_states
from stategram.formats.count_files import read_counts, write_counts
from stategram.formats.model_info import InfoFile, ModelInfo, model_info
from stategram.formats.models import open_model
from stategram.formats.nbest import NBEST_NAMES, read_nbest, read_references, write_best, write_nbest

__all__ = [
    "CLASS_FORMATS",
    "MODEL_CLASS_FORMATS",
    "NBEST_NAMES",
    "InfoFile",
    "ModelInfo",
    "model_info",
    "open_model",
    "read_arpa",
    "read_classes",
    "read_counts",
    "read_nbest",
    "read_references",
    "write_arpa",
    "write_best",
    "write_classes",
    "write_counts",
    "write_model_classes",
    "write_nbest",
    "write_states",
]
