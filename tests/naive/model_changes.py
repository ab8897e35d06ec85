"""Models made of models, by their formulas: merging, filtering; and plain tries of dictionaries."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from naive.ngram_models import BEGIN, END, UNKNOWN, NaiveNgramModel, Ngram, backoff, by_history, prob
from stategram import NgramModel
from stategram.models import PlainTrie


def share(ids: Sequence[int], word: int) -> float:
    """One half of <unk> for itself, the other half in even shares for the words that are unknown."""
    lacking = ids.count(UNKNOWN) - 1
    if ids[word] != UNKNOWN or lacking == 0:
        return 1.0
    return 0.5 if word == UNKNOWN else 0.5 / lacking


def merged(
    parts: Sequence[NaiveNgramModel],
    own_ids: Sequence[Sequence[int]],
    weights: Sequence[float],
    vocabulary_size: int,
) -> NaiveNgramModel:
    """The n-grams of all parts, each with p(w | h) = sum_i weight_i p_i(w | h), by backing off in each.

    `own_ids` has the id in each part of every word. Words that a part lacks are its <unk>.
    """

    def mixed(ngram: Ngram) -> float:
        total = 0.0
        for part, ids, weight in zip(parts, own_ids, weights, strict=True):
            *history, word = (ids[id] for id in ngram)
            total += weight * prob(part, tuple(history), word) * share(ids, ngram[-1])
        return total

    words = {word: [ids.index(word) for ids in own_ids] for word in (UNKNOWN, BEGIN, END)}
    assert all(set(places) == {word} for word, places in words.items())
    ngrams: set[Ngram] = {(word,) for word in range(vocabulary_size)}
    for part, ids in zip(parts, own_ids, strict=True):
        ngrams |= {tuple(ids.index(id) for id in ngram) for ngram in part.probs}
    order = max(part.order for part in parts)
    model = NaiveNgramModel(vocabulary_size, order, {}, {})
    for length in range(1, order + 1):
        for history, siblings in by_history(sorted(g for g in ngrams if len(g) == length)).items():
            probs = {ngram: mixed(ngram) for ngram in siblings}
            if length > 1:
                model.backoffs[history] = backoff(model, probs)
            model.probs.update(probs)
    return model


def filtered(model: NaiveNgramModel, kept: Collection[int]) -> NaiveNgramModel:
    """The n-grams of the words that are kept, and what <unk> is after histories with n-grams of others.

    p'(<unk> | h) = p(<unk> | h) + sum of p(v | h) over the dropped words v
    """
    joined = [UNKNOWN, *(id for id in range(model.vocabulary_size) if id not in kept)]
    few = NaiveNgramModel(len(kept), model.order, {}, {})
    for ngram, probability in model.probs.items():
        *history, word = ngram
        if set(history) <= set(kept):
            if word in joined:
                of_joined = sum(prob(model, tuple(history), other) for other in joined)
                few.probs[*history, UNKNOWN] = of_joined
            else:
                few.probs[ngram] = probability
    few.backoffs.update((h, weight) for h, weight in model.backoffs.items() if h in few.probs)
    return few


def unknown_scaled(probs: Sequence[float], factor: float) -> list[float]:
    """The odds of <unk> multiplied: p'(w) = p(w) / Z, p'(<unk>) = factor p(<unk>) / Z."""
    weights = [factor * p if word == UNKNOWN else p for word, p in enumerate(probs)]
    return [weight / sum(weights) for weight in weights]


def naive_of(model: NgramModel) -> NaiveNgramModel:
    """The n-grams of a model, by ids; the weights of histories that have n-grams."""
    trie = model.trie.plain()
    ids = np.argsort(trie.numbers).tolist()
    names: list[Ngram] = [()]
    found = NaiveNgramModel(len(ids), trie.order, {}, {})
    for node in range(len(trie.backoffs)):
        first, last = trie.first_child[node : node + 2].tolist()
        names += [(*names[node], ids[word]) for word in trie.words[first:last].tolist()]
        if node and first < last:
            found.backoffs[names[node]] = 10.0 ** float(trie.backoffs[node])
    for name, log_prob in zip(names[1:], trie.log_probs[1:].tolist(), strict=True):
        found.probs[name] = 10.0**log_prob
    return found


def plain_of(
    log_probs: Mapping[Ngram, float], backoffs: Mapping[Ngram, float], n_words: int, order: int
) -> PlainTrie:
    """The plain trie of n-grams, in which words have their ids as numbers."""
    ngrams = sorted([(), *log_probs], key=lambda ngram: (len(ngram), ngram))
    inner = [ngram for ngram in ngrams if len(ngram) < order]
    starts = [(len(ngram), ngram[:-1]) for ngram in ngrams[1:]]
    children = [1 + sum(start < (len(ngram) + 1, ngram) for start in starts) for ngram in inner]
    return PlainTrie(
        np.arange(n_words, dtype=np.uint32),
        np.array([sum(len(ngram) < k for ngram in ngrams) for k in range(order + 2)], np.int64),
        np.array([0, *(ngram[-1] for ngram in ngrams[1:])], np.uint32),
        np.array([log_probs.get(ngram, 0.0) for ngram in ngrams], np.float32),
        np.array([backoffs.get(ngram, 0.0) for ngram in inner], np.float32),
        np.array([*children, len(ngrams)], np.uint32),
    )
