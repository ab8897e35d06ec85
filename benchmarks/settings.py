"""What the command line asked for, and what each part does when it did not say."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """How much to measure."""

    k: tuple[int, ...]
    efforts: tuple[str, ...]
    repeats: int
    seeds: int
    threads: int
    vocabulary: int | None
    peers: tuple[str, ...]
    orders: tuple[int, ...]
    memory: tuple[str, ...]


@dataclass(frozen=True)
class Defaults:
    """The settings of a part; `quick` ones hold when no part was named and all run."""

    k: tuple[int, ...] = ()
    efforts: tuple[str, ...] = ()
    repeats: int = 1
    seeds: int = 1
    orders: tuple[int, ...] = ()


DEFAULTS = {
    "reading": Defaults(repeats=7),
    "classes": Defaults(k=(100, 500), efforts=("fast", "normal"), seeds=3),
    "ngrams": Defaults(orders=(3, 5), repeats=3),
    "clustering": Defaults(k=(500, 2000)),
    "growth": Defaults(k=(250, 500, 1000, 2000), efforts=("fast",), repeats=3),
    "startup": Defaults(repeats=15),
}
QUICK = {
    "reading": Defaults(repeats=3),
    "classes": Defaults(k=(100, 500), efforts=("fast", "normal")),
    "ngrams": Defaults(orders=(3, 5)),
    "clustering": Defaults(k=(250,)),
    "growth": Defaults(k=(250, 500, 1000, 2000), efforts=("fast",)),
    "startup": Defaults(repeats=15),
}
