"""States of contexts: what the tree gains over single contexts from the start, and what it costs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.measure import BenchmarkError, Cost, run, show, step_command
from benchmarks.settings import Settings
from benchmarks.tables import Row, Table
from benchmarks.texts import Texts, first_part

_CONTEXT = "w-2,w-1"
_CANDIDATES = 16
_FRACTIONS = (0.25, 0.5, 1.0)


def measure_clustering(texts: Texts, settings: Settings) -> list[Table]:
    if texts.test is None:
        raise BenchmarkError("clusters are measured by the perplexity of a test text; give one with --test")
    rows: list[Row] = []
    for k in settings.k:
        rows += [
            _row(texts.train, texts.test, k, settings, tree=True),
            _row(texts.train, texts.test, k, settings, tree=False),
            _row(texts.train, texts.test, k, settings, tree=True, candidates=0),
        ]
    growth: list[Row] = []
    for fraction in _FRACTIONS:
        part = first_part(texts.train, fraction, texts.folder)
        growth.append({"fraction": fraction, **_row(part, texts.test, settings.k[0], settings, tree=True)})
    digits = {
        "fraction": 2,
        "cluster s": 2,
        "cluster CPU s": 2,
        "tree s": 2,
        "test PP": 2,
        "test PP, known": 2,
    }
    note = (
        f"Contexts {_CONTEXT}, threads: {settings.threads}. tree s, cluster s: wall time from encoded text "
        "to the context tree, and from there to the clusters. test PP counts <unk> as a word."
    )
    return [
        Table("Clustering contexts", rows, digits, [note]),
        Table("Growth with the text", growth, digits, ["The first quarter, half and all of the text."]),
    ]


def _row(
    train: Path, test: Path, k: int, settings: Settings, *, tree: bool, candidates: int = _CANDIDATES
) -> Row:
    way = "tree" if tree else "flat"
    show(f"clustering: k = {k}, {way}, {candidates or 'all'} candidates")
    vocabulary = settings.vocabulary or 0
    cost: Cost = run(
        step_command(
            "cluster_contexts",
            train,
            test,
            vocabulary,
            _CONTEXT,
            k,
            int(tree),
            candidates,
            settings.threads,
        )
    )
    found: dict[str, Any] = json.loads(cost.output)
    return {
        "k": k,
        "way": way,
        "candidates": candidates or "all",
        "events": found["events"],
        "contexts": found["contexts"],
        "tree s": found["tree"]["wall"],
        "cluster s": found["cluster"]["wall"],
        "cluster CPU s": found["cluster"]["cpu"],
        "peak MB": cost.peak,
        "test events": found["test_events"],
        "unknown": found["unknown"],
        "test PP": found["perplexity"],
        "test PP, known": found["perplexity_known"],
    }
