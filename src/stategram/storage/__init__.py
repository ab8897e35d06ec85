"""Folders that are written whole or not at all, and refused when damaged."""

from stategram.storage.folder import Folder, open_folder, write_folder

__all__ = ["Folder", "open_folder", "write_folder"]
