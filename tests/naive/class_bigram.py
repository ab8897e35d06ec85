"""A class bigram model by its formulas, over sentences of words, with dictionaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from math import log2

BOUNDARY = "</s>"
UNKNOWN = "<unk>"


def events(sentences: list[list[str]]) -> list[tuple[str, str]]:
    """(previous word, word); the boundary stands before the first word and is predicted after the last."""
    return [
        pair
        for sentence in sentences
        if sentence
        for pair in zip([BOUNDARY, *sentence], [*sentence, BOUNDARY], strict=True)
    ]


def discount(counts: Counter[tuple[Hashable, Hashable]]) -> float:
    once = sum(n == 1 for n in counts.values())
    twice = sum(n == 2 for n in counts.values())
    if once == 0:
        return 0.1
    return once / (once + 2 * twice) if twice else 0.5


def figures(train: list[list[str]], classes: dict[str, int], test: list[list[str]]) -> dict[str, float]:
    train_events = events(train)
    word = Counter(w for _, w in train_events)

    def label(w: str) -> Hashable:
        if w == BOUNDARY:
            return BOUNDARY
        if w in classes:
            return classes[w]
        return classes[UNKNOWN] if UNKNOWN in classes and UNKNOWN in word else "further"

    t = len(train_events)
    one: Counter[Hashable] = Counter(label(w) for _, w in train_events)
    two: Counter[tuple[Hashable, Hashable]] = Counter((label(v), label(w)) for v, w in train_events)

    def interpolated(c: Hashable, g: Hashable) -> float:
        """max(N(c,g) - D, 0) / N(c) + D N1+(c,.) / N(c) * N(g) / N."""
        d, following = discount(two), sum(pair[0] == c for pair in two)
        return max(two[c, g] - d, 0) / one[c] + d * following / one[c] * one[g] / t

    scored = []
    skipped = 0
    for v, w in events(test):
        known_v = v if v in word else UNKNOWN if UNKNOWN in word else BOUNDARY
        known_w = w if w in word else UNKNOWN
        if known_w in word:
            scored.append((known_v, known_w))
        else:
            skipped += 1
    logs = [log2(interpolated(label(v), label(w)) * word[w] / one[label(w)]) for v, w in scored]
    return {
        "classes": len(one) - 1,
        "ami": sum(n / t * log2(n * t / (one[c] * one[g])) for (c, g), n in two.items()),
        "events": len(scored),
        "unknown": sum(w == UNKNOWN for _, w in scored),
        "skipped": skipped,
        "perplexity": 2 ** -(sum(logs) / len(logs)) if logs else float("nan"),
    }
