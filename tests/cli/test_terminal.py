"""What stands on a real terminal, where keys are echoed."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator

import pytest

pty = pytest.importorskip("pty", reason="terminals of Unix")
pyte = pytest.importorskip("pyte", reason="pyte is the terminal")

# The process that forks has threads, of pytest-xdist; the child becomes another program at once.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")

_LINES, _COLUMNS = 24, 80
_SECONDS = 30.0
# A step that goes on until Ctrl-C, and then takes a while to finish.
_PROGRAM = """
import time
from stategram.cli.console import Console
console = Console(steps=2)
with console.finish_on_interrupt("classes") as stop, console.step("clustering [tied]") as progress:
    while not stop():
        progress(0.5, "anneal, sweep 12, 18,572 moves, perplexity 300.3, 131 s left")
        time.sleep(0.01)
    progress(0.5, "anneal, sweep 13, 1 move, perplexity 300.2, 137 s left")
    time.sleep(0.3)
with console.step("writing") as progress:
    progress(0.5, "12 MB")
"""


@pytest.fixture
def terminal() -> Iterator[int]:
    """A terminal on which the program runs."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm", COLUMNS=str(_COLUMNS))
        os.execv(sys.executable, [sys.executable, "-c", _PROGRAM])
    yield terminal
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(terminal)


def test_ctrl_c_leaves_no_stray_characters_and_no_time_left(terminal: int) -> None:
    before = _read(terminal, until=b"s left")
    assert "perplexity 300.3, 131 s left" in "".join(_screen(before))
    os.write(terminal, b"\x03")
    after = _read(terminal, until=b"12 MB\r\n")
    assert b"^C" in after  # echoed,
    shown = [line.rstrip() for line in _screen(before + after) if line.strip()]
    assert shown == [  # but not there any more
        "interrupted: finishing with the best classes so far (Ctrl-C again to abort)",
        f"[1/2] clustering [tied] {'━' * 16} ended early",
        f"[2/2] writing {'━' * 16} 12 MB",
    ]
    finishing = after.partition(b"interrupted")[2]
    assert b"finishing" in finishing
    assert b"s left" not in finishing


def _read(terminal: int, until: bytes) -> bytes:
    """Read until some bytes were written."""
    found, end = b"", time.monotonic() + _SECONDS
    while until not in found:
        assert time.monotonic() < end, found[-500:]
        found += os.read(terminal, 65536)
    return found


def _screen(written: bytes) -> list[str]:
    screen = pyte.Screen(_COLUMNS, _LINES)
    pyte.ByteStream(screen).feed(written)
    lines: list[str] = screen.display
    return lines
