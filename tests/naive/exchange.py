"""The criteria of the exchange, and what a move is worth, by counting everything again.

With f(n) = n log n, N(a,b) the events in which class a is followed by class b, and N(a) the words of class a:

    tied        F = sum f(N(a,b)) - 2 sum f(N(a))
    two-sided   F = sum f(N(s,g)) - sum f(N(s)) - sum f(N(g))

Predictive classes are the two-sided ones whose states are the contexts themselves.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

Pairs = Mapping[tuple[int, int], int]


def f(n: int) -> float:
    return n * math.log(n) if n > 0 else 0.0


def closed_bigrams(ids: Sequence[int]) -> Pairs:
    """Count the pairs of a closed stream: the last id stands before the first."""
    return Counter((ids[i - 1], ids[i]) for i in range(len(ids)))


def tied_criterion(pairs: Pairs, words: Iterable[int], labels: Sequence[int]) -> float:
    """Return F of the given words; pairs with any other word do not count."""
    words = set(words)
    cells: Counter[tuple[int, int]] = Counter()
    margins: Counter[int] = Counter()
    for (v, w), n in pairs.items():
        if v in words and w in words:
            cells[labels[v], labels[w]] += n
        if w in words:
            margins[labels[w]] += n
    return sum(map(f, cells.values())) - 2 * sum(map(f, margins.values()))


def two_sided_counts(
    pairs: Pairs, states: Sequence[int], categories: Sequence[int]
) -> tuple[Counter[tuple[int, int]], Counter[int], Counter[int]]:
    """Return N(s,g), N(s) and N(g)."""
    cells: Counter[tuple[int, int]] = Counter()
    of_states: Counter[int] = Counter()
    of_categories: Counter[int] = Counter()
    for (context, word), n in pairs.items():
        cells[states[context], categories[word]] += n
        of_states[states[context]] += n
        of_categories[categories[word]] += n
    return cells, of_states, of_categories


def two_sided_criterion(pairs: Pairs, states: Sequence[int], categories: Sequence[int]) -> float:
    cells, of_states, of_categories = two_sided_counts(pairs, states, categories)
    return sum(map(f, cells.values())) - sum(map(f, of_states.values())) - sum(map(f, of_categories.values()))


def moved(labels: Sequence[int], element: int, target: int) -> list[int]:
    return [target if i == element else label for i, label in enumerate(labels)]


def tied_gain(pairs: Pairs, labels: Sequence[int], word: int, target: int) -> float:
    """F after the move less F before it."""
    words = range(len(labels))
    return tied_criterion(pairs, words, moved(labels, word, target)) - tied_criterion(pairs, words, labels)


def annealed(scores: Sequence[float], home: int, temperature: float) -> list[float]:
    """Return the probability of each target for an element at home, with all targets on its shortlist.

    Targets have Gumbel noise on scores / T, home has none. The largest noisy score of the others is a Gumbel
    variable around log Z, and independent of it whose it is: a draw from the softmax.

        p(home) = exp(-Z),  p(b) = (1 - exp(-Z)) e(b) / Z

    with e(b) = exp((score(b) - score(home)) / T) and Z their sum over the others.
    """
    e = [math.exp((score - scores[home]) / temperature) for score in scores]
    z = sum(e) - 1
    return [math.exp(-z) if b == home else (1 - math.exp(-z)) * e[b] / z for b in range(len(scores))]


def tied_scores(pairs: Pairs, labels: Sequence[int], word: int, targets: int) -> list[float]:
    """For each class, F with the word in it less F of the text without the word.

    The other words keep their counts: their margins are what they are with the word.
    """
    words = range(len(labels))
    without = tied_criterion(pairs, set(words) - {word}, labels)
    return [tied_criterion(pairs, words, moved(labels, word, b)) - without for b in range(targets)]


def two_sided_scores(
    pairs: Pairs, states: Sequence[int], categories: Sequence[int], word: int, targets: int
) -> list[float]:
    """For each category, F with the word in it less F with the word in an empty category."""
    empty = max(categories, default=0) + 1
    alone = two_sided_criterion(pairs, states, moved(categories, word, empty))
    return [two_sided_criterion(pairs, states, moved(categories, word, b)) - alone for b in range(targets)]


def transposed(pairs: Pairs) -> Pairs:
    """Exchange contexts and words, so that what is said of one side holds for the other."""
    return {(b, a): n for (a, b), n in pairs.items()}
