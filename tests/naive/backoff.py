"""What a back-off model should list after a history, and how often its histories are met."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence

Words = tuple[str, ...]


def chosen_words(
    target: Sequence[float], lower: Sequence[float], occupancy: float, threshold: float, rounds: int
) -> dict[int, float]:
    """The words that are worth more than the threshold, and by how much each lowers the cross-entropy."""
    backoff, gains = 1.0, dict[int, float]()
    for _ in range(rounds):
        gains = {}
        for word, (t, q) in enumerate(zip(target, lower, strict=True)):
            b = backoff * q
            if t > 0 and occupancy * (t * math.log(t / b) - t + b) > threshold:
                gains[word] = occupancy * (t * math.log(t / b) - t + b)
        left = 1.0 - sum(target[word] for word in gains)
        lower_left = 1.0 - sum(lower[word] for word in gains)
        if left > 0 and lower_left > 1e-9:
            backoff = left / lower_left
    return gains


def expected_visits(
    distribution: Callable[[Words], dict[str, float]], known: set[Words], n_words: int
) -> dict[Words, float]:
    """How often each history is the longest that is known, after `n_words` words from a sentence start."""
    visits: dict[Words, float] = {("<s>",): 1.0}
    for _ in range(n_words):
        after: defaultdict[Words, float] = defaultdict(float)
        for history, weight in visits.items():
            for word, prob in distribution(history).items():
                words: Words = (*history, word) if word != "</s>" else ("<s>",)
                while words not in known:
                    words = words[1:]
                after[words] += weight * prob
        visits = dict(after)
    return visits
