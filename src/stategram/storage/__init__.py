"""Files that appear atomically and are refused when damaged, URLs, and the store of finished steps."""

from stategram.storage.archive import (
    Archive,
    archive_digest,
    archive_kind,
    archive_size,
    check_archive_place,
    is_archive,
    open_archive,
    write_archive,
)
from stategram.storage.checksum import (
    InputFile,
    add_arrays,
    content_key,
    file_sha256,
    input_file,
    input_files,
)
from stategram.storage.files import (
    Place,
    atomic_open,
    atomic_write,
    check_place,
    is_temporary,
    shared_file,
    temporary_files,
    temporary_folder,
)
from stategram.storage.locks import hold, lock
from stategram.storage.manifest import OtherVersionError, manifest_bytes, parse_manifest
from stategram.storage.store import Store, check_store, is_fresh, is_store
from stategram.storage.urls import expand_urls, is_url, open_url, shown_url, url_size, url_stamp

__all__ = [
    "Archive",
    "InputFile",
    "OtherVersionError",
    "Place",
    "Store",
    "add_arrays",
    "archive_digest",
    "archive_kind",
    "archive_size",
    "atomic_open",
    "atomic_write",
    "check_archive_place",
    "check_place",
    "check_store",
    "content_key",
    "expand_urls",
    "file_sha256",
    "hold",
    "input_file",
    "input_files",
    "is_archive",
    "is_fresh",
    "is_store",
    "is_temporary",
    "is_url",
    "lock",
    "manifest_bytes",
    "open_archive",
    "open_url",
    "parse_manifest",
    "shared_file",
    "shown_url",
    "temporary_files",
    "temporary_folder",
    "url_size",
    "url_stamp",
    "write_archive",
]
