"""How the cost of word classes grows with the text and with the number of classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import Cost, classes_command, median_cost, run, show
from benchmarks.settings import Settings
from benchmarks.tables import Row, Table
from benchmarks.texts import Texts, describe, first_part, with_vocabulary

_FRACTIONS = (0.25, 0.5, 1.0)
_DIGITS = {"CPU s": 2, "net CPU s": 2, "CPU ratio": 2, "exponent": 2, "memory ratio": 2}
_NOTE = (
    "Net: less what a text of one word takes, which is the start of Python. Ratios to the row above. "
    "Exponent: log of the CPU ratio by log of the ratio of sizes; 1 is linear, 2 quadratic."
)


def measure_growth(texts: Texts, settings: Settings) -> list[Table]:
    train = with_vocabulary(texts, settings.vocabulary)
    parts = [first_part(train, fraction, texts.folder) for fraction in _FRACTIONS]
    one_word = texts.folder / "one-word.txt"
    one_word.write_text("word\n", encoding="utf-8")
    start: list[Cost] = []
    facts = describe(*parts)
    effort, first_k = settings.efforts[0], settings.k[0]
    by_text: list[list[Cost]] = [[] for _ in parts]
    by_k: list[list[Cost]] = [[] for _ in settings.k]
    for repeat in range(settings.repeats):
        start.append(_classes(one_word, 1, effort, settings.threads))
        for costs, part, fraction in zip(by_text, parts, _FRACTIONS, strict=True):
            show(f"growth: {repeat + 1} of {settings.repeats}, {fraction:.0%} of the text, k = {first_k}")
            costs.append(_classes(part, first_k, effort, settings.threads))
        by_k[0].append(by_text[-1][-1])
        for costs, k in zip(by_k[1:], settings.k[1:], strict=True):
            show(f"growth: {repeat + 1} of {settings.repeats}, all of the text, k = {k}")
            costs.append(_classes(train, k, effort, settings.threads))
    events = [fact["events"] for fact in facts]
    base = median_cost(start).cpu
    with_text: list[Row] = [
        {"events": fact["events"], "words": fact["words"], **row}
        for fact, row in zip(facts, _rows(events, by_text, base), strict=True)
    ]
    with_k: list[Row] = [
        {"k": k, **row} for k, row in zip(settings.k, _rows(settings.k, by_k, base), strict=True)
    ]
    notes = [f"Medians of {settings.repeats}. {_NOTE}"]
    return [
        Table(f"Growth with the text: {effort}, k = {first_k}", with_text, _DIGITS, notes),
        Table(f"Growth with k: {effort}, {events[-1]:,} events", with_k, _DIGITS, notes),
    ]


def _classes(text: Path, k: int, effort: str, threads: int) -> Cost:
    return run(classes_command(text, k, effort, 0, threads))


def _rows(sizes: Sequence[int], costs: Sequence[Sequence[Cost]], base: float) -> list[Row]:
    medians = [median_cost(found) for found in costs]
    rows: list[Row] = []
    for i, cost in enumerate(medians):
        row: Row = {"CPU s": cost.cpu, "net CPU s": cost.cpu - base, "CPU ratio": None, "exponent": None}
        row |= {"peak MB": cost.peak, "memory ratio": None}
        if i > 0:
            row["memory ratio"] = cost.peak / medians[i - 1].peak
            net, before = cost.cpu - base, medians[i - 1].cpu - base
            # On a tiny text the noise is larger than what is measured.
            if net > 0 and before > 0:
                row["CPU ratio"] = net / before
                if sizes[i] != sizes[i - 1]:
                    row["exponent"] = math.log(net / before) / math.log(sizes[i] / sizes[i - 1])
        rows.append(row)
    return rows
