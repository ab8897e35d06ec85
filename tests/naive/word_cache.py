"""A cache of the words so far by its formula.

    p_k(w) = (c_k(w) + a_k p_k-1(w)) / (sum over v of c_k(v) + a_k)    k = 1, 2, 3, a_1 = 5, a_2 = a_3 = 1

c_k(w): the sum of decay_k^n over the times at which w followed the last k - 1 words, n words having come
since.
"""

from __future__ import annotations

from collections.abc import Sequence

PRIORS = (5.0, 1.0, 1.0)


def probabilities(
    words: Sequence[int], unigram: Sequence[float], decays: Sequence[float], begin: int, end: int
) -> list[float]:
    """Return the probability of each word after some words, among which `begin` is no event."""
    events, histories = [], [(-1, -1)]  # the last but one word and the last before each event; -1: none
    for word in words:
        last_but_one_and_last = (begin, begin) if word in (begin, end) else (histories[-1][1], word)
        if word == begin:
            histories[-1] = last_but_one_and_last
        else:
            events.append(word)
            histories.append(last_but_one_and_last)
    p = list(unigram)
    for k, decay in enumerate(decays):
        context = histories[-1][2 - k :]
        hits = [0.0] * len(p)
        for age, (word, history) in enumerate(zip(reversed(events), reversed(histories[:-1]), strict=True)):
            if history[2 - k :] == context:
                hits[word] += decay**age
        p = [(c + PRIORS[k] * q) / (sum(hits) + PRIORS[k]) for c, q in zip(hits, p, strict=True)]
    return p


def kept(words: Sequence[int], capacity: int) -> list[int]:
    """Return which of some words are kept: each time that there are `capacity` of them, the last half."""
    recent: list[int] = []
    for word in words:
        recent.append(word)
        if len(recent) == capacity:
            recent = recent[-(capacity // 2) :]
    return recent
