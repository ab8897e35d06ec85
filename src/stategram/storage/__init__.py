"""Files and folders that appear atomically, are refused when damaged, and the store of finished steps."""

from stategram.storage.atomic import Place, atomic_open, atomic_write, check_place
from stategram.storage.blobs import Blobs
from stategram.storage.checksum import (
    InputFile,
    add_arrays,
    content_key,
    file_sha256,
    input_file,
    input_files,
)
from stategram.storage.folder import (
    Folder,
    folder_kind,
    folder_size,
    holds_only_our_files,
    is_empty_folder,
    is_folder,
    is_our_name,
    open_folder,
    recover,
    restore_replaced,
    write_folder,
)
from stategram.storage.locks import hold, lock
from stategram.storage.manifest import MANIFEST, OtherVersionError, manifest_bytes, parse_manifest
from stategram.storage.store import Store, check_store, is_fresh, is_store
from stategram.storage.temporary import temporary_files, temporary_folder
from stategram.storage.urls import expand_urls, is_url, open_url, shown_url, url_size, url_stamp

__all__ = [
    "MANIFEST",
    "Blobs",
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
    "expand_urls",
    "file_sha256",
    "folder_kind",
    "folder_size",
    "hold",
    "holds_only_our_files",
    "input_file",
    "input_files",
    "is_empty_folder",
    "is_folder",
    "is_fresh",
    "is_our_name",
    "is_store",
    "is_url",
    "lock",
    "manifest_bytes",
    "open_folder",
    "open_url",
    "parse_manifest",
    "recover",
    "restore_replaced",
    "shown_url",
    "temporary_files",
    "temporary_folder",
    "url_size",
    "url_stamp",
    "write_folder",
]
