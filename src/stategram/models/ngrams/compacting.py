"""Models in half the bytes: the values of n-grams rounded to a few hundred different ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.models.model import Model, require_model
from stategram.models.ngrams.model import NgramModel
from stategram.models.ngrams.packed import NO_VALUES, NgramTrie
from stategram.models.ngrams.plain import PlainTrie
from stategram.progress import Progress

M = TypeVar("M", bound=Model)

_LOG_PROB_BITS = 8
# Finer, since an error of a weight is one of a sum, and so are those of many probabilities after a history.
_BACKOFF_BITS, _DENSE_LOG_PROB_BITS = 10, 12
_DENSE = 8  # n-grams after a history, on average
_ITERATIONS = 12
_HISTOGRAM = 4096
_LARGEST_CHANGE = np.float32(0.5)  # of the logarithm of a weight
_MAX_SAMPLES = 1 << 19


def compact_model(model: M, *, progress: Progress | None = None) -> M:
    """Round the probabilities and back-off weights of n-grams, so that each takes 8 to 12 bits.

    Those of each length are rounded to the nearest of 256 values that are chosen for them (4,096 where many
    n-grams follow each history; weights: 1,024). Weights are computed anew for the rounded probabilities and
    then rounded themselves: sums are off by no more than a few thousandths. Words alone keep their exact
    probabilities.

    An n-gram of WikiText-2 then takes less than 5 bytes in place of 8, and the perplexity stays the same
    within a tenth of a percent.

    Parameters
    ----------
    model
        An n-gram model, a category n-gram model, or a mixture with such parts.
    progress
        Called with the fraction done and a few words.

    Examples
    --------
    >>> from stategram import NgramModel, compact_model
    >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran", "the dog ran"], order=3)
    >>> round(compact_model(model).perplexity("the cat ran") / model.perplexity("the cat ran"), 3)
    1.0

    """
    require_model(model)
    n_models = 0

    def compact(ngrams: NgramModel) -> NgramModel:
        nonlocal n_models
        n_models += 1
        if progress:
            progress(0.0, f"rounding {sum(ngrams.trie.sizes):,} n-grams")
        trie = compact_trie(ngrams.plain(), closed=ngrams.trie.closed)
        return replace(ngrams, trie=trie, path=None)

    compacted = model._map_ngrams(compact)
    if n_models == 0:
        raise UsageError(
            f"{model!r} cannot be compact, it has no n-grams to make smaller; train it with --max-size"
        )
    return compacted


def compacted_size(model: Model, size_of: Callable[[Model], int]) -> int:
    """Return what `size_of` will say of the model made compact, without looking for the best values."""

    def sized(ngrams: NgramModel) -> NgramModel:
        log_prob_sizes = [0, *(2**bits for bits in _log_prob_bits(ngrams.trie.sizes))]
        backoff_sizes = [*([2**_BACKOFF_BITS] * (ngrams.order - 1)), 0]
        tables = [
            (np.zeros(one, np.float32), np.zeros(other, np.float32))
            for one, other in zip(log_prob_sizes, backoff_sizes, strict=True)
        ]
        return replace(ngrams, trie=NgramTrie.from_plain(ngrams.plain(), tables=tables))

    return size_of(model._map_ngrams(sized))


def compact_trie(plain: PlainTrie, *, closed: bool = False) -> NgramTrie:
    """Pack n-grams with rounded values."""
    ends = plain.begins.tolist()
    levels = [slice(begin, end) for begin, end in pairwise(ends[1:])]
    bits = _log_prob_bits(plain.sizes)
    log_prob_tables = [
        NO_VALUES,
        *(_table(plain.log_probs[level], of) for level, of in zip(levels[1:], bits, strict=True)),
    ]
    log_probs = plain.log_probs.copy()
    for level, table in zip(levels[1:], log_prob_tables[1:], strict=True):
        log_probs[level] = _nearest(table, log_probs[level])
    rounded = replace(plain, log_probs=log_probs)
    backoffs = rounded.normalized().backoffs
    # Rounded probabilities may leave nothing, or too much, to words that never followed a history.
    near = np.abs(backoffs - plain.backoffs) < _LARGEST_CHANGE
    rounded = replace(rounded, backoffs=np.where(near, backoffs, plain.backoffs))
    backoff_tables = [_table(rounded.backoffs[level], _BACKOFF_BITS) for level in levels[:-1]]
    tables = list(zip(log_prob_tables, [*backoff_tables, NO_VALUES], strict=True))
    return NgramTrie.from_plain(rounded, closed=closed, tables=tables)


def _log_prob_bits(sizes: Sequence[int]) -> list[int]:
    """Return the bits of probabilities for each length of n-grams from 2 on."""
    return [
        _DENSE_LOG_PROB_BITS if longer > _DENSE * shorter else _LOG_PROB_BITS
        for shorter, longer in pairwise(sizes)
    ]


def _table(values: NDArray[np.float32], bits: int) -> NDArray[np.float32]:
    """Return the 2^bits values to which others are rounded with least squared error, in rising order.

    0 and -inf are among them if they are among the values: they mean that nothing follows, or that nothing
    can.
    """
    exact = [value for value in (-np.inf, 0.0) if np.any(values == value)]
    others = values[np.isfinite(values) & (values != 0)]
    size = 2**bits - len(exact)
    if len(others) > _MAX_SAMPLES:
        others = others[:: -(-len(others) // _MAX_SAMPLES)]
    centers = np.unique(others).astype(np.float64)
    if len(centers) > size:
        centers = _centers(np.sort(others).astype(np.float64), size)
    table = np.unique(np.concatenate((exact, centers)).astype(np.float32))
    if len(table) == 0:
        table = np.zeros(1, np.float32)
    return np.pad(table, (0, 2**bits - len(table)), mode="edge")


def _centers(values: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return `size` centers of sorted values: Lloyd's algorithm, weighted so that sums suffer least.

    It starts from centers as dense as the cube root of the density of values, which is best for many of them
    (Panter and Dite 1951).
    """
    # An error of a logarithm matters as often as it is met, and as much as there is probability.
    probs = 10.0**values
    weights = 1 + probs / probs.mean()
    masses, edges = np.histogram(values, _HISTOGRAM, weights=weights)
    dense = np.concatenate(([0.0], np.cumsum(np.cbrt(masses))))
    centers = np.interp((np.arange(size) + 0.5) / size * dense[-1], dense, edges)
    counts = np.concatenate(([0.0], np.cumsum(weights)))
    sums = np.concatenate(([0.0], np.cumsum(weights * values)))
    for _ in range(_ITERATIONS):
        ends = np.searchsorted(values, 0.5 * (centers[1:] + centers[:-1]))
        ends = np.concatenate(([0], ends, [len(values)]))
        filled = np.diff(ends) > 0
        centers = np.diff(sums[ends])[filled] / np.diff(counts[ends])[filled]
    return np.asarray(centers)


def _nearest(table: NDArray[np.float32], values: NDArray[np.float32]) -> NDArray[np.float32]:
    after = np.clip(np.searchsorted(table, values), 0, len(table) - 1)
    before = np.maximum(after - 1, 0)
    with np.errstate(invalid="ignore"):  # of -inf, which is near to nothing but itself
        nearer = (table[after] != values) & (values - table[before] < table[after] - values)
    return np.where(nearer, table[before], table[after])
