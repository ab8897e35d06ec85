"""The command line: a thin layer on the library, one file a command."""

from __future__ import annotations

import sys

__all__ = ["INTERRUPTED", "main"]

INTERRUPTED = 130
"""The exit code after Ctrl-C: 128 + SIGINT, as shells have it."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 ok, 1 failure, 2 usage, 3 bad data, 130 interrupted."""
    try:
        from stategram.cli.entry import run
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    sys.exit(run(arguments))
