"""A category n-gram model by its formula, on top of the n-gram models of `naive.ngram_models`.

    p(w | c) = p(g | g-1, ..., g-n+1) p(w | g)
    p(w | g) = (max(N(w) - D, 0) + D n+(g) / n(g)) / N(g),    1 / n(g) if N(g) = 0

Categories are ids of a vocabulary of their own: 0 is that of <unk>, 1 and 2 are those of <s> and </s>.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from naive.ngram_models import BEGIN, NaiveNgramModel, Sentences, absolute_discount, prob


def symbols(labels: Sequence[int | None]) -> list[int]:
    """Give the category of each word, from labels of which None is none."""
    numbers: dict[int, int] = {}
    others = {
        label for label in labels[3:] if label is not None and (labels[0] is None or label != labels[0])
    }
    for label in sorted(others):
        numbers[label] = 3 + len(numbers)
    return [0, 1, 2, *(0 if label is None else numbers.get(label, 0) for label in labels[3:])]


def word_probs(sentences: Sentences, categories: Sequence[int]) -> list[float]:
    counts = Counter(word for sentence in sentences for word in sentence)
    n1, n2 = (sum(count == r for count in counts.values()) for r in (1, 2))
    discount = absolute_discount(n1, n2) if n1 and n2 else 0.5
    probs = []
    for word, category in enumerate(categories):
        members = [other for other, g in enumerate(categories) if g == category]
        total = sum(counts[other] for other in members)
        seen = sum(counts[other] > 0 for other in members)
        if word == BEGIN:
            probs.append(0.0)
        elif total == 0:
            probs.append(1 / len(members))
        else:
            probs.append((max(counts[word] - discount, 0) + discount * seen / len(members)) / total)
    return probs


def category_prob(
    model: NaiveNgramModel,
    categories: Sequence[int],
    probs: Sequence[float],
    history: Sequence[int],
    word: int,
) -> float:
    """Give p(w | history); `model` is that of the sentences of categories."""
    return prob(model, tuple(categories[id] for id in history), categories[word]) * probs[word]
