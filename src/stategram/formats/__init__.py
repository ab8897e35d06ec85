"""Files that other tools read and write."""

from stategram.formats.arpa import read_arpa, read_arpa_trie, write_arpa, write_arpa_trie
from stategram.formats.class_files import CLASS_FORMATS, read_classes, write_classes

__all__ = [
    "CLASS_FORMATS",
    "read_arpa",
    "read_arpa_trie",
    "read_classes",
    "write_arpa",
    "write_arpa_trie",
    "write_classes",
]
