"""How good word classes are and what they cost, for each effort and number of classes, and beside peers.

All class files, ours and a peer's, are read back and measured by the same step on the same text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

from benchmarks.measure import BenchmarkError, Cost, classes_command, median_cost, run, run_peer, show, step
from benchmarks.settings import Settings
from benchmarks.tables import Row, Table
from benchmarks.texts import Texts, with_vocabulary


@dataclass(frozen=True)
class _Program:
    """Something that makes a class file of a text: ours with one effort, or a peer."""

    name: str
    make: Callable[[Path, int, int, Path], Cost]


@dataclass(frozen=True)
class _Outcome:
    cost: Cost
    figures: dict[str, Any]


def measure_classes(texts: Texts, settings: Settings) -> list[Table]:
    train = with_vocabulary(texts, settings.vocabulary)
    ours = [_ours(effort, settings.threads) for effort in settings.efforts]
    peers = _peers([command for command in settings.peers if "{order}" not in command])
    programs = ours + peers
    rows: list[Row] = []
    ratios: list[Row] = []
    for k in settings.k:
        outcomes: dict[str, list[_Outcome]] = {program.name: [] for program in programs}
        places: list[Path] = []
        costs: list[Cost] = []
        # Ours and the peers take turns, so that a busy machine slows down all of them.
        for seed in range(settings.seeds):
            for program in programs:
                show(f"classes: k = {k}, seed {seed}, {program.name}")
                places.append(texts.folder / f"classes-{len(places)}.tsv")
                costs.append(program.make(train, k, seed, places[-1]))
        figures = step("evaluate", train, texts.test, *places)
        for i, (cost, found) in enumerate(zip(costs, figures, strict=True)):
            outcomes[programs[i % len(programs)].name].append(_Outcome(cost, found))
        rows += [_row(name, k, group) for name, group in outcomes.items()]
        ratios += [
            _ratio_row(our.name, peer.name, k, outcomes[our.name], outcomes[peer.name])
            for peer in peers
            for our in ours
        ]
    tables = [
        Table(
            f"Word classes, {settings.threads} thread{'s' if settings.threads > 1 else ''}",
            rows,
            {"AMI": 4, "AMI spread": 4, "test PP": 1, "PP spread": 1, "CPU s": 2, "CPU spread": 2},
            [
                f"Over {settings.seeds} seed{'s' if settings.seeds > 1 else ''}: means of AMI (bits) and "
                "perplexity, medians of CPU seconds and memory; spread: the largest less the smallest. "
                "CPU seconds are those of the whole process, from the text to the class file."
            ],
        )
    ]
    if ratios:
        tables.append(
            Table(
                "Ours beside peers",
                ratios,
                {"AMI gain": 4, "test PP ratio": 4, "CPU ratio": 3, "memory ratio": 2},
                ["Ours / the peer's, the median over the rounds; AMI gain: ours less the peer's, in bits."],
            )
        )
    return tables


def _ours(effort: str, threads: int) -> _Program:
    def make(text: Path, k: int, seed: int, place: Path) -> Cost:
        return run(classes_command(text, k, effort, seed, threads), stdout=place)

    return _Program(f"stategram {effort}", make)


def _peers(commands: Sequence[str]) -> list[_Program]:
    """Name each peer by its program, or by its whole command where one program is given twice."""
    for command in commands:
        if not command.strip():
            raise BenchmarkError("--peer is empty; give a command that reads text and writes a class file")
    programs = [Path(command.split()[0]).name for command in commands]
    unique = len(set(programs)) == len(programs)
    names = programs if unique else [command.replace("|", "\\|") for command in commands]
    return [_peer(name, command) for name, command in zip(names, commands, strict=True)]


def _peer(name: str, command: str) -> _Program:
    def make(text: Path, k: int, seed: int, place: Path) -> Cost:
        return run_peer(command, text, place, k=k, seed=seed)

    return _Program(name, make)


def _row(name: str, k: int, outcomes: list[_Outcome]) -> Row:
    cost = median_cost(outcome.cost for outcome in outcomes)
    ami = [outcome.figures["ami"] for outcome in outcomes]
    perplexity = [outcome.figures["perplexity"] for outcome in outcomes]
    cpu = [outcome.cost.cpu for outcome in outcomes]
    return {
        "program": name,
        "k": k,
        "words": outcomes[0].figures["classed"],
        "AMI": mean(ami),
        "AMI spread": _spread(ami),
        "test PP": mean(perplexity),
        "PP spread": _spread(perplexity),
        "CPU s": cost.cpu,
        "CPU spread": _spread(cpu),
        "peak MB": cost.peak,
    }


def _spread(values: list[float]) -> float | None:
    """Return the largest less the smallest; one value has no spread."""
    return max(values) - min(values) if len(values) > 1 else None


def _ratio_row(ours: str, peer: str, k: int, our: list[_Outcome], their: list[_Outcome]) -> Row:
    rounds = list(zip(our, their, strict=True))
    return {
        "ours": ours,
        "peer": peer,
        "k": k,
        "AMI gain": median(a.figures["ami"] - b.figures["ami"] for a, b in rounds),
        "test PP ratio": median(a.figures["perplexity"] / b.figures["perplexity"] for a, b in rounds),
        "CPU ratio": median(a.cost.cpu / b.cost.cpu for a, b in rounds),
        "memory ratio": median(a.cost.peak / b.cost.peak for a, b in rounds),
    }
