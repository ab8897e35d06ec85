"""The command line: a thin layer on the library, one file per command."""

from __future__ import annotations

import sys

__all__ = ["INTERRUPTED", "main"]

INTERRUPTED = 130
"""The exit code after Ctrl-C: 128 + SIGINT, as shells have it."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 ok, 1 failure, 2 usage, 3 bad data, 130 interrupted."""
    try:  # all that takes time is imported in here, where Ctrl-C is no error
        from stategram.cli.entry import run

        status = run(arguments)
    except KeyboardInterrupt:
        status = INTERRUPTED
    if status == INTERRUPTED:
        _ignore_interrupts()
    sys.exit(status)


def _ignore_interrupts() -> None:
    """Ignore further Ctrl-C: it would kill the interpreter on its way out, with another exit code."""
    import signal
    import threading

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
