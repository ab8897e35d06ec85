"""The distributions of models before the events of a text, many at a time, and their entropies.

Kinds of models differ in what they know of a history. What they have in common is a row of probabilities for
each event, to which each part of a mixture adds its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.progress import Progress
from stategram.resources import Resources
from stategram.text import Corpus

if TYPE_CHECKING:
    from stategram.models.model import Model

# The probabilities that are in memory at a time.
_MAX_CELLS = 1 << 21

Events: TypeAlias = NDArray[np.int64]
Weights: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.float64]
"""For each event the probability of each word."""


@dataclass(frozen=True, eq=False)
class Distributions:
    """The distribution before each event of a text."""

    keys: NDArray[np.uint32] | None
    """For each event a row of numbers; events with the same row have the same distribution. None if
    distributions depend on all words before: they have to be added in order, and once."""
    add: Callable[[Events, Weights, Rows], None]
    """Adds the distributions before events to rows, each times its weight."""


def of_words(
    of_categories: Distributions,
    n_categories: int,
    categories: NDArray[np.uint32],
    word_probs: NDArray[np.float64],
) -> Distributions:
    """Return the distributions of words that follow from those of their categories."""
    signed = categories.astype(np.int32)

    def add(events: Events, weights: Weights, rows: Rows) -> None:
        found = np.zeros((len(events), n_categories))
        of_categories.add(events, weights, found)
        threads = Resources.current().threads
        _core.add_category_rows(
            found.reshape(-1), signed, word_probs, n_categories, rows.reshape(-1), threads
        )

    return Distributions(of_categories.keys, add)


def entropies_of(
    distributions: Distributions,
    n_events: int,
    masses: NDArray[np.float64],
    column_entropies: NDArray[np.float64],
    progress: Progress | None = None,
) -> NDArray[np.float64]:
    """Return sum_i (e_i p_i - m_i p_i ln p_i) of each distribution p.

    `masses` has m, and `column_entropies` e. With m = 1 and e = 0 these are the entropies in nats. If columns
    are categories, m is the sum of p(w | g) over the words of a category, and e the entropy of p(w | g).
    """
    keys = distributions.keys
    if keys is None:
        firsts, places = np.arange(n_events), np.arange(n_events)
    else:
        firsts, places = _distinct(keys)
    found = np.empty(len(firsts))
    n_rows = max(1, _MAX_CELLS // len(masses))
    for begin in range(0, len(firsts), n_rows):
        events = firsts[begin : begin + n_rows]
        rows = np.zeros((len(events), len(masses)))
        distributions.add(events, np.ones(len(events)), rows)
        found[begin : begin + len(events)] = _core.row_entropies(
            rows.reshape(-1), masses, column_entropies, Resources.current().threads
        )
        if progress:
            done = begin + len(events)
            progress(done / len(firsts), f"entropies after {done:,} of {len(firsts):,} histories")
    return found[places]


def distribution_rows(
    model: Model, corpus: Corpus, max_events: int
) -> Iterator[tuple[NDArray[np.int64], Rows]]:
    """Return the distributions before the events of a text, in order, for at most so many at a time."""
    distributions, n_words = model._distributions(corpus, model.start()), len(model.vocabulary)
    step = max(1, min(_MAX_CELLS // n_words, max_events))
    for begin in range(0, corpus.n_events, step):
        events = np.arange(begin, min(begin + step, corpus.n_events))
        rows = np.zeros((len(events), n_words))
        distributions.add(events, np.ones(len(events)), rows)
        yield events, rows


def _distinct(keys: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the place of the first row of each kind, and the kind of each row.

    >>> firsts, kinds = _distinct(np.array([[1, 2], [3, 2], [1, 2]], np.uint32))
    >>> firsts, kinds
    (array([0, 1]), array([0, 1, 0]))
    """
    kinds = np.zeros(len(keys), np.uint64)
    firsts = np.zeros(min(len(keys), 1), np.int64)
    for column in keys.T:
        # Kinds are below 2^32, as values are.
        pairs = kinds << np.uint64(32) | column
        _, firsts, inverse = np.unique(pairs, return_index=True, return_inverse=True)
        kinds = inverse.reshape(-1).astype(np.uint64)
    return firsts, kinds.astype(np.int64)
