"""What counts of large text cost: how they grow with it, models and classes from them, and workers."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from benchmarks.measure import Cost, classes_command, median_cost, run, show, step, train_command
from benchmarks.settings import Settings
from benchmarks.tables import Row, Table
from benchmarks.texts import Texts, describe, with_vocabulary

_CLASSES = 100
_DIGITS = {"CPU s": 2, "CPU ratio": 2, "counts / text": 2}


def measure_scale(texts: Texts, settings: Settings) -> list[Table]:
    """Measure texts of several copies, `settings.k`, in which sentences are shuffled and words redrawn."""
    order = settings.orders[0]
    train = with_vocabulary(texts, settings.vocabulary)
    rows: list[Row] = []
    before: dict[str, Cost] = {}
    for copies in settings.k:
        text = texts.folder / f"{copies}-copies.txt"
        step("enlarge", train, copies, text)
        events = describe(text)[0]["events"]
        costs: dict[str, list[Cost]] = {}
        for repeat in range(settings.repeats):
            show(f"scale: {copies} copies, {repeat + 1} of {settings.repeats}")
            size = _measure(text, texts.folder, order, settings, costs)
        for name, found in costs.items():
            cost = median_cost(found)
            row: Row = {"step": name, "events": events, "CPU s": cost.cpu, "peak MB": cost.peak}
            row["CPU ratio"] = cost.cpu / before[name].cpu if name in before else None
            row["counts / text"] = size / text.stat().st_size if name == "count" else None
            rows.append(row)
            before[name] = cost
        text.unlink()
    notes = [
        f"Medians of {settings.repeats}, n-grams of up to {order} words. Ratios to the text before. Each "
        "copy of the text has its sentences in another order, and an eighth of its words drawn anew."
    ]
    return [Table("Counts of large text", rows, _DIGITS, notes)]


def _measure(text: Path, folder: Path, order: int, settings: Settings, costs: dict[str, list[Cost]]) -> int:
    """Add the cost of each step; return the bytes of the counts."""
    counts, model = folder / "counts", folder / "model"
    command = [sys.executable, "-P", "-m", "stategram", "count", str(text), "-q", "--order", str(order)]
    command += ["--threads", str(settings.threads), "-o", str(counts)]
    commands = {
        "count, two workers": [*command, "--cluster", "local:2"],
        "count": command,
        "train from counts": train_command(counts, model, order, settings.threads, None),
        "classes from counts": classes_command(counts, _CLASSES, "fast", 0, settings.threads),
    }
    size = 0
    for name, one in commands.items():
        costs.setdefault(name, []).append(run(one))
        if name.startswith("count"):
            size = sum(file.stat().st_size for file in counts.iterdir())
        if "workers" in name:
            shutil.rmtree(counts)
    shutil.rmtree(counts)
    model.unlink()
    return size
