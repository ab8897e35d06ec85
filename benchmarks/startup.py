"""How long it takes until anything happens."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.measure import BenchmarkError, Cost, median_cost, run, show
from benchmarks.settings import Settings
from benchmarks.tables import Row, Table
from benchmarks.texts import Texts

_PYTHON = "python -c pass"


def measure_startup(texts: Texts, settings: Settings) -> list[Table]:
    commands = {
        _PYTHON: [sys.executable, "-c", "pass"],
        "import numpy": [sys.executable, "-c", "import numpy"],
        "import stategram": [sys.executable, "-c", "import stategram"],
        "stategram --help": [str(Path(sys.executable).with_name("stategram")), "--help"],
    }
    notes = [f"Medians of {settings.repeats}; more: beyond {_PYTHON}."]
    costs: dict[str, list[Cost]] = {}
    show("startup")
    for name, command in commands.items():
        try:
            # The first run also compiles what has no bytecode yet; it does not count.
            run(command)
            costs[name] = []
        except BenchmarkError as error:
            notes.append(f"`{name}` was left out: {str(error).splitlines()[-1].strip()}")
    for _ in range(settings.repeats):
        for name, found in costs.items():
            found.append(run(commands[name]))
    medians = {name: median_cost(found) for name, found in costs.items()}
    python = medians[_PYTHON]
    rows: list[Row] = [
        {
            "command": name,
            "wall ms": cost.wall * 1e3,
            "more wall ms": (cost.wall - python.wall) * 1e3,
            "CPU ms": cost.cpu * 1e3,
            "more CPU ms": (cost.cpu - python.cpu) * 1e3,
            "wall ratio": cost.wall / python.wall,
        }
        for name, cost in medians.items()
    ]
    digits = {"wall ms": 1, "more wall ms": 1, "CPU ms": 1, "more CPU ms": 1, "wall ratio": 2}
    return [Table("Start", rows, digits, notes)]
