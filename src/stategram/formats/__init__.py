"""Files that other tools read and write."""

from stategram.formats.class_files import CLASS_FORMATS, read_classes, write_classes

__all__ = ["CLASS_FORMATS", "read_classes", "write_classes"]
