"""Models made smaller after their training: n-grams that are worth little are dropped, up to a budget."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.models.budget import Budget
from stategram.models.model import Model, require_model
from stategram.models.model_files import model_size
from stategram.models.ngrams.compacting import compact_model, compacted_size
from stategram.models.ngrams.model import NgramModel
from stategram.models.ngrams.plain import PlainTrie, close_trie
from stategram.models.ngrams.worth import ngram_worths, prune_trie
from stategram.progress import Progress

M = TypeVar("M", bound=Model)

# A size is met if no more than this fraction of it is left unused.
_UNUSED = 0.001
_MAX_TRIALS = 20
_LITTLE = 1e-300


def prune_model(
    model: M,
    budget: Budget,
    *,
    size_of: Callable[[Model], int] = model_size,
    progress: Progress | None = None,
) -> M:
    """Drop the n-grams that a model can best do without (Stolcke 1998), and round the others if asked to.

    Parameters
    ----------
    model
        An n-gram model, a category n-gram model, or a mixture with such parts: these have one threshold in
        common. The weights of a mixture stay the same.
    budget
        How large it may be. Fewer n-grams than ``max_ngrams`` are kept only where several are worth the same;
        with ``max_size`` the largest model that fits is found, within a thousandth.
    size_of
        How many bytes a model has: those of its file by default.
    progress
        Called with the fraction done and a few words.

    Examples
    --------
    >>> from stategram import Budget, NgramModel, prune_model
    >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran", "the dog ran"], order=3)
    >>> prune_model(model, Budget(max_ngrams=14))
    NgramModel(order 3, 9 + 5 + 0 n-grams, kneser-ney)

    """
    require_model(model)
    model = drop_ngrams(model, budget, size_of=size_of, progress=progress)
    return compact_model(model, progress=progress) if budget.compact else model


def drop_ngrams(
    model: M,
    budget: Budget,
    *,
    size_of: Callable[[Model], int] = model_size,
    progress: Progress | None = None,
) -> M:
    """Drop n-grams as `prune_model` does, without rounding the others; sizes are those after rounding."""
    if not budget.has_limit:
        return model
    pruning = _Pruning(model, progress)
    if budget.prune is not None:
        least = math.log1p(budget.prune)
    elif budget.max_ngrams is not None:
        least = pruning.least_worth(budget.max_ngrams)
    else:
        assert budget.max_size is not None
        least = pruning.fitting_worth(budget.max_size, size_within(budget, size_of), progress)
    return pruning.pruned(least)


def size_within(budget: Budget, size_of: Callable[[Model], int] = model_size) -> Callable[[Model], int]:
    """Return what measures the file of a model, rounded if the budget asks for it, `reserved` included."""
    measure = partial(compacted_size, size_of=size_of) if budget.compact else size_of
    return lambda model: measure(model) + budget.reserved


class _Pruning(Generic[M]):
    """The n-grams of a model, or of several that it is made of, with what they are worth."""

    def __init__(self, model: M, progress: Progress | None) -> None:
        self.model = model
        self.tries: list[PlainTrie] = []
        self.worths: list[NDArray[np.float64]] = []

        def gather(ngrams: NgramModel) -> NgramModel:
            if progress:
                progress(0.0, f"weighing {sum(ngrams.trie.sizes):,} n-grams")
            self.tries.append(ngrams.plain())
            self.worths.append(ngram_worths(self.tries[-1]))
            return ngrams

        model._map_ngrams(gather)
        if not self.tries:
            raise UsageError(
                f"{model!r} cannot be pruned, it has no n-grams to drop; train it with --max-size"
            )
        self.sorted = np.sort(np.concatenate([worths[1:] for worths in self.worths]))[::-1]  # without roots
        self.n_words = int(np.count_nonzero(np.isposinf(self.sorted)))

    def least_worth(self, max_ngrams: int) -> float:
        """Return what an n-gram must be worth so that no more than so many are kept."""
        if max_ngrams < self.n_words:
            raise UsageError(
                f"{max_ngrams:,} n-grams: {self.n_words:,} cannot be dropped, most of them words; keep more, "
                "or fewer words (prune --vocab-file, or train --vocab)"
            )
        if max_ngrams >= len(self.sorted):
            return -math.inf
        dropped = float(self.sorted[max_ngrams])
        kept = float(self.sorted[np.searchsorted(-self.sorted, -dropped) - 1])
        if not math.isfinite(kept):
            return dropped + abs(dropped) + _LITTLE
        # Between the two: the same are kept whichever way a threshold is rounded.
        return max(0.5 * (kept + dropped), math.nextafter(dropped, math.inf))

    def fitting_worth(
        self, max_size: int, size_of: Callable[[Model], int], progress: Progress | None
    ) -> float:
        """Return what an n-gram must be worth in the largest model of no more than so many bytes."""

        def size(n_ngrams: int, trial: int = 0) -> int:
            if progress:
                progress(0.2 + 0.7 * trial / _MAX_TRIALS, f"trying {n_ngrams:,} n-grams")
            return size_of(self.pruned(self.least_worth(n_ngrams)))

        low, high = self.n_words, len(self.sorted)
        high_size = size_of(self.model)
        if high_size <= max_size:
            return -math.inf
        low_size = size(low)
        if low_size > max_size:
            raise UsageError(
                f"{max_size:,} bytes are too few: without any n-grams but words the model has {low_size:,}; "
                "allow more, or keep fewer words (prune --vocab-file, or train --vocab)"
            )
        for trial in range(_MAX_TRIALS):
            if high - low <= 1 or max_size - low_size <= _UNUSED * max_size:
                break
            # A little below the line between the two, then the middle: both ends come closer.
            fraction = (max_size - low_size) / (high_size - low_size) if trial % 3 < 2 else 0.5
            n_ngrams = low + max(1, min(int((high - low) * fraction), high - low - 1))
            found = size(n_ngrams, trial)
            if found <= max_size:
                low, low_size = n_ngrams, found
            else:
                high, high_size = n_ngrams, found
        return self.least_worth(low)

    def pruned(self, least: float) -> M:
        """Return the model without n-grams that are worth less."""
        parts = iter(zip(self.tries, self.worths, strict=True))

        def prune(ngrams: NgramModel) -> NgramModel:
            trie, worths = next(parts)
            keep = worths >= least
            if keep.all():
                return ngrams
            info = {"threshold": math.expm1(least), "from": list(ngrams.trie.sizes)}
            return NgramModel.from_plain(
                ngrams.vocabulary,
                prune_trie(trie, keep),
                ngrams.smoothing,
                training_info={**ngrams.training_info, "pruned": info},
                **ngrams.origin,
            )

        return self.model._map_ngrams(prune)


def close_suffixes(model: NgramModel) -> NgramModel:
    """Return the same model with every suffix of an n-gram among its n-grams, as readers of ARPA files need.

    Pruning leaves n-grams such as ``in the house`` without ``the house``. A suffix that is missing is added
    with the probability that backing off gives it and a back-off weight of 1: no probability changes.

    >>> text = ["in the house", "in the house", "the cat", "the dog", "a house"]
    >>> model = NgramModel.train(text, order=3, prune=0.02)
    >>> model.trie.sizes, close_suffixes(model).trie.sizes
    ((9, 9, 1), (9, 10, 1))
    """
    closed = close_trie(model.plain(compact=True))
    info = {**model.training_info, "inserted_suffixes": sum(closed.sizes) - sum(model.trie.sizes)}
    return NgramModel.from_plain(
        model.vocabulary, closed, model.smoothing, training_info=info, **model.origin
    )
