"""How fast text becomes ids and bigram counts, beside `wc -w`, which only looks for white space."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict

from benchmarks.measure import Cost, median_cost, run, show, step_command
from benchmarks.settings import Settings
from benchmarks.tables import Row, Table
from benchmarks.texts import Texts

_DEFAULT_VOCABULARY = 20_000
_WC = "wc -w"
_READ = "read the bytes"
_ENCODE = "read and encode"
_BIGRAMS = "count bigrams"
_ALL = "read, encode and count"
_PROCESS = "the same, with Python's start"


def measure_reading(texts: Texts, settings: Settings) -> list[Table]:
    size = settings.vocabulary or _DEFAULT_VOCABULARY
    megabytes = texts.train.stat().st_size / 1e6
    wc = shutil.which("wc")
    costs: dict[tuple[str, int], list[Cost]] = defaultdict(list)
    for repeat in range(settings.repeats):
        show(f"reading: {repeat + 1} of {settings.repeats}")
        if wc:
            # With C's rules for white space wc is at its fastest.
            costs[_WC, 1].append(run([wc, "-w", str(texts.train)], environment={"LC_ALL": "C"}))
        costs[_READ, 1].append(_part(run(step_command("read", texts.train)), "read"))
        for threads in (1, max(2, settings.threads)):
            encoding = run(step_command("encode", texts.train, size, threads))
            costs[_ENCODE, threads].append(_part(encoding, "encode"))
            counting = run(step_command("count", texts.train, size, threads))
            costs[_BIGRAMS, threads].append(_part(counting, "bigrams"))
            costs[_ALL, threads].append(_part(counting, "encode", "bigrams"))
            costs[_PROCESS, threads].append(counting)
    rows = []
    for (name, threads), found in sorted(costs.items(), key=lambda item: item[0][1]):
        cost = median_cost(found)
        beside = median_cost(costs[_WC, 1]).cpu if wc else None
        row: Row = {
            "step": name,
            "threads": threads,
            "CPU s": cost.cpu,
            "MB/s per core": megabytes / max(cost.cpu, 1e-9),
            "wall s": cost.wall,
            # That of wc is less than ours, and so not known.
            "peak MB": None if name == _WC else cost.peak,
            "CPU / wc -w": cost.cpu / beside if beside else None,
        }
        rows.append(row)
    return [
        Table(
            f"Reading {megabytes:.1f} MB, vocabulary {size:,}",
            rows,
            {"CPU s": 3, "MB/s per core": 1, "wall s": 3, "CPU / wc -w": 2},
            [f"Medians of {settings.repeats}. MB/s per core: megabytes of text per second of processor time."]
            + ([] if wc else ["There is no wc here to compare with."]),
        )
    ]


def _part(cost: Cost, *names: str) -> Cost:
    """Leave out the start of Python and the imports: the time of some parts, with the peak of the process."""
    parts = json.loads(cost.output)
    return Cost(
        cpu=sum(parts[name]["cpu"] for name in names),
        wall=sum(parts[name]["wall"] for name in names),
        peak=cost.peak,
        output="",
    )
