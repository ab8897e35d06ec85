"""Folders that are written whole or not at all, and refused when damaged."""

from stategram.storage.checksum import file_sha256
from stategram.storage.folder import Folder, open_folder, write_folder
from stategram.storage.whole_file import Place, check_place, open_whole, write_whole

__all__ = [
    "Folder",
    "Place",
    "check_place",
    "file_sha256",
    "open_folder",
    "open_whole",
    "write_folder",
    "write_whole",
]
