"""Ctrl-C as a request to finish early."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from stategram.progress import Stop


@contextmanager
def finish_on_interrupt(show: Callable[[str], None], what: str = "clusters") -> Iterator[Stop]:
    """Yield a `Stop` that returns true after the first Ctrl-C; the second one interrupts."""
    interrupted = shown = False

    def interrupt(signum: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def stop() -> bool:
        # Not in the handler: it may run in the middle of another message.
        nonlocal shown
        if interrupted and not shown:
            shown = True
            show(f"interrupted: finishing with the best {what} so far (Ctrl-C again to abort)")
        return interrupted

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
