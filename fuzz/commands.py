"""The command line in a process of its own, with limits, signals and closed streams."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzz.campaign import BrokenPromiseError
from stategram import open_model
from stategram.errors import StategramError

EXIT_CODES = (0, 1, 2, 3, 130)
_LEFT_OVER = re.compile(r".+\.[0-9a-f]{16}\.(partial)")
_LONGEST = 110.0


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: bytes
    err: bytes


def run_command(
    arguments: Sequence[str | Path],
    *,
    kill_after: float | None = None,
    with_signal: int = signal.SIGKILL,
    closed: Collection[int] = (),
    limits: Sequence[tuple[int, int]] = (),
    out: Path | None = None,
) -> Ended:
    """Run ``stategram``; send a signal after some seconds if it still runs.

    `closed` are the streams that it does not have, 0 to 2; `limits` pairs of a resource and its limit; `out`
    is where its stdout goes.
    """
    output = out.open("wb") if out else subprocess.PIPE
    child = subprocess.Popen(
        [sys.executable, "-m", "stategram", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.PIPE,
        preexec_fn=_before(closed, limits),  # noqa: PLW1509 - there are no threads
        env={**os.environ, "COLUMNS": "100"},
    )
    if kill_after is not None:
        end = time.monotonic() + kill_after
        while child.poll() is None and time.monotonic() < end:
            time.sleep(0.002)
        if child.poll() is None:
            child.send_signal(with_signal)
    found, err = child.communicate(timeout=_LONGEST)
    if not isinstance(output, int):
        output.close()
    return Ended(child.returncode, found or b"", err)


def _before(closed: Collection[int], limits: Sequence[tuple[int, int]]) -> Callable[[], None]:
    def prepare() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for kind, limit in limits:
            resource.setrlimit(kind, (limit, limit))
        for stream in closed:
            os.close(stream)

    return prepare


def require_good_manners(ended: Ended) -> None:
    """Refuse a crash, an unknown exit code, or a traceback."""
    if ended.code not in EXIT_CODES:
        raise BrokenPromiseError(f"exit code {ended.code}: {ended.err.decode(errors='replace')}")
    if b"Traceback (most recent call last)" in ended.err:
        raise BrokenPromiseError(f"a traceback: {ended.err.decode(errors='replace')}")


def require_whole_or_none(model: Path) -> None:
    """Refuse a model that is there and cannot be opened."""
    if model.exists():
        try:
            open_model(model).check()
        except StategramError as error:
            raise BrokenPromiseError(f"a model that looks finished: {error}") from error


def require_no_stale_files(place: Path) -> None:
    """Refuse what an unfinished run left behind."""
    if left := [file.name for file in place.iterdir() if _LEFT_OVER.fullmatch(file.name)]:
        raise BrokenPromiseError(f"left behind: {', '.join(left)}")
