"""All rows of a reproduction as one table for programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

from stategram.experiments.reproduction import Reproduction, RowResult, SeedFigures

_Value = str | int | float | bool | None


def tables_csv(found: Reproduction) -> str:
    """Return all rows as CSV (RFC 4180), with the names of columns first; what is missing is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in found.rows:
        writer.writerow([value(row) for value in _COLUMNS.values()])
    return text.getvalue()


def _end(name: str, which: str) -> Callable[[RowResult], _Value]:
    """Return one end of an interval."""

    def of(row: RowResult) -> _Value:
        interval = row.test.interval if name == "perplexity" else row.change_interval
        return None if interval is None else float(getattr(interval, which))

    return of


def _seed(name: str, which: str) -> Callable[[RowResult], _Value]:
    """Return a figure of several seeds."""

    def of(row: RowResult) -> _Value:
        figures: SeedFigures | None = getattr(row, name)
        return None if figures is None else float(getattr(figures, which))

    return of


def _decided(row: RowResult) -> _Value:
    interval = row.change_interval
    return None if interval is None else not interval.low <= 0 <= interval.high


_COLUMNS: dict[str, Callable[[RowResult], _Value]] = {
    "table": lambda row: row.table,
    "key": lambda row: row.key,
    "title": lambda row: row.title,
    "kind": lambda row: row.kind,
    "context": lambda row: row.context,
    "tree": lambda row: row.tree,
    "states": lambda row: row.states,
    "categories": lambda row: row.categories,
    "events": lambda row: row.test.events,
    "unknown": lambda row: row.test.unknown,
    "perplexity": lambda row: row.test.perplexity,
    "perplexity_low": _end("perplexity", "low"),
    "perplexity_high": _end("perplexity", "high"),
    "perplexity_known": lambda row: row.test.perplexity_known,
    "heldout_perplexity": lambda row: row.heldout_perplexity,
    "seeds": lambda row: 1 if row.seeds is None else len(row.seeds.values),
    "seed_mean": _seed("seeds", "mean"),
    "seed_deviation": _seed("seeds", "deviation"),
    "compared_with": lambda row: row.compared_with,
    "change": lambda row: row.change,
    "change_low": _end("change", "low"),
    "change_high": _end("change", "high"),
    "change_decided": _decided,
    "change_seed_mean": _seed("change_seeds", "mean"),
    "change_seed_deviation": _seed("change_seeds", "deviation"),
    "paper_perplexity": lambda row: row.paper.perplexity if row.paper else None,
    "paper_change": lambda row: row.paper.change if row.paper else None,
    "parameters": lambda row: row.parameters,
    "seconds": lambda row: row.seconds,
    "note": lambda row: row.note,
}
