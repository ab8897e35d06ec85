"""Vega-Lite charts as SVG, drawn by vl-convert in a process of its own.

When memory or file descriptors are short, its JavaScript engine ends the process it is in, without an error
that could be caught. So that is not the process that has a page to write.
"""

from __future__ import annotations

import atexit
import json
import signal
import subprocess
import sys
from functools import cache
from typing import Any

from stategram.errors import StategramError

# -P: no module of the current folder stands for one of the library.
_COMMAND = (
    sys.executable,
    "-P",
    "-c",
    """
import json, sys, vl_convert
for line in sys.stdin:
    chart, version = json.loads(line)
    print(json.dumps(vl_convert.vegalite_to_svg(chart, vl_version=version)), flush=True)
""",
)


def draw_svg(chart: dict[str, Any], version: str) -> str:
    """Draw a chart of some version of Vega-Lite, such as ``5.20``."""
    try:
        process = _process()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps([chart, version]) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
    except OSError as error:  # it cannot be started, or has ended
        raise _error(str(error.strerror or error)) from error
    if not answer:
        raise _error(_end_of(process))
    svg: str = json.loads(answer)
    return svg


@cache
def _process() -> subprocess.Popen[str]:
    """Start it; it ends with this process, when its input is closed."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(_COMMAND, stdin=pipe, stdout=pipe, stderr=pipe, encoding="utf-8")
    atexit.register(process.communicate)
    return process


def _end_of(process: subprocess.Popen[str]) -> str:
    """Return how it ended, in a few words."""
    atexit.unregister(process.communicate)
    _process.cache_clear()
    _, messages = process.communicate()
    if process.returncode < 0:
        return f"vl-convert was ended by {signal.Signals(-process.returncode).name}"
    return (messages.strip().splitlines() or ["vl-convert gave no answer"])[-1]


def _error(reason: str) -> StategramError:
    return StategramError(
        f"the charts cannot be drawn ({reason}); free memory, allow more of it and more open files (ulimit), "
        "or install vl-convert-python again"
    )
