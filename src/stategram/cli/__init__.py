"""The command line: a thin layer on the library, one file per command."""

from __future__ import annotations

import signal
import sys
import threading

__all__ = ["INTERRUPTED", "main"]

INTERRUPTED = 130
"""The exit code after Ctrl-C: 128 + SIGINT, as shells have it."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 ok, 1 failure, 2 usage, 3 bad data, 130 interrupted."""
    try:
        from stategram.cli.entry import run

        status = run(arguments)
    except KeyboardInterrupt:
        status = INTERRUPTED
    if status == INTERRUPTED and threading.current_thread() is threading.main_thread():
        # Further Ctrl-C would kill the interpreter on its way out, with another exit code.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(status)
