"""Missing suffixes of n-grams, added by the recursion of the ARPA format."""

from __future__ import annotations

from naive.trie import Ngrams


def closed(model: Ngrams) -> Ngrams:
    suffixes = {ngram[i:] for ngram in model.log_probs for i in range(1, len(ngram))}
    missing = suffixes - set(model.log_probs)
    added = {ngram: min(model.log_prob(ngram[:-1], ngram[-1])[0], 0.0) for ngram in missing}
    return Ngrams(model.n_words, model.order, {**model.log_probs, **added}, model.backoffs)
