"""An n-gram model with a lower order, whose longest n-grams have the probabilities that are right for it.

The lower orders of a Kneser-Ney model are made for backing off: "Francisco" is rare there, as it follows
hardly any word but "San". Without the n-grams above, p(w | h) must be what the whole model expects after all
longer histories that end in h.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from stategram.models.approximation.chosen import normalize
from stategram.models.approximation.trie_index import TrieIndex
from stategram.models.approximation.visits import expected_counts
from stategram.models.category_ngram import CategoryNgramModel
from stategram.models.mixture import Mixture
from stategram.models.model import Model
from stategram.models.ngram import NgramModel
from stategram.models.plain_trie import PlainTrie


def cut(model: Model, order: int) -> Model:
    """Return the model with n-grams of at most `order` words in all its parts."""
    if isinstance(model, Mixture):
        return replace(model, parts=tuple(cut(part, order) for part in model.parts))
    if isinstance(model, CategoryNgramModel) and model.order > order:
        return replace(model, ngram=cut_ngrams(model.ngram, order))
    return cut_ngrams(model, order) if isinstance(model, NgramModel) else model


def cut_ngrams(model: NgramModel, order: int) -> NgramModel:
    """Return the n-gram model with n-grams of at most `order` words."""
    if model.order <= order:
        return model
    trie = cut_trie(TrieIndex(model.plain()), order)
    common = {"training_info": model.training_info, "metadata": model.metadata}
    return NgramModel.from_plain(model.vocabulary, trie, model.smoothing, **common)


def cut_trie(index: TrieIndex, order: int) -> PlainTrie:
    """Return the n-grams of up to `order` words, the longest with the probability that the model expects."""
    counts = expected_counts(index)
    events = _with_longer(index, counts.events)
    visits = _with_longer(index, np.append(counts.visits, np.zeros(len(events) - len(counts.visits))))
    trie, longest = index.trie, index.level(order)
    end, n_histories = longest.stop, longest.start
    log_probs = trie.log_probs[:end].copy()
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.log10(events[longest] / visits[index.parents[longest]])
    log_probs[longest] = np.where(np.isfinite(expected), np.minimum(expected, 0.0), log_probs[longest])
    return normalize(
        PlainTrie(
            trie.numbers,
            trie.begins[: order + 2],
            trie.words[:end],
            log_probs,
            np.zeros(n_histories, np.float32),
            trie.first_child[: n_histories + 1],
        )
    )


def _with_longer(index: TrieIndex, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums over all nodes that end in each node."""
    sums = values.copy()
    for length in range(index.order, 1, -1):
        here = index.level(length)
        sums += np.bincount(index.links[here], sums[here], len(sums))
    return sums
