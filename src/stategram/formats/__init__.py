"""Files that other tools read and write."""

from stategram.formats.arpa import has_arpa_name, read_arpa, write_arpa
from stategram.formats.class_files import CLASS_FORMATS, read_classes, write_classes
from stategram.formats.class_lm import class_lm_files, write_class_lm
from stategram.formats.clusters import MODEL_CLASS_FORMATS, write_model_classes, write_states
from stategram.formats.count_files import COUNT_FORMATS, read_counts, write_counts
from stategram.formats.fst import EPSILON, fst_files, write_fst
from stategram.formats.model_info import ModelInfo, model_info
from stategram.formats.models import open_model
from stategram.formats.nbest import read_nbest, read_references, write_best

__all__ = [
    "CLASS_FORMATS",
    "COUNT_FORMATS",
    "EPSILON",
    "MODEL_CLASS_FORMATS",
    "ModelInfo",
    "class_lm_files",
    "fst_files",
    "has_arpa_name",
    "model_info",
    "open_model",
    "read_arpa",
    "read_classes",
    "read_counts",
    "read_nbest",
    "read_references",
    "write_arpa",
    "write_best",
    "write_class_lm",
    "write_classes",
    "write_counts",
    "write_fst",
    "write_model_classes",
    "write_states",
]
