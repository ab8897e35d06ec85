"""Campaigns: numbered tries, each of which keeps a promise or fails."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar


class BrokenPromiseError(Exception):
    """A promise was broken, in words."""


class Campaign(ABC):
    """Tries of one kind. Try `number` of a seed always does the same, as far as the machine does."""

    name: ClassVar[str]
    promise: ClassVar[str]
    """What every try has to keep."""
    most_memory: ClassVar[int] = 400_000_000
    """By how many bytes the memory of a process may grow through a try."""

    def __init__(self, place: Path, seed: int) -> None:
        """Make what all tries need; `place` is an empty folder for them."""
        self.place = place
        self.seed = seed

    def random(self, number: int) -> random.Random:
        """Return the random numbers of a try."""
        return random.Random(f"{self.name} {self.seed} {number}")

    @abstractmethod
    def attempt(self, number: int) -> None:
        """Make a try; any exception is a failure."""
