"""Word tree models: training, the size of their counts, and scoring beside an n-gram model."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.measure import BenchmarkError, Cost, run, show, step_command
from benchmarks.settings import Settings
from benchmarks.tables import Row, Table
from benchmarks.texts import Texts


def measure_trees(texts: Texts, settings: Settings) -> list[Table]:
    if texts.test is None:
        raise BenchmarkError("scoring is measured on a test text; give one with --test")
    training: list[Row] = []
    scoring: list[Row] = []
    for trees in settings.k:
        show(f"trees: {trees}")
        vocabulary = settings.vocabulary or 0
        cost: Cost = run(
            step_command("train_trees", texts.train, texts.test, vocabulary, trees, settings.threads)
        )
        found: dict[str, Any] = json.loads(cost.output)
        training.append(
            {
                "trees": trees,
                "events": found["events"],
                "n-grams": found["ngrams"],
                "bytes per n-gram": found["bytes"] / found["ngrams"],
                "train s": found["train"]["wall"],
                "train CPU s": found["train"]["cpu"],
                "peak MB": cost.peak,
            }
        )
        baseline = found["test_events"] / found["ngram"]["cpu"]
        for history in found["histories"]:
            words = found["test_events"] / found[history]["cpu"]
            scoring.append(
                {
                    "trees": trees,
                    "history": history,
                    "words per CPU s": words,
                    "per tree": words * trees,
                    "of a 5-gram": words / baseline,
                }
            )
    notes = [
        f"Threads: {settings.threads}. Training is all of it but reading: classes, states, counts, weights. "
        "Weights are tuned on the test text, which changes no time."
    ]
    digits = {"bytes per n-gram": 2, "train s": 1, "train CPU s": 1, "of a 5-gram": 4}
    return [
        Table("Training word tree models", training, digits, notes),
        Table("Scoring with them", scoring, digits, []),
    ]
