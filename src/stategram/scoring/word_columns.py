"""What is known of each word of a text: the columns of a table of words."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.models import Model
from stategram.progress import Progress
from stategram.scoring.text_scorer import ScoredBlock, masked
from stategram.tables import TextColumn
from stategram.text import END, UNKNOWN

_LN_10 = math.log(10.0)

COLUMNS = {
    "sentence": "number of the sentence, which is that of its line or item",
    "position": "position of the word in the sentence, from 1",
    "word": "the word as it is in the text; </s> for the end of a sentence",
    "log10_prob": "log10 of the probability of the word",
    "surprisal": "surprisal of the word",
    "order": "length of the n-gram that gave the probability, 0 if MODEL is not one of n-grams",
    "unknown": "whether the word is unknown (1) or not (0)",
    "state": "state of the context, if MODEL is a clustered model or has one",
    "log10_frequency": "log10 of the relative frequency of the word in the training text",
    "length": "length of the word in characters (code points)",
    "entropy": "entropy of the distribution of the next word, before the word",
    "entropy_reduction": "fall of that entropy from before the word to after it, 0 if it rises",
    "parts": "surprisal of the word by each part of a mixture, one column per part",
}
"""The columns of words that can be chosen, and what each of them has."""

SCORE_COLUMNS = ("sentence", "position", "word", "log10_prob", "surprisal", "order", "unknown")
"""Those of the command `score` unless others are chosen."""

# Those that take more than scoring the text does.
_EXPENSIVE = ("entropy", "entropy_reduction", "parts")
_WITH_UNIT = ("surprisal", "entropy", "entropy_reduction")


class Base(NamedTuple):
    """The unit of surprisal and of entropy."""

    unit: str
    """With which the names of columns end."""
    nats: float


BASES = {"2": Base("bits", math.log(2.0)), "e": Base("nats", 1.0), "10": Base("log10", _LN_10)}
"""The bases of logarithms that can be chosen."""


def base_of(base: object) -> Base:
    """Return the unit of a base of logarithms: 2, 10 or ``"e"``.

    >>> base_of(2).unit, base_of("e").unit, base_of(math.e).unit
    ('bits', 'nats', 'nats')
    """
    found = BASES.get("e" if base == math.e else str(base))
    if found is None:
        raise UsageError(f"base is {base!r}; it must be 2, 10 or 'e'")
    return found


@dataclass(frozen=True, eq=False)
class WordColumns:
    """The columns of a table of words that a model gives.

    Parameters
    ----------
    model
        The model.
    names
        Names of columns, of `COLUMNS`, in their order.
    base
        The unit of surprisal and entropy.

    """

    model: Model
    names: tuple[str, ...]
    base: Base

    @classmethod
    def create(
        cls, model: Model, names: Iterable[str] | None, base: object, *, of: Collection[str] = COLUMNS
    ) -> WordColumns:
        """Check the names of columns; None stands for all that take no longer than scoring the text.

        ``all`` are those in `of` that the model has.
        """
        unit = base_of(base)
        known = [name for name in COLUMNS if name in of and name not in _lacking(model)]
        if names is None:
            names = [name for name in known if name not in _EXPENSIVE]
        chosen: dict[str, None] = {}
        for name in names:
            short = name if name in COLUMNS else name.removesuffix(f"_{unit.unit}")
            if name != "all" and short not in COLUMNS:
                near = get_close_matches(name, COLUMNS, 1)
                guess = f"; did you mean {near[0]}?" if near else ""
                raise UsageError(f"no column {name!r}: there are {', '.join(COLUMNS)}{guess}")
            if short in _lacking(model):
                raise UsageError(f"no column {name!r}: {model!r} {_lacking(model)[short]}")
            chosen |= dict.fromkeys(known if name == "all" else [short])
        if not chosen:
            raise UsageError(f"no columns are chosen; there are {', '.join(COLUMNS)}")
        return cls(model, tuple(chosen), unit)

    @property
    def part_titles(self) -> dict[str, str]:
        """The title of each part whose surprisal is a column, by the name of the column."""
        titles = self.model.part_titles if "parts" in self.names else ()
        return {f"part_{number}_{self.base.unit}": title for number, title in enumerate(titles, 1)}

    @property
    def features(self) -> tuple[str, ...]:
        """The features of histories that a text has to be scored with."""
        return ("state",) if "state" in self.names else ()

    @property
    def column_names(self) -> list[str]:
        """The names of the columns in the table, with the unit where they have one."""
        named = ((*self.part_titles,) if name == "parts" else (self._named(name),) for name in self.names)
        return [name for names in named for name in names]

    def _named(self, name: str) -> str:
        return f"{name}_{self.base.unit}" if name in _WITH_UNIT else name

    def of(self, scored: ScoredBlock, progress: Progress | None = None) -> dict[str, Any]:
        """Return the columns of some lines."""
        rows = _Rows(self, scored, progress)
        columns: dict[str, Any] = {}
        for name in self.names:
            if name == "parts":
                columns |= dict(zip(self.part_titles, rows.parts(), strict=True))
            else:
                columns[self._named(name)] = getattr(rows, name)()
        return columns

    @cached_property
    def log10_frequencies(self) -> NDArray[np.float64]:
        """For each word, log10 of its relative frequency in the training text; masked if it is not known.

        A model that knows no counts, as one of an ARPA file, has unigram probabilities in their place.
        """
        frequencies = self.model.vocabulary.counts.astype(np.float64)
        if frequencies[END] == 0:  # not those of a text, not of all of it at least
            frequencies = self.model.distribution_after(self.model.start(sentence_start=False))
        logs: NDArray[np.float64] = np.ma.log10(frequencies / frequencies.sum())
        logs[UNKNOWN] = np.ma.masked  # the frequency of all unknown words together is not that of one
        return logs


def _lacking(model: Model) -> dict[str, str]:
    """Return the columns that a model does not have, and why."""
    lacking = {} if "state" in model.feature_names else {"state": "has no states of contexts"}
    return lacking if model.parts else lacking | {"parts": "is not a mixture"}


class _Rows:
    """The events of a block: each method is the column of its name."""

    def __init__(self, columns: WordColumns, scored: ScoredBlock, progress: Progress | None) -> None:
        self.columns, self.scored, self.progress = columns, scored, progress
        self.block, self.scores = scored.block, scored.scores
        self.ids = self.scores.corpus.ids
        self.starts = self.scores.corpus.sentence_starts
        self.lengths = np.diff(self.starts)

    def sentence(self) -> NDArray[np.int64]:
        return np.repeat(self.block.lines, self.lengths)

    def position(self) -> NDArray[np.int64]:
        return np.arange(1, len(self.ids) + 1) - np.repeat(self.starts[:-1], self.lengths)

    def word(self) -> TextColumn:
        spelling = self.block.spelling
        return TextColumn(spelling.letters, spelling.offsets, self.block.corpus.ids)

    def log10_prob(self) -> NDArray[np.float64]:
        return masked(self.scored.log_probs / _LN_10)

    def surprisal(self) -> NDArray[np.float64]:
        return self.in_base(self.scored.log_probs)

    def order(self) -> NDArray[np.uint8]:
        orders = self.scores.orders
        return np.zeros(len(self.ids), np.uint8) if orders is None else orders

    def unknown(self) -> NDArray[np.bool_]:
        return self.scores.unknown

    def state(self) -> NDArray[np.int64]:
        return self.scores.features["state"].astype(np.int64)

    def log10_frequency(self) -> NDArray[np.float64]:
        return self.columns.log10_frequencies[self.ids]

    def length(self) -> NDArray[np.int64]:
        lengths = np.ma.array(self.block.spelling.lengths)
        lengths[END] = np.ma.masked
        return lengths[self.block.corpus.ids]

    @cached_property
    def nats(self) -> NDArray[np.float64]:
        return self.columns.model.entropies(
            self.block.corpus, state=self.scored.before, progress=self.progress
        )

    def entropy(self) -> NDArray[np.float64]:
        return self.nats / self.columns.base.nats

    def entropy_reduction(self) -> NDArray[np.float64]:
        # max(0, H_before - H_after); after the end of a sentence there is no next word.
        falls = np.ma.array(np.maximum(self.nats - np.append(self.nats[1:], 0.0), 0.0))
        falls[self.starts[1:] - 1] = np.ma.masked
        return falls / self.columns.base.nats

    def parts(self) -> list[NDArray[np.float64]]:
        found = self.columns.model.part_log_probs(self.block.corpus, state=self.scored.before)
        spelled = np.where(self.scores.unknown, self.scored.log_probs - self.scores.log_probs, 0.0)
        return [self.in_base(of_part + spelled) for of_part in found]

    def in_base(self, log_probs: NDArray[np.float64]) -> NDArray[np.float64]:
        return masked(log_probs / -self.columns.base.nats)
