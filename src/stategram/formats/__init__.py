"""Files that other tools read and write."""

from stategram.formats.arpa import read_arpa, write_arpa
from stategram.formats.class_files import CLASS_FORMATS, read_classes, write_classes
from stategram.formats.class_lm import class_lm_files, write_class_lm
from stategram.formats.clusters import MODEL_CLASS_FORMATS, write_model_classes, write_states
from stategram.formats.fst import EPSILON, fst_files, write_fst
from stategram.formats.models import open_model
from stategram.formats.vectors import write_vectors

__all__ = [
    "CLASS_FORMATS",
    "EPSILON",
    "MODEL_CLASS_FORMATS",
    "class_lm_files",
    "fst_files",
    "open_model",
    "read_arpa",
    "read_classes",
    "write_arpa",
    "write_class_lm",
    "write_classes",
    "write_fst",
    "write_model_classes",
    "write_states",
    "write_vectors",
]
