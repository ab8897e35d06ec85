"""The columns of tables of scores: of tokens, of words and regions, which have several, and of sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.models import Model, Scores, State, score_parts
from stategram.progress import Progress
from stategram.tables import TextColumn
from stategram.text import END, LineBlock

if TYPE_CHECKING:
    from stategram.scoring.score import TextScorer

_LN_10 = math.log(10.0)


class Base(NamedTuple):
    """The unit of surprisal and of entropy."""

    unit: str
    """With which the names of columns end."""
    nats: float


BASES = {"2": Base("bits", math.log(2.0)), "e": Base("nats", 1.0), "10": Base("log10", _LN_10)}
"""The bases of logarithms that can be chosen."""


@dataclass(frozen=True, eq=False)
class ScoredBlock:
    """Lines of a text that were scored."""

    scorer: TextScorer
    block: LineBlock
    scores: Scores
    log_probs: NDArray[np.float64]
    """Natural-log probabilities; nan for unknown words that have none."""
    before: State
    """The state before the lines."""
    progress: Progress | None = None

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each sentence begins, and the number of events."""
        return self.scores.corpus.sentence_starts

    @cached_property
    def entropies(self) -> NDArray[np.float64]:
        """The entropy of the next word before each event, in nats."""
        return self.scorer.model.entropies(self.block.corpus, state=self.before, progress=self.progress)

    def part_log_probs(self) -> list[NDArray[np.float64]]:
        """Return the log-probabilities by each part of a mixture; spelling counts as in the mixture."""
        spelled = np.where(self.scores.unknown, self.log_probs - self.scores.log_probs, 0.0)
        _, found = score_parts(self.scorer.model, self.block.corpus, self.before)
        return [of_part + spelled for of_part in found]


class _Column(NamedTuple):
    """A column of words: what it has, and its values for some lines, where nan is missing."""

    meaning: str
    values: Callable[[ScoredBlock], Any]
    has_unit: bool = False
    """Whether the values are in nats, to be converted to the base that is chosen."""
    is_expensive: bool = False
    """Whether it takes more than scoring the text."""


def _positions(scored: ScoredBlock) -> NDArray[np.int64]:
    starts = scored.starts
    return np.arange(1, starts[-1] + 1) - np.repeat(starts[:-1], np.diff(starts))


def _words(scored: ScoredBlock) -> TextColumn:
    spelling = scored.block.spelling
    return TextColumn(spelling.letters, spelling.offsets, scored.block.corpus.ids)


def _orders(scored: ScoredBlock) -> NDArray[np.uint8]:
    orders = scored.scores.orders
    return np.zeros(len(scored.log_probs), np.uint8) if orders is None else orders


def _lengths(scored: ScoredBlock) -> NDArray[np.int64]:
    lengths = np.ma.array(scored.block.spelling.lengths)
    lengths[END] = np.ma.masked
    return lengths[scored.block.corpus.ids]


def _entropy_reductions(scored: ScoredBlock) -> NDArray[np.float64]:
    # max(0, H_before - H_after); after the end of a sentence there is no next word.
    falls: NDArray[np.float64] = np.maximum(scored.entropies - np.append(scored.entropies[1:], 0.0), 0.0)
    falls[scored.starts[1:] - 1] = np.nan
    return falls


_COLUMNS = {
    "sentence": _Column(
        "number of the sentence, which is that of its line or item",
        lambda scored: np.repeat(scored.block.lines, np.diff(scored.starts)),
    ),
    "position": _Column("position of the word in the sentence, from 1", _positions),
    "word": _Column("the word as it is in the text; </s> for the end of a sentence", _words),
    "log10_prob": _Column("log10 of the probability of the word", lambda scored: scored.log_probs / _LN_10),
    "surprisal": _Column("surprisal of the word", lambda scored: -scored.log_probs, has_unit=True),
    "order": _Column(
        "length of the n-gram that gave the probability, 0 if MODEL is not one of n-grams", _orders
    ),
    "unknown": _Column("whether the word is unknown (1) or not (0)", lambda scored: scored.scores.unknown),
    "state": _Column(
        "state of the context, if MODEL is a clustered model or has one",
        lambda scored: scored.scores.features["state"].astype(np.int64),
    ),
    "log10_frequency": _Column(
        "log10 of the relative frequency of the word in the training text",
        lambda scored: scored.scorer.log10_frequencies[scored.scores.corpus.ids],
    ),
    "length": _Column("length of the word in characters (code points)", _lengths),
    "entropy": _Column(
        "entropy of the distribution of the next word, before the word",
        lambda scored: scored.entropies,
        has_unit=True,
        is_expensive=True,
    ),
    "entropy_reduction": _Column(
        "fall of that entropy from before the word to after it, 0 if it rises",
        _entropy_reductions,
        has_unit=True,
        is_expensive=True,
    ),
    "parts": _Column(
        "surprisal of the word by each part of a mixture, one column per part",
        lambda scored: [-of_part for of_part in scored.part_log_probs()],
        has_unit=True,
        is_expensive=True,
    ),
}

COLUMNS = {name: column.meaning for name, column in _COLUMNS.items()}
"""The columns of words that can be chosen, and what each of them has."""

SENTENCE_COLUMNS = ("sentence", "words", "unknown", "log10_prob", "perplexity")

UNITS = ("token", "word", "sentence", "region")
"""What a table has a row for."""

_DEFAULT = ("sentence", "position", "word", "log10_prob", "surprisal", "order", "unknown")
COLUMNS_OF = {
    "token": tuple(COLUMNS),
    "word": tuple(name for name in COLUMNS if name not in ("order", "state")),
    "region": tuple(name for name in COLUMNS if name not in ("order", "state", "word")),
}
"""The columns that tables of each unit may have; those of words and regions have the number of tokens too."""

DEFAULT_COLUMNS = {unit: tuple(name for name in _DEFAULT if name in of) for unit, of in COLUMNS_OF.items()}
"""The columns of each unit that the command `score` writes unless others are chosen."""


def base_of(base: object) -> Base:
    """Return the unit of a base of logarithms: 2, 10 or ``"e"``."""
    found = BASES.get("e" if base == math.e else str(base))
    if found is None:
        raise UsageError(f"base is {base!r}; it must be 2, 10 or 'e'")
    return found


@dataclass(frozen=True, eq=False)
class WordColumns:
    """The columns of a table of words, in their order, and the unit of surprisal and entropy."""

    model: Model
    names: tuple[str, ...]
    base: Base

    @classmethod
    def create(
        cls, model: Model, names: Iterable[str] | None, base: object, by: str = "token"
    ) -> WordColumns:
        """Check the names of columns, by default those of tokens that take no longer than scoring the text.

        ``all`` are those of the unit that the model has.
        """
        unit = base_of(base)
        lacking = _lacking(model)
        known = [name for name in COLUMNS if name in COLUMNS_OF[by] and name not in lacking]
        if names is None:
            cheap = [name for name in known if not _COLUMNS[name].is_expensive]
            names = cheap if by == "token" else DEFAULT_COLUMNS[by]
        chosen: dict[str, None] = {}
        for name in names:
            short = name if name in COLUMNS else name.removesuffix(f"_{unit.unit}")
            if name != "all" and short not in COLUMNS:
                near = get_close_matches(name, COLUMNS, 1)
                guess = f"; did you mean {near[0]}?" if near else ""
                raise UsageError(f"no column {name!r}: there are {', '.join(COLUMNS)}{guess}")
            if name != "all" and short not in COLUMNS_OF[by]:
                raise UsageError(
                    f"the column {name!r} is one of tokens, and a {by} may have several; choose from "
                    f"{', '.join(COLUMNS_OF[by])}"
                )
            if short in lacking:
                raise UsageError(f"no column {name!r}: {model!r} {lacking[short]}")
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
        return f"{name}_{self.base.unit}" if _COLUMNS[name].has_unit else name

    def of(self, scored: ScoredBlock) -> dict[str, Any]:
        """Return the columns of some lines."""
        columns: dict[str, Any] = {}
        for name in self.names:
            column = _COLUMNS[name]
            values = column.values(scored)
            if name != "parts":
                columns[self._named(name)] = self._converted(column, values)
                continue
            for part, of_part in zip(self.part_titles, values, strict=True):
                columns[part] = self._converted(column, of_part)
        return columns

    def _converted(self, column: _Column, values: Any) -> Any:
        if column.has_unit:
            values = values / self.base.nats
        return masked(values) if getattr(values, "dtype", np.bool_) == np.float64 else values


def _lacking(model: Model) -> dict[str, str]:
    """Return the columns that a model does not have, and why."""
    lacking = {} if "state" in model.feature_names else {"state": "has no states of contexts"}
    return lacking if model.parts else lacking | {"parts": "is not a mixture"}


def sentence_columns(scored: ScoredBlock) -> dict[str, Any]:
    """Return the columns of a table of sentences.

    The end of a sentence is no word, but counts in its perplexity. Unknown words without a probability count
    in neither.
    """
    starts = scored.starts
    has_prob = ~np.isnan(scored.log_probs)
    log10_probs = np.add.reduceat(np.where(has_prob, scored.log_probs, 0.0), starts[:-1]) / _LN_10
    with np.errstate(over="ignore"):
        perplexities = np.power(10.0, -log10_probs / np.add.reduceat(has_prob, starts[:-1], dtype=np.int64))
    return {
        "sentence": scored.block.lines,
        "words": np.diff(starts) - 1,
        "unknown": np.add.reduceat(scored.scores.unknown, starts[:-1], dtype=np.int64),
        "log10_prob": log10_probs,
        "perplexity": perplexities,
    }


@dataclass(frozen=True, eq=False)
class Spans:
    """Words or regions, each of which has several tokens, or none."""

    of_events: NDArray[np.int64]
    """The span that each event is in; a sentence end counts as in the one before it."""
    sentences: NDArray[np.int64]
    """The number of the sentence of each span."""
    words: Sequence[str] | None = None
    """As they are spelled in the text, if the spans are words."""

    def columns(self, columns: WordColumns, scored: ScoredBlock) -> dict[str, Any]:
        """Return one row per span, for its tokens: sums, but entropy before the first.

        A value is missing if that of a token is, or if there are no tokens.
        """
        events = np.flatnonzero(scored.block.corpus.ids != END)
        spans, n = self.of_events[events], len(self.sentences)
        counts = np.bincount(spans, minlength=n)
        some = np.flatnonzero(counts)
        firsts = (np.cumsum(counts) - counts)[some]
        begins, ends = events[firsts], events[firsts + counts[some] - 1] + 1

        def spread(values: NDArray[Any]) -> NDArray[Any]:
            found = np.full(n, np.nan)
            found[some] = values
            if values.dtype.kind == "f":
                return masked(found)
            return np.ma.array(np.nan_to_num(found).astype(np.int64), mask=np.isnan(found))

        found: dict[str, Any] = {}
        for name, values in columns.of(scored).items():
            if name == "sentence":
                found[name] = self.sentences
            elif name == "position":
                found[name] = np.arange(n) - np.searchsorted(self.sentences, self.sentences) + 1
            elif self.words is not None and name == "word":
                found[name] = TextColumn.from_strings(self.words)
            elif self.words is not None and name == "length":
                found[name] = np.fromiter(map(len, self.words), np.int64, n)
            elif name.startswith("entropy"):
                before, after = (scored.entropies[places] / columns.base.nats for places in (begins, ends))
                found[name] = spread(np.maximum(before - after, 0.0) if "reduction" in name else before)
            else:
                # A value that is missing makes its sum missing, and its minimum.
                plain = np.ma.filled(values.astype(np.float64), np.nan)[events]
                join = np.minimum if name == "log10_frequency" else np.add
                joined = join.reduceat(plain, firsts) if len(firsts) else plain
                found[name] = spread(joined.astype(values.dtype if values.dtype.kind == "f" else np.int64))
        return found | {"tokens": counts}


def masked(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values of which those that are nan are missing."""
    missing = np.isnan(values)
    return np.ma.array(values, mask=missing) if missing.any() else values
