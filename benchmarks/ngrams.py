"""What n-gram models cost: training, beside peers and within a budget of memory; scoring, beside KenLM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.measure import BenchmarkError, Cost, median_cost, run, run_peer, show, step, train_command
from benchmarks.settings import Settings
from benchmarks.tables import Row, Table
from benchmarks.texts import Texts, with_vocabulary


@dataclass(frozen=True)
class _Trainer:
    """Something that makes an n-gram model of a text: ours with a budget or without, or a peer."""

    name: str
    make: Callable[[Path, int, Path], Cost]


def measure_ngrams(texts: Texts, settings: Settings) -> list[Table]:
    text = with_vocabulary(texts, settings.vocabulary)
    ours = [_ours(memory, settings.threads) for memory in (None, *settings.memory)]
    peers = [_peer(command) for command in settings.peers if "{order}" in command]
    tables = _training(text, texts.folder, ours, peers, settings)
    if texts.test is not None:
        tables.append(_scoring(text, texts.test, settings))
    return tables


def _training(
    text: Path, folder: Path, ours: list[_Trainer], peers: list[_Trainer], settings: Settings
) -> list[Table]:
    rows: list[Row] = []
    ratios: list[Row] = []
    for order in settings.orders:
        costs: dict[str, list[Cost]] = {trainer.name: [] for trainer in ours + peers}
        sizes: dict[str, float] = {}
        # Ours and the peers take turns, so that a busy machine slows down all of them.
        for repeat in range(settings.repeats):
            for trainer in ours + peers:
                show(f"ngrams: order {order}, round {repeat + 1} of {settings.repeats}, {trainer.name}")
                place = folder / "model"
                costs[trainer.name].append(trainer.make(text, order, place))
                sizes[trainer.name] = _megabytes(place)
                place.unlink()
        for name, found in costs.items():
            cost = median_cost(found)
            row: Row = {
                "program": name,
                "order": order,
                "CPU s": cost.cpu,
                "wall s": cost.wall,
                "peak MB": cost.peak,
                "model MB": sizes[name],
            }
            rows.append(row)
        for peer in peers:
            for our in ours:
                rounds = list(zip(costs[our.name], costs[peer.name], strict=True))
                ratio: Row = {
                    "ours": our.name,
                    "peer": peer.name,
                    "order": order,
                    "CPU ratio": median(a.cpu / b.cpu for a, b in rounds),
                    "memory ratio": median(a.peak / b.peak for a, b in rounds),
                }
                ratios.append(ratio)
    tables = [
        Table(
            f"Training n-gram models, {settings.threads} thread{'s' if settings.threads > 1 else ''}",
            rows,
            {"CPU s": 2, "wall s": 2},
            [
                f"Medians of {settings.repeats}. The whole process, from the text to the saved model; that "
                "of a peer is the file that it wrote."
            ],
        )
    ]
    if ratios:
        tables.append(
            Table("Ours beside peers", ratios, {"CPU ratio": 3, "memory ratio": 2}, ["Ours / the peer's."])
        )
    return tables


def _ours(memory: str | None, threads: int) -> _Trainer:
    def make(text: Path, order: int, place: Path) -> Cost:
        return run(train_command(text, place, order, threads, memory))

    return _Trainer("stategram" + (f" --memory {memory}" if memory else ""), make)


def _peer(command: str) -> _Trainer:
    def make(text: Path, order: int, place: Path) -> Cost:
        return run_peer(command, text, place, order=order)

    return _Trainer(Path(command.split(maxsplit=1)[0]).name, make)


def _megabytes(place: Path) -> float:
    return place.stat().st_size / 1e6


def _scoring(text: Path, test: Path, settings: Settings) -> Table:
    rows: list[Row] = []
    for order in settings.orders:
        show(f"ngrams: scoring, order {order}")
        found = step("score_ngrams", text, test, order, max(3, settings.repeats))
        if not found:
            raise BenchmarkError(f"{test}: nothing to score")
        beside = found.get("kenlm full_scores")
        for name, words in found.items():
            row: Row = {
                "program": name,
                "order": order,
                "million words/s": words / 1e6,
                "times full_scores": words / beside if beside else None,
            }
            rows.append(row)
    return Table(
        "Scoring a text",
        rows,
        {"million words/s": 2, "times full_scores": 2},
        [
            "Words, sentence ends included, per second of processor time; with 2 threads, of wall time. They "
            "take turns, medians. kenlm: the Python package with the ARPA file of the same model."
        ],
    )
