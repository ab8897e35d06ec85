"""Files and folders that appear atomically, are refused when damaged, and the store of finished steps."""

from stategram.storage.atomic import Place, atomic_open, atomic_write, check_place
from stategram.storage.checksum import add_arrays, file_sha256
from stategram.storage.folder import (
    Folder,
    OtherVersionError,
    holds_only_our_files,
    is_our_name,
    open_folder,
    restore_replaced,
    write_folder,
)
from stategram.storage.input_file import InputFile, input_files
from stategram.storage.lock import lock
from stategram.storage.store import Store, check_store, content_key, is_fresh, is_store
from stategram.storage.temporary import is_temporary, remove_all, temporary_files

__all__ = [
    "Folder",
    "InputFile",
    "OtherVersionError",
    "Place",
    "Store",
    "add_arrays",
    "atomic_open",
    "atomic_write",
    "check_place",
    "check_store",
    "content_key",
    "file_sha256",
    "holds_only_our_files",
    "input_files",
    "is_fresh",
    "is_our_name",
    "is_store",
    "is_temporary",
    "lock",
    "open_folder",
    "remove_all",
    "restore_replaced",
    "temporary_files",
    "write_folder",
]
