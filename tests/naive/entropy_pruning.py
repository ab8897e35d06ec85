"""Entropy-based pruning of back-off models by the formulas of Stolcke (1998).

    D = -p(h) { p(w | h) [log p(w | h') + log a' - log p(w | h)] + (1 - sum p(v | h)) [log a' - log a] }

is the relative entropy between the model and the model without hw; the sum goes over the kept words v after
h, a is the back-off weight of h and a' what it would be without hw. The n-gram is dropped where that would
raise the perplexity by less than the threshold: exp(D) - 1 < threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, prod

import numpy as np

from naive.ngram_models import BEGIN, END, NaiveNgramModel, Ngram, backoff, by_history, prob


def word_frequencies(model: NaiveNgramModel) -> list[float]:
    """f(w) = sum of f(v) p(w | v), <s> being as frequent as </s>; fifty half steps from the unigrams."""
    words = range(model.vocabulary_size)
    follow = np.array([[prob(model, (v,), w) for w in words] for v in words])
    f = np.array([prob(model, (), w) for w in words])
    for _ in range(50):
        before = f.copy()
        before[BEGIN], before[END] = f[END], 0.0
        f = (f + before @ follow) / 2
        f /= f.sum()
    f[BEGIN] = f[END]
    return [float(one) for one in f]


def history_prob(model: NaiveNgramModel, frequencies: Sequence[float], history: Ngram) -> float:
    """How often a history is met: its first word, then the chain rule."""
    first, *rest = history
    return frequencies[first] * prod(
        prob(model, history[:i], word) for i, word in enumerate(rest, 1) if word != BEGIN
    )


def relative_entropies(
    model: NaiveNgramModel, siblings: Sequence[Ngram], frequencies: Sequence[float] | None = None
) -> dict[Ngram, float]:
    """D of each of the n-grams that are kept after one history."""
    h = siblings[0][:-1]
    p = {g: model.probs[g] for g in siblings}
    lower = {g: prob(model, g[1:-1], g[-1]) for g in siblings}
    everything = len(siblings) == model.vocabulary_size - 1
    left = 0.0 if everything else 1 - sum(p.values())
    left_lower = 0.0 if everything else 1 - sum(lower.values())
    p_h = history_prob(model, frequencies or word_frequencies(model), h)
    entropies = {}
    for g in siblings:
        log_a = log((left + p[g]) / (left_lower + lower[g]))
        own = p[g] * (log(lower[g]) + log_a - log(p[g]))
        others = left * (log_a - log(model.backoffs[h])) if left > 0 else 0.0
        entropies[g] = -p_h * (own + others)
    return entropies


def entropy_prune(model: NaiveNgramModel, threshold: float) -> NaiveNgramModel:
    """Drop n-grams, the longest first, unless a kept one begins with them; then weigh the histories anew.

    p(w | h') and p(h) of an n-gram depend on shorter n-grams alone, so that going from the longest down every
    D is that of the whole model. Probabilities that are kept do not change; a weight after which all words
    are kept is never used and stays as it was.
    """
    unigrams: dict[Ngram, float] = {g: p for g, p in model.probs.items() if len(g) == 1}
    kept: list[Ngram] = []
    needed: set[Ngram] = set()
    frequencies = word_frequencies(model)
    for length in range(model.order, 1, -1):
        for siblings in by_history(g for g in model.probs if len(g) == length).values():
            rise = {g: exp(d) - 1 for g, d in relative_entropies(model, siblings, frequencies).items()}
            stay = [g for g in siblings if g in needed or rise[g] >= threshold]
            kept += stay
            needed.update(g[:-1] for g in stay)

    pruned = NaiveNgramModel(model.vocabulary_size, model.order, unigrams, {})
    for length in range(2, model.order + 1):
        for h, siblings in by_history(g for g in kept if len(g) == length).items():
            probs = {g: model.probs[g] for g in siblings}
            everything = len(siblings) == model.vocabulary_size - 1
            pruned.backoffs[h] = model.backoffs[h] if everything else backoff(pruned, probs)
            pruned.probs.update(probs)
    return pruned
