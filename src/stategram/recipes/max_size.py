"""A recipe within a size (`--max-size`): parts made smaller or left out, the least useful per byte first."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import msgspec
import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.models import Budget, Model, fit_weights, interpolate, size_within
from stategram.progress import Progress
from stategram.recipes.part import Part
from stategram.recipes.training import Training

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class TrainedPart:
    """A part of a recipe and its model."""

    part: Part
    model: Model
    training: Training
    budget: Budget

    @cached_property
    def size(self) -> int:
        """The bytes of its files; the vocabulary is that of the mixture."""
        return size_within(self.budget)(self.model) - len(self.model.vocabulary.to_bytes())

    @cached_property
    def log_probs(self) -> NDArray[np.float64]:
        """The log-probabilities of the held-out text."""
        return self.model.score(self.training.heldout).log_probs

    def halved(self, least: int) -> TrainedPart | None:
        """Return it in half its bytes, or in `least` if that is more; None if that is not possible."""
        limit = max(self.size // 2, least) + len(self.model.vocabulary.to_bytes())
        try:
            budget = msgspec.structs.replace(self.budget, max_size=limit)
            smaller = self.part.shrink(self.model, self.training, budget)
        except UsageError:
            return None
        return replace(self, model=smaller)


def parts_within(
    parts: Sequence[TrainedPart], max_size: int, rest: int, progress: Progress | None = None
) -> list[TrainedPart]:
    """Make parts smaller, or leave some out, until a file with all of them has at most `max_size` bytes.

    Sizes are measured, and what a part is worth is seen on the held-out text: as long as the parts are too
    large together, each of them is tried in half its size (by entropy pruning, or what a word tree can do
    without) and not at all. What loses least perplexity for each byte that it saves is done.

    `rest` is what the file has besides their arrays. UsageError if no part can be as small as that.
    """
    kept = list(parts)
    first_size = _size(kept) + rest
    while (excess := _size(kept) + rest - max_size) > 0:
        if progress:
            done = 1 - excess / (first_size - max_size)
            progress(done, f"{excess / 1e6:,.1f} MB of {first_size / 1e6:,.1f} too many")
        now = _cost(kept)
        candidates: list[tuple[float, int, list[TrainedPart]]] = []
        for place, one in enumerate(kept):
            before, after = kept[:place], kept[place + 1 :]
            choices = [before + after] if before or after else []
            if (smaller := one.halved(one.size - excess)) is not None and smaller.size < one.size:
                choices.append([*before, smaller, *after])
            for choice in choices:
                # To save more than what is needed is worth nothing.
                saved = min(_size(kept) - _size(choice), excess)
                candidates.append(((_cost(choice) - now) / saved, len(candidates), choice))
        if not candidates:
            raise UsageError(
                f"{max_size:,} bytes are too few: {kept[0].model!r} alone, the smallest, has "
                f"{_size(kept) + rest:,}; allow more, or use fewer words (--vocab)"
            )
        kept = min(candidates)[2]
        names = ", ".join(repr(one.model) for one in kept)
        _log.info("within %s bytes: %s, %s bytes", f"{max_size:,}", names, f"{_size(kept) + rest:,}")
    return kept


def _size(parts: Sequence[TrainedPart]) -> int:
    return sum(one.size for one in parts)


def _cost(parts: Sequence[TrainedPart]) -> float:
    """Return the cross-entropy of the held-out text by a mixture of the parts, in nats per event."""
    log_probs = [one.log_probs for one in parts]
    mixed = interpolate(log_probs, fit_weights(log_probs))
    possible = mixed[mixed > -math.inf]
    return -float(possible.mean()) if len(possible) else math.inf
