"""Profiles of words over the classes of their neighbours, with dictionaries."""

from __future__ import annotations

from collections import Counter
from math import log

PRIOR_EVENTS = 5.0


def profiles(sentences: list[list[str]], classes: dict[str, str]) -> dict[str, dict[tuple[str, str], float]]:
    """For each word, max(0, log p(g | w) / p(g)) for each class g ``before`` and ``after`` it.

    The boundary of sentences is a word of its own class; so are words without one.
    """
    events = [word for sentence in sentences for word in [*sentence, "</s>"]]
    class_of = {word: classes.get(word, "other") for word in events}
    n_words, n_classes = Counter(events), Counter(class_of[word] for word in events)
    bigrams = Counter(zip([events[-1], *events[:-1]], events, strict=True))
    found: dict[str, dict[tuple[str, str], float]] = {word: {} for word in n_words}
    for side in ("after", "before"):
        counts: Counter[tuple[str, str]] = Counter()
        of_class: Counter[tuple[str, str]] = Counter()
        for (first, second), n in bigrams.items():
            word, other = (first, second) if side == "after" else (second, first)
            counts[word, class_of[other]] += n
            of_class[class_of[word], class_of[other]] += n
        for word, n in n_words.items():
            for g, n_g in n_classes.items():
                prior = of_class[class_of[word], g] / n_classes[class_of[word]]
                p = (counts[word, g] + PRIOR_EVENTS * prior) / (n + PRIOR_EVENTS)
                found[word][side, g] = max(0.0, log(p / (n_g / len(events)))) if p else 0.0
    return found
