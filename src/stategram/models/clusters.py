"""The clusters that a model has, for whoever shows them: its word classes, and the states of its contexts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from stategram.models.model import Model
    from stategram.models.ngrams.model import NgramModel
    from stategram.models.state_counts import StateCounts
    from stategram.models.state_tree import StateTree


@dataclass(frozen=True, eq=False)
class ModelStates:
    """The states of contexts in a model.

    Parameters
    ----------
    title
        What they are, in a few words.
    tree
        The states of all contexts.
    n
        The number of states.
    categories
        The category of each word.
    word_probs
        The probability of each word in its category; None if that is its frequency.
    counts
        For each level of the tree, how often each category follows each state; empty if the model does not
        keep it.
    tag_names
        The name of each tag; empty if contexts have none, or if they are not known.
    name
        Their name among several of a model.

    """

    title: str
    tree: StateTree
    n: int
    categories: NDArray[np.uint32]
    word_probs: NDArray[np.float64] | None = None
    counts: tuple[StateCounts, ...] = ()
    tag_names: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True, eq=False)
class ModelClasses:
    """Word classes of a model.

    Parameters
    ----------
    title
        What they are, in a few words.
    labels
        The class of each word by its id.
    ngrams
        An n-gram model of them, whose words are their numbers; None if there is none.
    states
        The states that they follow; None if there are none.
    word_probs
        The probability of each word in its class; None if that is its frequency.
    name
        Their name among several of a model.

    """

    title: str
    labels: NDArray[Any]
    ngrams: NgramModel | None = None
    states: ModelStates | None = None
    word_probs: NDArray[np.float64] | None = None
    name: str = ""

    @property
    def n(self) -> int:
        """The number of classes."""
        return int(self.labels.max()) + 1


def word_categories(model: Model) -> NDArray[Any] | None:
    """Return the category of each word by its id; None if the model predicts none."""
    return next((one.labels for one in model.class_sets if one.word_probs is not None), None)
