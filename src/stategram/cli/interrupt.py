"""Ctrl-C as a request to finish, not to give up."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def finish_on_interrupt(say: Callable[[str], None], what: str = "clusters") -> Iterator[Callable[[], bool]]:
    """Within this, the first Ctrl-C only makes the given function answer true; the second one interrupts."""
    asked = told = False

    def ask(signum: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def stop() -> bool:
        # Not in the handler: it may run in the middle of another message.
        nonlocal told
        if asked and not told:
            told = True
            say(f"interrupted: finishing with the best {what} so far (Ctrl-C again to give up)")
        return asked

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = signal.signal(signal.SIGINT, ask)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
