"""The clusters that a model has, for whoever shows them: its word classes, and the states of its contexts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stategram.errors import BadDataError
from stategram.models.ngrams.estimate import absolute_discount
from stategram.text import BEGIN

if TYPE_CHECKING:
    from stategram.models.model import Model
    from stategram.models.ngrams.model import NgramModel
    from stategram.models.state_counts import StateCounts
    from stategram.models.state_tree import StateTree


@dataclass(frozen=True, eq=False)
class ModelStates:
    """The states of contexts in a model: a title in a few words, the states of all contexts, their number."""

    title: str
    tree: StateTree
    n: int
    categories: NDArray[np.uint32]
    """The category of each word."""
    word_probs: NDArray[np.float64] | None = None
    """The probability of each word in its category; None if that is its frequency."""
    counts: tuple[StateCounts, ...] = ()
    """For each level of the tree, how often each category follows each state; empty if that is not kept."""
    tag_names: tuple[str, ...] = ()
    """The name of each tag; empty if contexts have none, or if they are not known."""
    name: str = ""
    """Their name among several of a model."""


@dataclass(frozen=True, eq=False)
class ModelClasses:
    """Word classes of a model: a title in a few words, the class of each word by its id."""

    title: str
    labels: NDArray[Any]
    ngrams: NgramModel | None = None
    """An n-gram model of them, whose words are their numbers."""
    states: ModelStates | None = None
    """The states that they follow."""
    word_probs: NDArray[np.float64] | None = None
    """The probability of each word in its class; None if that is its frequency."""
    name: str = ""
    """Their name among several of a model."""

    @property
    def n(self) -> int:
        """The number of classes."""
        return int(self.labels.max()) + 1


def word_categories(model: Model) -> NDArray[Any] | None:
    """Return the category of each word by its id; None if the model predicts none."""
    return next((one.labels for one in model.class_sets if one.word_probs is not None), None)


def word_probabilities(
    counts: NDArray[np.int64], ids: NDArray[np.uint32]
) -> tuple[NDArray[np.float64], float]:
    """Return p(w | g) of each word w in its category g, and the discount D.

        p(w | g) = (max(N(w) - D, 0) + D n+(g) / n(g)) / N(g)

    n(g): the words of g, n+(g): those that occur. D is the leaving-one-out estimate n1 / (n1 + 2 n2) from the
    numbers of words that occur once and twice. A category that does not occur is uniform.
    """
    known = counts > 0
    seen = np.bincount(counts[counts < 3], minlength=3)
    (discount, _, _), _ = absolute_discount(seen.tolist())
    n = np.bincount(ids)
    total = np.bincount(ids, weights=counts)
    n_seen = np.bincount(ids, weights=known)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_category = np.where(total > 0, discount * n_seen / n / total, 1 / n)
        own = np.where(known, (counts - discount) / total[ids], 0.0)
    probs: NDArray[np.float64] = own + of_category[ids]
    probs[BEGIN] = 0.0
    return probs, discount


def category_sums(
    word_probs: NDArray[np.float64], ids: NDArray[np.uint32], n_categories: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return for each category g the sum of p(w | g) over its words, which is 1 or 0, and their entropy.

    >>> category_sums(np.array([0.5, 0.5, 1.0]), np.array([0, 0, 2], np.uint32), 3)
    (array([1., 0., 1.]), array([0.69314718, 0.        , 0.        ]))
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(word_probs > 0, -word_probs * np.log(word_probs), 0.0)
    sums: NDArray[Any] = np.bincount(ids, word_probs, n_categories)
    entropies: NDArray[Any] = np.bincount(ids, terms, n_categories)
    return sums, entropies


def require_word_probs(word_probs: NDArray[np.float64], categories: NDArray[np.integer[Any]]) -> None:
    """Refuse probabilities of words that do not sum to one in each category that has words: BadDataError."""
    sums = np.bincount(categories, word_probs)[categories]
    sums[BEGIN] = 1.0
    fine = word_probs[BEGIN] == 0 and bool((word_probs >= 0).all())
    if not fine or not np.isclose(sums, 1, rtol=0, atol=1e-9).all():
        raise BadDataError("the probabilities of words are inconsistent; write the model again")
