"""Back-off n-gram models by their formulas, with dictionaries of tuples of word ids.

A sentence is a list of ids that ends with END; one BEGIN stands before it and is never predicted. A model is
what an ARPA file holds: the probability of each n-gram that is kept, and the back-off weight of each history
that is the beginning of one,

    p(w | h) = p(hw)                     if hw is kept
               backoff(h) p(w | h')      else, h' being h without its first word; backoff(h) = 1 if not given

Cut-offs: an n-gram of k words is kept if it was seen at least min_counts[k - 1] times. They never fall with k
and begin with 1, so that the first words and the last words of a kept n-gram are kept n-grams too.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

UNKNOWN, BEGIN, END = 0, 1, 2

Ngram = tuple[int, ...]
Sentences = Sequence[Sequence[int]]
Counts = dict[Ngram, int]  # of the n-grams of one length


@dataclass(frozen=True)
class NaiveNgramModel:
    vocabulary_size: int
    order: int
    probs: dict[Ngram, float]
    backoffs: dict[Ngram, float]


def predicted_words(vocabulary_size: int) -> list[int]:
    return [word for word in range(vocabulary_size) if word != BEGIN]


def prob(model: NaiveNgramModel, history: Ngram, word: int) -> float:
    if word == BEGIN:
        return 0.0
    history = history[len(history) - min(len(history), model.order - 1) :]
    if (*history, word) in model.probs:
        return model.probs[*history, word]
    return model.backoffs.get(history, 1.0) * prob(model, history[1:], word)


def distribution(model: NaiveNgramModel, history: Ngram) -> list[float]:
    return [prob(model, history, word) for word in range(model.vocabulary_size)]


def raw_counts(sentences: Sentences, order: int) -> list[Counts]:
    """c(g) of the n-grams g of 1, 2, ..., `order` words; <s> alone is no event."""
    counts: list[Counter[Ngram]] = [Counter() for _ in range(order)]
    for sentence in sentences:
        padded = (BEGIN, *sentence)
        for end in range(2, len(padded) + 1):
            for length in range(1, min(order, end) + 1):
                counts[length - 1][padded[end - length : end]] += 1
    return [dict(c) for c in counts]


def adjusted_counts(raw: list[Counts]) -> list[Counts]:
    """Raw for the longest n-grams and for those that begin with <s>; else of how many words stand before.

    a(g) = |{v : c(vg) > 0}|    (Kneser and Ney 1995; Heafield et al. 2013, equation 1)
    """
    adjusted = []
    for counts, longer in itertools.pairwise(raw):
        before = Counter(g[1:] for g in longer)
        adjusted.append({g: count if g[0] == BEGIN else before[g] for g, count in counts.items()})
    return [*adjusted, raw[-1]]


def counts_of_counts(counts: Counts, highest: int) -> list[int]:
    """n_r, the number of n-grams counted r times, for r = 0 .. highest; n_0 is given as 0."""
    n = Counter(counts.values())
    return [n[r] for r in range(highest + 1)]


def by_history(ngrams: Iterable[Ngram]) -> dict[Ngram, list[Ngram]]:
    groups: defaultdict[Ngram, list[Ngram]] = defaultdict(list)
    for g in ngrams:
        groups[g[:-1]].append(g)
    return dict(groups)


def _interpolated(
    vocabulary_size: int,
    raw: list[Counts],
    counts: list[Counts],
    min_counts: Sequence[int],
    discount: Callable[[int, int], float],
    further: Callable[[int], int] = lambda types: 0,
) -> NaiveNgramModel:
    """Discounted counts, interpolated with the shorter history, in the end with 1 / (V - 1) for each word.

    p(w | h) = (a(hw) - D(a(hw))) / S(h) + backoff(h) p(w | h')         of the kept hw
    S(h) = sum_w a(hw) + further(T(h)),    T(h) = |{w : a(hw) > 0}|
    backoff(h) = 1 - sum_{kept hw} (a(hw) - D(a(hw))) / S(h)

    What a dropped n-gram had thus goes to the back-off weight, as lmplz --prune does it.
    """
    model = NaiveNgramModel(vocabulary_size, len(raw), {}, {})
    uniform = 1 / (vocabulary_size - 1)
    model.probs.update(((word,), uniform) for word in predicted_words(vocabulary_size))
    for length in range(1, len(raw) + 1):
        a = counts[length - 1]
        for h, ngrams in by_history(a).items():
            kept = [g for g in ngrams if raw[length - 1][g] >= min_counts[length - 1]]
            total = sum(a[g] for g in ngrams) + further(len(ngrams))
            # The weight as the sum of all that was taken away: no difference of nearly equal numbers.
            taken = sum(discount(length, a[g]) for g in kept) + further(len(ngrams))
            weight = (taken + sum(a[g] for g in ngrams) - sum(a[g] for g in kept)) / total
            found = {
                g: (a[g] - discount(length, a[g])) / total + weight * prob(model, g[1:-1], g[-1])
                for g in kept
            }
            if length == 1:  # The words never seen keep their part of the uniform distribution.
                model.probs.update(((word,), weight * uniform) for word in predicted_words(vocabulary_size))
            elif kept:
                model.backoffs[h] = weight
            model.probs.update(found)
    return model


def kneser_ney_discounts(n1: int, n2: int, n3: int, n4: int) -> tuple[float, float, float]:
    """D1, D2 and D3+ (Chen and Goodman 1998, equation 26), or lmplz's fallback.

    Y = n1 / (n1 + 2 n2),    D_i = i - (i + 1) Y n_{i+1} / n_i

    A discount of 0 is refused too: histories could be left without any weight for unseen words.
    """
    if 0 in (n1, n2, n3, n4):
        return 0.5, 1.0, 1.5
    y = n1 / (n1 + 2 * n2)
    d1, d2, d3 = 1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3
    if not (0 < d1 <= 1 and 0 < d2 <= 2 and 0 < d3 <= 3):
        return 0.5, 1.0, 1.5
    return d1, d2, d3


def kneser_ney(
    sentences: Sentences, vocabulary_size: int, order: int, min_counts: Sequence[int]
) -> NaiveNgramModel:
    """Interpolated modified Kneser-Ney (Chen and Goodman 1998), as lmplz (Heafield et al. 2013)."""
    raw = raw_counts(sentences, order)
    adjusted = adjusted_counts(raw)
    discounts = []
    for counts in adjusted:
        _, n1, n2, n3, n4 = counts_of_counts(counts, 4)
        discounts.append(kneser_ney_discounts(n1, n2, n3, n4))

    def discount(length: int, count: int) -> float:
        return discounts[length - 1][min(count, 3) - 1]

    return _interpolated(vocabulary_size, raw, adjusted, min_counts, discount)


def absolute_discount(n1: int, n2: int) -> float:
    """D = n1 / (n1 + 2 n2) (Ney, Essen and Kneser 1994)."""
    return n1 / (n1 + 2 * n2) if n1 and n2 else 0.5


def absolute(
    sentences: Sentences, vocabulary_size: int, order: int, min_counts: Sequence[int]
) -> NaiveNgramModel:
    raw = raw_counts(sentences, order)
    discounts = []
    for counts in raw:
        _, n1, n2 = counts_of_counts(counts, 2)
        discounts.append(absolute_discount(n1, n2))
    return _interpolated(vocabulary_size, raw, raw, min_counts, lambda length, count: discounts[length - 1])


def witten_bell(
    sentences: Sentences, vocabulary_size: int, order: int, min_counts: Sequence[int]
) -> NaiveNgramModel:
    """p(w | h) = (c(hw) + T(h) p(w | h')) / (c(h) + T(h)) (Witten and Bell 1991, method C)."""
    raw = raw_counts(sentences, order)
    return _interpolated(
        vocabulary_size, raw, raw, min_counts, lambda length, count: 0.0, further=lambda types: types
    )


def good_turing_discounts(n: Sequence[int], gt_max: int) -> list[float]:
    """d_0 .. d_k, k being `gt_max`, from n_0 .. n_{k+1} (Katz 1987, equation 14). No discount is d_r = 1.

    d_r = (r*/r - A) / (1 - A),    r* = (r + 1) n_{r+1} / n_r,    A = (k + 1) n_{k+1} / n_1

    Where that is not defined, or not within (0, 1], counts of r are not discounted.
    """
    discounts = [1.0] * (gt_max + 1)
    if gt_max == 0 or (gt_max + 1) * n[gt_max + 1] >= n[1]:
        return discounts
    a = (gt_max + 1) * n[gt_max + 1] / n[1]
    for r in range(1, gt_max + 1):
        if n[r] and n[r + 1]:
            d = ((r + 1) * n[r + 1] / (n[r] * r) - a) / (1 - a)
            discounts[r] = d if 0 < d <= 1 else 1.0
    return discounts


def katz(
    sentences: Sentences,
    vocabulary_size: int,
    order: int,
    min_counts: Sequence[int] | None = None,
    gt_max: Sequence[int] | None = None,
) -> NaiveNgramModel:
    """Katz back-off with Good-Turing discounts, with the defaults of SRILM (ngram-count(1)).

    p(w | h) = d_r r / c(h)    of the kept hw seen r times;    c(h) = sum_w c(hw), kept or not
    backoff(h) = (1 - sum_{kept hw} p(w | h)) / (1 - sum_{kept hw} p(w | h'))

    Where nothing was dropped or discounted, c(h) + 1 takes the place of c(h) to leave a little for unseen
    words; where all words are kept, nothing may be left and the probabilities are scaled to sum to 1.
    What the unigrams leave is shared evenly by the words never seen, or by all if there are none.
    """
    min_counts = min_counts or [1, 1, *[2] * order][:order]
    gt_max = gt_max or [1, *[7] * order][:order]
    words = predicted_words(vocabulary_size)
    model = NaiveNgramModel(vocabulary_size, order, {}, {})
    for length, counts in enumerate(raw_counts(sentences, order), start=1):
        d = good_turing_discounts(counts_of_counts(counts, gt_max[length - 1] + 1), gt_max[length - 1])
        for h, ngrams in by_history(counts).items():
            discounted = {
                g: counts[g] * (d[counts[g]] if counts[g] < len(d) else 1.0)
                for g in ngrams
                if counts[g] >= min_counts[length - 1]
            }
            if not discounted:
                continue
            total: float = sum(counts[g] for g in ngrams)
            if len(discounted) == len(words):
                total = sum(discounted.values())
            elif all(discounted.get(g) == counts[g] for g in ngrams):
                total += 1
            kept = {g: f / total for g, f in discounted.items()}
            if length > 1:
                model.backoffs[h] = backoff(model, kept)
            model.probs.update(kept)
        if length == 1:
            unseen = [word for word in words if (word,) not in model.probs]
            left = 1 - sum(model.probs.values())
            for word in unseen or words:
                model.probs[word,] = model.probs.get((word,), 0.0) + left / len(unseen or words)
    return model


def backoff(model: NaiveNgramModel, kept: dict[Ngram, float]) -> float:
    """(1 - sum p(w | h)) / (1 - sum p(w | h')) over the kept words of one history; 1 if these are all."""
    if len(kept) == model.vocabulary_size - 1:
        return 1.0
    return (1 - sum(kept.values())) / (1 - sum(prob(model, g[1:-1], g[-1]) for g in kept))
