"""A model of fewer words: their probabilities stay, those of the others go to ``<unk>``.

After each history of words that are kept, these are as probable as before, and ``<unk>`` has what the dropped
words had too:

    p'(w | h) = p(w | h)        p'(<unk> | h) = p(<unk> | h) + sum of p(v | h) over the dropped words v

Back-off weights stay. Where h has n-grams hv of dropped words, p'(<unk> | h) is no longer what backing off
gives, and the n-gram h <unk> takes their place: there are never more n-grams than before.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stategram.counts import trie_numbers
from stategram.models.ngrams.plain import PlainTrie, TrieShape
from stategram.text import UNKNOWN


def filter_trie(trie: PlainTrie, ids: NDArray[np.int64]) -> PlainTrie:
    """Return the n-grams of some words, given by their ids, of which the first three are special words."""
    numbers = trie_numbers(len(ids))
    new_number = np.full(len(trie.numbers), -1)
    new_number[trie.numbers[ids]] = numbers
    unknown = int(trie.numbers[UNKNOWN])
    parents = trie.parents
    gone = new_number[trie.words] < 0
    joined = gone | (trie.words == unknown)  # what <unk> is from now on
    joined[0] = False
    unknown_probs = _unknown_probs(trie, joined)
    joined_after = np.zeros(len(trie.backoffs), np.bool_)
    joined_after[parents[joined]] = True
    shape = TrieShape(numbers)
    place = np.full(len(trie.words), -1)  # among the new n-grams of a length
    log_probs, backoffs = [], []
    for k in range(1, trie.order + 1):
        begin, end = trie.begins[k : k + 2].tolist()
        kept = begin + np.flatnonzero(~gone[begin:end] & ((k == 1) | (place[parents[begin:end]] >= 0)))
        before = np.arange(*trie.begins[k - 1 : k + 1])
        joining = before[joined_after[before] & ((k == 1) | (place[before] >= 0))]
        with np.errstate(divide="ignore"):
            unknown_logs = np.log10(unknown_probs[joining])
        words = np.concatenate([new_number[trie.words[kept]], np.full(len(joining), numbers[UNKNOWN])])
        if k == 1:
            places = words
        else:
            places = shape.add_level(np.concatenate([place[parents[kept]], place[joining]]), words)
        size = shape.begins[k + 1] - shape.begins[k]
        place[kept] = places[: len(kept)]
        logs = np.empty(size)
        logs[place[kept]] = trie.log_probs[kept]
        logs[places[len(kept) :]] = unknown_logs
        log_probs.append(logs)
        if k < trie.order:
            weights = np.zeros(size)
            weights[place[kept]] = trie.backoffs[kept]
            backoffs.append(weights)
    return shape.trie(log_probs, backoffs)


def _unknown_probs(trie: PlainTrie, joined: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the probability of all words together that join ``<unk>``, after each history.

    U(h) = sum of p(v | h) + backoff(h) (U(h') - sum of p(v | h')), both over the n-grams hv of such words.
    """
    lower, links, n_inner = trie.lower_log_probs, trie.links, trie.n_histories
    of, history = np.flatnonzero(joined), trie.parents[joined]
    found = np.bincount(history, 10.0 ** trie.log_probs[of].astype(np.float64), n_inner).astype(np.float64)
    backed = np.bincount(history, 10.0 ** lower[of].astype(np.float64), n_inner)
    weights = 10.0 ** trie.backoffs.astype(np.float64)
    for begin, end in zip(trie.begins[1:-2], trie.begins[2:-1], strict=True):
        rest = found[links[begin:end]] - backed[begin:end]
        found[begin:end] += weights[begin:end] * np.maximum(rest, 0.0)
    return found
