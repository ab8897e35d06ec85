"""Whether the probabilities after a history sum to one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from stategram.models import Model, NgramModel

_LONGEST = 4


@dataclass(frozen=True)
class HistorySum:
    """The sum of the probabilities of all words after a history."""

    history: tuple[str, ...]
    total: float

    @property
    def error(self) -> float:
        """How far the sum is from one."""
        return abs(self.total - 1.0) if np.isfinite(self.total) else float("inf")


def history_sums(
    model: Model,
    samples: int = 100,
    *,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> list[HistorySum]:
    """Sum the probabilities after histories drawn by lot: half are n-grams of the model, half are any words.

    All are any words if the model is not one of n-grams. The histories without words and of a sentence start
    come first, whatever the lot says.

    Examples
    --------
    >>> from stategram import NgramModel
    >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran"], order=3)
    >>> max(one.error for one in history_sums(model)) < 1e-6
    True

    """
    random = np.random.default_rng(seed)
    longest = model.order - 1 if isinstance(model, NgramModel) else _LONGEST
    sums = []
    for i in range(samples):
        if i == 0:
            history: tuple[str, ...] = ()
        elif i == 1:
            history = ("<s>",)
        elif i % 2 == 0 and isinstance(model, NgramModel):
            history = _words(model, _draw_node(model, random))
        else:
            words = random.integers(0, len(model.vocabulary), max(longest, 1))
            history = tuple(model.vocabulary.word(id) for id in words.tolist())
        total = float(model.distribution(history, sentence_start=False).sum())
        sums.append(HistorySum(history, total))
        if progress:
            progress(i + 1, samples)
    return sums


def _draw_node(model: NgramModel, random: np.random.Generator) -> int:
    """Draw a length of n-grams, then one of that length."""
    begins = model.trie.begins
    # Pruning can leave no n-gram of some length.
    levels = [level for level in range(model.order) if begins[level] < begins[level + 1]]
    level = levels[random.integers(0, len(levels))]
    return int(random.integers(begins[level], begins[level + 1]))


def _words(model: NgramModel, node: int) -> tuple[str, ...]:
    """Give the words of a node that is not a leaf."""
    trie = model.trie
    first_child = trie.nodes.reshape(-1, 4)[:, 2]
    words = []
    while node > 0:
        id = int(np.flatnonzero(trie.numbers == trie.words[node])[0])
        words.append(model.vocabulary.word(id))
        node = bisect_right(first_child, node) - 1  # reads only what it looks at
    return tuple(reversed(words))
