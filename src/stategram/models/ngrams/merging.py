"""Several n-gram models merged into one, statically: what SRILM calls ``-mix-lm``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.counts import trie_numbers
from stategram.errors import UsageError
from stategram.models.alignment import align, require_same_format
from stategram.models.ngrams.model import NgramModel
from stategram.models.ngrams.plain import PlainTrie, TrieShape
from stategram.progress import Progress
from stategram.resources import Resources
from stategram.text import BEGIN, Vocabulary

# Weights may be rounded.
_TOLERANCE = 1e-3


def merge_ngrams(
    models: Iterable[NgramModel], weights: Sequence[float], *, progress: Progress | None = None
) -> NgramModel:
    """Merge n-gram models into one back-off model.

    It has the n-grams of all. The probability of each is the weighted sum of those that the models give it,
    by backing off where they lack it; back-off weights are computed so that everything sums to one. It is as
    quick as any n-gram model and can be an ARPA file; after histories that only one model knows it differs a
    little from the `Mixture` with the same weights.

    Parameters
    ----------
    models
        The models; their vocabularies may differ, as in a `Mixture`.
    weights
        The weight of each, summing to one.
    progress
        Called with the fraction done and a few words.

    Examples
    --------
    >>> from stategram import NgramModel, merge_ngrams
    >>> cats = NgramModel.train(["the cat sat", "the cat ran"], order=2)
    >>> dogs = NgramModel.train(["the dog sat", "a dog ran"], order=3)
    >>> merge_ngrams([cats, dogs], [0.75, 0.25])
    NgramModel(order 3, 9 + 11 + 6 n-grams, merged)

    """
    parts = tuple(models)
    exact = check_weights(weights, len(parts))
    require_same_format(parts)
    vocabulary = Vocabulary.union(part.vocabulary for part in parts)
    aligned = [align(part.vocabulary, vocabulary) for part in parts]
    tries = [part.plain() for part in parts]
    numbers = trie_numbers(len(vocabulary))
    shape = _union(tries, [_numbers_in(numbers, part.vocabulary, vocabulary) for part in parts], numbers)
    trie = shape.trie([np.zeros(shape.begins[-1] - 1)])
    total = np.zeros(len(trie.words))
    by_number = np.argsort(numbers)
    for i, (part, (ids, of_words), weight) in enumerate(zip(tries, aligned, exact, strict=True)):
        if progress:
            progress(0.2 + 0.6 * i / len(parts), f"{len(total):,} n-grams by model {i + 1}")
        log_probs = part.log10_probs_of(trie, part.numbers[ids][by_number])
        probs = 10.0**log_probs
        probs[1:] *= of_words[by_number][trie.words[1:]]
        total += weight * probs
    total[1 + numbers[BEGIN]] = 0.0  # whatever an ARPA file says
    if progress:
        progress(0.8, "back-off weights")
    with np.errstate(divide="ignore"):
        trie = replace(trie, log_probs=_log10(total)).normalized()
    info = {
        "parts": [{"name": repr(part), "weight": weight} for part, weight in zip(parts, exact, strict=True)]
    }
    return NgramModel.from_plain(vocabulary, trie, "merged", training_info=info, **parts[0].origin)


def check_weights(weights: Sequence[float], n_parts: int) -> list[float]:
    """Return weights that sum to one exactly; UsageError if they are not weights of so many models."""
    shown = ", ".join(f"{weight:g}" for weight in weights)
    if n_parts == 0 or len(weights) != n_parts:
        raise UsageError(f"weights {shown}: {len(weights)} for {n_parts} models; give one for each")
    total = math.fsum(weights)
    if not all(0 <= weight <= 1 for weight in weights) or abs(total - 1) > _TOLERANCE:
        raise UsageError(f"weights {shown}: expected numbers of 0 to 1 that sum to one")
    return [weight / total for weight in weights]


def _numbers_in(numbers: NDArray[np.uint32], part: Vocabulary, vocabulary: Vocabulary) -> NDArray[np.uint32]:
    """Return the number in the merged trie of each word of a part, by its id there."""
    if part == vocabulary:
        return numbers
    return numbers[np.fromiter(map(vocabulary.id, part.words), np.int64, len(part))]


def _union(
    tries: Sequence[PlainTrie], numbers_in: Sequence[NDArray[np.uint32]], numbers: NDArray[np.uint32]
) -> TrieShape:
    """Return the n-grams of several tries; `numbers_in` has the new numbers of the words of each, by ids."""
    shape = TrieShape(numbers)
    new_words, places = [], []
    for trie, new in zip(tries, numbers_in, strict=True):
        by_number = np.empty(len(new), np.int64)
        by_number[trie.numbers] = new
        new_words.append(by_number[trie.words])
        place = np.empty(len(trie.words), np.int64)
        place[1 : 1 + len(new)] = by_number
        places.append(place)
    for k in range(2, max(trie.order for trie in tries) + 1):
        levels = [trie.level(k) if k <= trie.order else slice(0) for trie in tries]
        found = shape.add_level(
            np.concatenate(
                [place[trie.parents[of]] for place, trie, of in zip(places, tries, levels, strict=True)]
            ),
            np.concatenate([words[of] for words, of in zip(new_words, levels, strict=True)]),
        )
        begin = 0
        for place, of in zip(places, levels, strict=True):
            place[of] = found[begin : begin + of.stop - (of.start or 0)]
            begin += of.stop - (of.start or 0)
    return shape


def _log10(probs: NDArray[np.float64]) -> NDArray[np.float32]:
    logs = np.empty(len(probs), np.float32)
    _core.log10_floats(probs, logs, Resources.current().threads)
    logs[0] = 0.0  # the root
    return logs
