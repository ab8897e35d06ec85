"""What one child process costs: processor time, wall time, peak memory.

On Linux a child's peak is at least the memory of its parent at that moment. So whatever needs NumPy,
evaluation included, happens in a child (`steps.py`), and this process stays small.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

# ru_maxrss counts kilobytes, on macOS bytes.
_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024
_STEPS = Path(__file__).with_name("steps.py")


class BenchmarkError(Exception):
    """A program that was to be measured, or a text, is not usable."""


@dataclass(frozen=True)
class Cost:
    """What a process and its own children used, and what it wrote if nobody else took it."""

    cpu: float
    wall: float
    peak: float
    """In millions of bytes."""
    output: str


def run(
    command: list[str],
    *,
    stdin: Path | None = None,
    stdout: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Cost:
    """Run a command to its end and return its cost."""
    with (
        (stdin or Path(os.devnull)).open("rb") as given,
        stdout.open("w+b") if stdout else tempfile.TemporaryFile() as written,
        tempfile.TemporaryFile() as messages,
    ):
        begin = time.perf_counter()
        try:
            process = subprocess.Popen(
                command,
                stdin=given,
                stdout=written,
                stderr=messages,
                env={**os.environ, **(environment or {})},
            )
        except OSError as error:
            raise BenchmarkError(f"{command[0]}: cannot be run ({error.strerror})") from error
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            messages.seek(0)
            lines = messages.read().decode(errors="replace").strip().splitlines()
            raise BenchmarkError(
                "\n  ".join([f"{shlex.join(command)}\n  ended with {process.returncode}:", *lines[-5:]])
            )
        written.seek(0)
        output = "" if stdout else written.read().decode()
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * _PEAK_UNIT / 1e6, output)


def run_peer(command: str, text: Path, place: Path, **values: object) -> Cost:
    """Run the command of another program, which writes to `place`; values such as {k} are filled in."""
    filled = command.replace("{text}", shlex.quote(str(text)))
    for name, value in values.items():
        filled = filled.replace(f"{{{name}}}", str(value))
    # By the shell, so that a peer that needs two programs, or a file of its own, can be measured too.
    return run(["sh", "-c", filled], stdin=None if "{text}" in command else text, stdout=place)


def step_command(name: str, *arguments: object) -> list[str]:
    """Return the command of a step of `steps.py`: what stategram does, in a process of its own."""
    return [sys.executable, "-P", str(_STEPS), name, *map(str, arguments)]


def classes_command(text: object, k: int, effort: str, seed: int, threads: int) -> list[str]:
    """Return the command that a user would type for word classes."""
    options = {"-k": k, "--effort": effort, "--seed": seed, "--threads": threads}
    given = [str(word) for option in options.items() for word in option]
    return [sys.executable, "-P", "-m", "stategram", "classes", str(text), "-q", *given]


def train_command(text: object, model: object, order: int, threads: int, memory: str | None) -> list[str]:
    """Return the command that a user would type for an n-gram model."""
    budget = ["--memory", memory] if memory else []
    given = ["--order", str(order), "--threads", str(threads), *budget]
    return [sys.executable, "-P", "-m", "stategram", "train", str(text), "-q", "-o", str(model), *given]


def step(name: str, *arguments: object) -> Any:
    """Run a step and return its result."""
    return json.loads(run(step_command(name, *arguments)).output)


def show(message: str) -> None:
    """Print a message to stderr."""
    print(message, file=sys.stderr, flush=True)


def median_cost(costs: Iterable[Cost]) -> Cost:
    """Return the median of each figure."""
    rows = list(costs)
    return Cost(
        cpu=median(cost.cpu for cost in rows),
        wall=median(cost.wall for cost in rows),
        peak=median(cost.peak for cost in rows),
        output="",
    )
