"""Chains of contexts, and caches of the words so far: what gives evidence at the nodes of word trees."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from stategram.errors import UsageError
from stategram.models.word_tree.values import Value

MAX_LEVELS = 8
_COUNTS = "counts:"
_DECAY = re.compile(r"0?\.[0-9]+")


@dataclass(frozen=True)
class Chain:
    """Values from near to far: the contexts of level j are the first j of them.

    Parameters
    ----------
    values
        The values.
    uses_continuation
        Whether its evidence is that of Kneser-Ney: a word counts by the longer contexts that it followed. The
        evidence of plain counts is always used.

    Examples
    --------
    >>> str(Chain.parse("w-1 g-2")), Chain.parse("counts: w-3").uses_continuation
    ('w-1 g1-2', False)

    """

    values: tuple[Value, ...]
    uses_continuation: bool = True

    def __post_init__(self) -> None:
        if not 1 <= len(self.values) <= MAX_LEVELS:
            raise UsageError(f"a chain of {len(self.values)} values; 1 to {MAX_LEVELS} are possible")

    @classmethod
    def parse(cls, text: str) -> Chain:
        """Parse a chain: ``w-1 w-2``, or ``counts: g1-1 g1-2`` for counts only."""
        rest = text.removeprefix(_COUNTS)
        return cls(tuple(map(Value.parse, rest.split())), rest == text)

    def __str__(self) -> str:
        return " ".join(([] if self.uses_continuation else [_COUNTS]) + list(map(str, self.values)))

    @property
    def crosses_sentences(self) -> bool:
        """Whether it knows of earlier sentences."""
        return any(value.source == "r" for value in self.values)


@dataclass(frozen=True)
class Cache:
    """The words so far that followed the same context; with each word they count `decay` times as much.

    >>> Cache.parse("w-1 0.9995")
    Cache(values=(Value(source='w', distance=1),), decay=0.9995)
    >>> str(Cache.parse("0.98"))
    '0.98'
    """

    values: tuple[Value, ...]
    decay: float

    @classmethod
    def parse(cls, text: str) -> Cache:
        """Parse a cache such as ``w-1 0.9995``: the values of its context, and its decay."""
        *values, decay = text.split() or [""]
        if not _DECAY.fullmatch(decay) or not 0.01 <= float(decay) < 1:
            raise UsageError(f"the cache {text!r} has no decay from 0.01 to 1; write it as w-1 0.9995")
        return cls(tuple(map(Value.parse, values)), float(decay))

    def __str__(self) -> str:
        return " ".join((*map(str, self.values), np.format_float_positional(self.decay)))
