"""Folders that are written whole or not at all, and refused when damaged."""

from stategram.storage.atomic import Place, atomic_open, atomic_write, check_place
from stategram.storage.checksum import add_arrays, file_sha256
from stategram.storage.folder import (
    Folder,
    OtherVersionError,
    holds_only_our_files,
    is_our_name,
    open_folder,
    recover_folder,
    write_folder,
)
from stategram.storage.lock import lock
from stategram.storage.partial import is_left_over, left_overs, remove_all

__all__ = [
    "Folder",
    "OtherVersionError",
    "Place",
    "add_arrays",
    "atomic_open",
    "atomic_write",
    "check_place",
    "file_sha256",
    "holds_only_our_files",
    "is_left_over",
    "is_our_name",
    "left_overs",
    "lock",
    "open_folder",
    "recover_folder",
    "remove_all",
    "write_folder",
]
