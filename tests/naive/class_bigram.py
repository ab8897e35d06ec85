"""Class bigram models by their formulas, over sentences of words, with dictionaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
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


def x_log_x(counts: Counter[Hashable]) -> float:
    return sum(n * log2(n) for n in counts.values())


def discount(counts: Counter[Hashable]) -> float:
    once = sum(n == 1 for n in counts.values())
    twice = sum(n == 2 for n in counts.values())
    if once == 0:
        return 0.1
    return once / (once + 2 * twice) if twice else 0.5


def interpolated(counts: Counter[Hashable], c: Hashable, g: Hashable, q: float) -> float:
    """max(N(c,g) - D, 0) / N(c) + D N1+(c,.) / N(c) * q(g)."""
    d = discount(counts)
    following = {pair: n for pair, n in counts.items() if pair[0] == c}  # type: ignore[index]
    total = sum(following.values())
    return max(counts[c, g] - d, 0) / total + d * len(following) / total * q


def figures(train: list[list[str]], classes: dict[str, int], test: list[list[str]]) -> dict[str, float]:
    train_events = events(train)
    word: Counter[Hashable] = Counter(w for _, w in train_events)

    def label(w: str) -> Hashable:
        if w == BOUNDARY:
            return BOUNDARY
        if w in classes:
            return classes[w]
        return classes[UNKNOWN] if UNKNOWN in classes and UNKNOWN in word else "further"

    t = len(train_events)
    one: Counter[Hashable] = Counter(label(w) for _, w in train_events)
    two: Counter[Hashable] = Counter((label(v), label(w)) for v, w in train_events)
    predictive: Counter[Hashable] = Counter((v, label(w)) for v, w in train_events)
    over_types: Counter[Hashable] = Counter(
        (label(v), g) for v, g in {(v, label(w)) for v, w in train_events}
    )

    def continuation(g: Hashable) -> float:
        return sum(pair[1] == g for pair in two) / len(two)  # type: ignore[index]

    criterion = (x_log_x(two) - 2 * x_log_x(one)) / t
    criterion_predictive = (x_log_x(predictive) - x_log_x(word) - x_log_x(one)) / t
    scored = []
    skipped = 0
    for v, w in events(test):
        known_v = v if v in word else UNKNOWN if UNKNOWN in word else BOUNDARY
        known_w = w if w in word else UNKNOWN
        if known_w in word:
            scored.append((known_v, known_w))
        else:
            skipped += 1

    models: dict[str, Callable[[str, str], float]] = {
        "perplexity_ad": lambda v, w: interpolated(two, label(v), label(w), one[label(w)] / t),
        "perplexity_kn": lambda v, w: interpolated(two, label(v), label(w), continuation(label(w))),
        "predictive_unigram": lambda v, w: interpolated(predictive, v, label(w), one[label(w)] / t),
        "predictive_chain": lambda v, w: interpolated(
            predictive, v, label(w), interpolated(over_types, label(v), label(w), one[label(w)] / t)
        ),
    }

    def perplexity(p: Callable[[str, str], float], of: list[tuple[str, str]]) -> float:
        if not of:
            return float("nan")
        return float(2 ** -(sum(log2(p(v, w) * word[w] / one[label(w)]) for v, w in of) / len(of)))

    known = [(v, w) for v, w in scored if w != UNKNOWN]
    return {
        "classes": len(one) - 1,
        "train_events": t,
        "test_events": len(scored),
        "unknown": len(scored) - len(known),
        "skipped": skipped,
        "discount": discount(two),
        "ami": criterion + log2(t),
        "train_perplexity": 2 ** -(criterion + x_log_x(word) / t),
        "predictive_train_perplexity": 2 ** -(criterion_predictive + x_log_x(word) / t),
        **{name: perplexity(p, scored) for name, p in models.items()},
        **{f"known_{name}": perplexity(p, known) for name, p in models.items()},
    }
