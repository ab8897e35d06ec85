"""How far perplexities may be from those of all text of the same kind: the paired bootstrap.

A test text is a sample. Its units, documents or sentences, are drawn with replacement, as many as there are,
again and again; the middle 95% of the perplexities of these resamples are the confidence interval. All models
see the same resamples, so that what is hard for all of them cancels out in a difference (Efron and Tibshirani
1993, "An introduction to the bootstrap"; Bisani and Ney 2004 do so with word error rates). Perplexity is the
exponential of a ratio, log-probability by events, and both are drawn together.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.display import change, perplexity, plural
from stategram.resources import Resources
from stategram.text import Corpus

_log = logging.getLogger(__name__)

LEVEL = 0.95
RESAMPLES = 2000
FEW_UNITS = 50
"""With fewer units an interval is unreliable: in simulations it is too short (see docs/uncertainty.md)."""
# Longer texts are drawn in runs of neighbouring units: the interval is much the same, and soon there.
_MAX_UNITS = 16_384
_SEED = 0
_UNITS = {"run of sentences": "runs of sentences"}

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """A confidence interval of a perplexity.

    >>> print(Interval(1234.5, 1300.25))
    1,234.5 to 1,300.2
    """

    low: float
    high: float

    def __str__(self) -> str:
        return f"{perplexity(self.low)} to {perplexity(self.high)}"


@dataclass(frozen=True)
class Difference:
    """The relative difference of two perplexities, -0.03 being 3% lower, and its confidence interval.

    It is `decided` if zero is not in the interval, and resamples differ at all.

    >>> print(Difference(-0.031, -0.04, -0.02, decided=True))
    -3.10% (-4.00% to -2.00%)
    """

    relative: float
    low: float
    high: float
    decided: bool

    def __str__(self) -> str:
        ends = f"{change(self.low)} to {change(self.high)}"
        return f"{change(self.relative)} ({ends}{'' if self.decided else ', not decided'})"


@dataclass(frozen=True)
class Resampling:
    """How intervals were found: `units` is how many there are of what `unit` says.

    >>> print(Resampling("sentence", 4358))
    paired bootstrap over 4,358 sentences
    """

    unit: str
    units: int
    resamples: int = RESAMPLES
    level: float = LEVEL

    def __str__(self) -> str:
        return f"paired bootstrap over {self.drawn}"

    @property
    def drawn(self) -> str:
        """The units that are drawn, in words."""
        return plural(self.units, self.unit, _UNITS.get(self.unit))

    @property
    def is_unreliable(self) -> bool:
        """Whether there are too few units for an interval to be relied on."""
        return self.units < FEW_UNITS

    def warn(self) -> None:
        """Log a note if intervals are unreliable."""
        if self.is_unreliable:
            _log.warning(
                "the text has only %s: the confidence intervals are unreliable, most likely too short",
                self.drawn,
            )


@dataclass(frozen=True, eq=False)
class ResampledPerplexity:
    """A perplexity of a text, `value`, and those of its resamples; all are inf if one event is impossible."""

    value: float
    resamples: Floats

    @property
    def interval(self) -> Interval | None:
        """The confidence interval; None if the perplexity is infinite, or all resamples are the same."""
        return Interval(*quantiles(self.resamples)) if np.isfinite(self.value) and self._varies else None

    @property
    def _varies(self) -> bool:
        """Whether there is more than one unit, so that resamples say something."""
        return bool(np.nanmin(self.resamples) < np.nanmax(self.resamples))

    def difference(self, other: ResampledPerplexity) -> Difference | None:
        """Return how it differs from another one of the same text; None if one is infinite."""
        if not np.isfinite(self.value + other.value):
            return None
        low, high = quantiles(self.resamples / other.resamples - 1)
        decided = (self._varies or other._varies) and (low > 0 or high < 0)
        return Difference(self.value / other.value - 1, low, high, decided=decided)


@dataclass(frozen=True, eq=False)
class Units:
    """What is drawn of a text: its documents if it has more than one, else its sentences."""

    unit: str
    starts: NDArray[np.int64]
    """The first sentence of each unit."""

    @classmethod
    def of(cls, corpus: Corpus) -> Units:
        """Divide a text.

        Examples
        --------
        >>> from stategram.text import corpus_from_sentences
        >>> Units.of(corpus_from_sentences(["the cat sat", "the dog sat"])).resampling
        Resampling(unit='sentence', units=2, resamples=2000, level=0.95)

        """
        documents = np.union1d([0], corpus.document_starts)
        documents = documents[documents < corpus.n_sentences]
        unit, starts = "document", documents
        if len(documents) < 2:
            unit, starts = "sentence", np.arange(corpus.n_sentences)
        if len(starts) > _MAX_UNITS:
            unit, starts = "run of sentences", starts[np.arange(_MAX_UNITS) * len(starts) // _MAX_UNITS]
        return cls(unit, starts.astype(np.int64))

    @property
    def resampling(self) -> Resampling:
        """How intervals are found."""
        return Resampling(self.unit, len(self.starts))

    def resample(self, texts: Sequence[tuple[Floats, Floats]]) -> list[ResampledPerplexity]:
        """Return perplexities with those of resamples, the same resamples for all.

        Each is given by the log-probability and the number of events of each sentence.
        """
        finite = [number for number, (log_probs, _) in enumerate(texts) if np.isfinite(log_probs).all()]
        found = [ResampledPerplexity(np.inf, np.full(RESAMPLES, np.inf))] * len(texts)
        if not finite:
            return found
        columns = np.stack([column for number in finite for column in texts[number]], axis=1)
        values = np.add.reduceat(columns, self.starts, axis=0)
        drawn = _core.bootstrap_sums(
            values.reshape(-1), values.shape[1], RESAMPLES, _SEED, Resources.current().threads
        ).reshape(RESAMPLES, -1)
        total = values.sum(axis=0)
        # A resample of units that all lack events of a kind has no perplexity: not a number.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for place, number in enumerate(finite):
                value, resamples = (
                    np.exp(-sums[..., 2 * place] / sums[..., 2 * place + 1]) for sums in (total, drawn)
                )
                found[number] = ResampledPerplexity(float(value), resamples)
        return found


def quantiles(values: Floats) -> tuple[float, float]:
    """Return the ends of the confidence interval of resampled values."""
    low, high = np.nanquantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    return low, high
