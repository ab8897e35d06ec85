"""N-grams whose suffixes are all there, for readers of ARPA files that take them for granted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stategram._core import DamagedModel
from stategram.models.ngrams.model import NgramModel, damage_error
from stategram.models.ngrams.plain import PlainTrie, TrieShape


def close_suffixes(model: NgramModel) -> NgramModel:
    """Return the same model with every suffix of an n-gram among its n-grams.

    Pruning leaves n-grams such as ``in the house`` without ``the house``. A suffix that is missing is added
    with the probability that backing off gives it and a back-off weight of 1: no probability changes.

    Examples
    --------
    >>> from stategram import NgramModel
    >>> text = ["in the house", "in the house", "the cat", "the dog", "a house"]
    >>> model = NgramModel.train(text, order=3, prune=0.02)
    >>> model.trie.sizes, close_suffixes(model).trie.sizes
    ((9, 9, 1), (9, 10, 1))

    """
    try:
        trie = model.trie.plain()
        trie.check()
    except DamagedModel as error:
        raise damage_error(model.path, error) from error
    closed = _closed(trie)
    info = {**model.training_info, "inserted_suffixes": sum(closed.sizes) - sum(model.trie.sizes)}
    return NgramModel.from_plain(
        model.vocabulary, closed, model.smoothing, training_info=info, **model.origin
    )


def _closed(trie: PlainTrie) -> PlainTrie:
    """Return the trie with all suffixes: those of a node that are longer than its link are missing."""
    shape = TrieShape(trie.numbers)
    places = np.zeros(len(trie.words), np.int64)  # in the new trie, among the n-grams of a length
    places[trie.level(1)] = trie.words[trie.level(1)]
    backoffs = [trie.backoffs[trie.level(1)].astype(np.float64)] if trie.order > 1 else []
    link_lengths = trie.lengths[trie.links]
    for length in range(2, trie.order + 1):
        here = trie.level(length)
        lacking = np.flatnonzero((link_lengths < length) & (length < trie.lengths))
        added = np.unique(trie.words_of(lacking, length), axis=0)
        found = shape.add_level(
            np.concatenate([places[trie.parents[here]], shape.places(added[:, :-1])]),
            np.concatenate([trie.words[here], added[:, -1]]),
        )
        places[here] = found[: here.stop - here.start]
        if length < trie.order:
            weights = np.zeros(shape.begins[-1] - shape.begins[-2])
            weights[places[here]] = trie.backoffs[here]
            backoffs.append(weights)
    closed = shape.trie([np.zeros(shape.begins[-1] - 1)], backoffs)
    log_probs = trie.log10_probs_of(closed, np.arange(trie.n_words, dtype=np.uint32))
    # Above 0 only in models that are not normalized.
    return replace(closed, log_probs=np.minimum(log_probs, 0.0).astype(np.float32))
