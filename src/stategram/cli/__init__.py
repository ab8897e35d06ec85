"""The command line: a thin layer on the library, one file a command."""

from stategram.cli.entry import main

__all__ = ["main"]
