"""How much each part measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """What the command line chose, or the defaults of a part."""

    k: tuple[int, ...] = ()
    efforts: tuple[str, ...] = ()
    repeats: int = 1
    seeds: int = 1
    orders: tuple[int, ...] = ()
    threads: int = 1
    vocabulary: int | None = None
    peers: Sequence[str] = ()
    memory: Sequence[str] = ()


DEFAULTS = {
    "reading": Settings(repeats=7),
    "classes": Settings(k=(100, 500), efforts=("fast", "normal"), seeds=3),
    "ngrams": Settings(orders=(3, 5), repeats=3),
    "decoding": Settings(orders=(5,), repeats=9),
    "clustering": Settings(k=(500, 2000)),
    "trees": Settings(k=(1, 3)),
    "growth": Settings(k=(250, 500, 1000, 2000), efforts=("fast",), repeats=3),
    "scale": Settings(k=(1, 4), orders=(3,), repeats=3),
    "startup": Settings(repeats=15),
}
# When no part is named and all of them run.
QUICK = {
    "reading": Settings(repeats=3),
    "classes": Settings(k=(100, 500), efforts=("fast", "normal")),
    "ngrams": Settings(orders=(3, 5)),
    "decoding": Settings(orders=(5,), repeats=3),
    "clustering": Settings(k=(250,)),
    "trees": Settings(k=(1,)),
    "growth": Settings(k=(250, 500, 1000, 2000), efforts=("fast",)),
    "scale": Settings(k=(1, 4), orders=(3,)),
    "startup": Settings(repeats=15),
}
