"""Measure stategram: python -m benchmarks [PART ...] [OPTION ...]. See README.md beside this file."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from importlib.metadata import version
from pathlib import Path

from benchmarks.classes import measure_classes
from benchmarks.clustering import measure_clustering
from benchmarks.decoding import measure_decoding
from benchmarks.growth import measure_growth
from benchmarks.measure import BenchmarkError
from benchmarks.ngrams import measure_ngrams
from benchmarks.reading import measure_reading
from benchmarks.scale import measure_scale
from benchmarks.settings import DEFAULTS, QUICK, Settings
from benchmarks.startup import measure_startup
from benchmarks.tables import Table
from benchmarks.texts import Texts, describe, given_texts
from benchmarks.trees import measure_trees

_PARTS: dict[str, Callable[[Texts, Settings], list[Table]]] = {
    "reading": measure_reading,
    "classes": measure_classes,
    "ngrams": measure_ngrams,
    "decoding": measure_decoding,
    "clustering": measure_clustering,
    "trees": measure_trees,
    "growth": measure_growth,
    "scale": measure_scale,
    "startup": measure_startup,
}


def main() -> None:
    options = _options()
    try:
        with tempfile.TemporaryDirectory(prefix="stategram-bench-") as folder:
            _measure(options, Path(folder))
    except BenchmarkError as error:
        sys.exit(f"Error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


def _measure(options: argparse.Namespace, folder: Path) -> None:
    texts = given_texts(options.train, options.test, folder)
    facts = {"text": texts.name, **describe(texts.train)[0]}
    machine = _machine()
    print(
        f"{texts.name}: {facts['bytes'] / 1e6:.1f} MB, {facts['events']:,} events, {facts['words']:,} words."
    )
    print(f"{machine['stategram']} on {machine['machine']}; load {machine['load']}.\n", flush=True)
    found: dict[str, list[Table]] = {}
    for part in options.parts or _PARTS:
        found[part] = _PARTS[part](texts, _settings(options, part))
        for table in found[part]:
            print(table, flush=True)
    if options.json:
        parts = {part: [asdict(table) for table in tables] for part, tables in found.items()}
        record = {"version": 1, "machine": machine, "train": facts, "parts": parts}
        Path(options.json).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _machine() -> dict[str, str]:
    load = ", ".join(f"{part:.1f}" for part in os.getloadavg())
    return {
        "stategram": f"stategram {version('stategram')}",
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, "
        f"Python {platform.python_version()}",
        "load": load,
    }


def _settings(options: argparse.Namespace, part: str) -> Settings:
    default = (DEFAULTS if options.parts else QUICK)[part]
    given = {field.name: getattr(options, field.name) for field in fields(Settings)}
    return replace(default, **{name: value for name, value in given.items() if value})


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure stategram. Without a part, all of them run, quickly.",
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(_PARTS)}")
    parser.add_argument("--train", type=Path, help="text to train on (default: State of the Union addresses)")
    parser.add_argument("--test", type=Path, help="text for the perplexity of classes and for scoring")
    parser.add_argument(
        "--vocab",
        dest="vocabulary",
        type=_positive,
        help="keep this many words (default: all; reading: 20,000)",
    )
    parser.add_argument(
        "--k", type=_numbers, help="numbers of classes, such as 100,500; of trees; of copies (scale)"
    )
    parser.add_argument("--efforts", type=_names, help="such as fast,normal,best; growth takes the first")
    parser.add_argument("--seeds", type=_positive, help="rounds of classes, each with its own seed")
    parser.add_argument(
        "--repeats", type=_positive, help="rounds of the other parts, of which the median counts"
    )
    parser.add_argument("--threads", type=_positive, default=1, help="(default: 1; reading: 1 and 2)")
    parser.add_argument(
        "--peer",
        dest="peers",
        action="append",
        default=[],
        metavar="COMMAND",
        help="another program beside ours: reads text from stdin, or {text}; writes a class file to stdout, "
        "{k} and {seed} being filled in, or, where it has {order}, an n-gram model. May be given repeatedly",
    )
    parser.add_argument("--orders", type=_numbers, help="lengths of n-grams, such as 3,5")
    parser.add_argument(
        "--memory", action="append", default=[], metavar="SIZE", help="train n-grams within this too: 512M"
    )
    parser.add_argument("--json", metavar="FILE", help="write all figures, unrounded, to a file too")
    options = parser.parse_intermixed_args()
    for part in options.parts:
        if part not in _PARTS:
            parser.error(f"there is no part {part!r}; choose from {', '.join(_PARTS)}")
    with_test = {"classes", "decoding", "clustering", "trees"}
    if options.train and not options.test and with_test & {*(options.parts or _PARTS)}:
        parser.error("clusters, trees and decoders are measured on a test text; give one with --test")
    return options


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(_positive(part) for part in text.split(","))


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


if __name__ == "__main__":
    main()
