"""The n-grams that a model expects most often in a text of its own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.models.ngrams.model import NgramModel, damage_error
from stategram.resources import Resources
from stategram.text import BEGIN, END, SPECIAL_WORDS

_ALL = np.empty(0, np.uint8)
# More n-grams of a length than these would take gigabytes to rank.
_MAX_RANKED = 50_000_000
# Beyond it a double is infinite.
_MAX_LOG_PROB = 308
# So many times as many n-grams are looked at as are asked for: those with special words are left out.
_SPARE = 50


class FrequentNgram(NamedTuple):
    """The ids of the words of an n-gram, and what fraction of all n-grams of its length it is."""

    ids: tuple[int, ...]
    frequency: float


def frequent_ngrams(model: NgramModel, max_length: int, n: int) -> list[list[FrequentNgram]]:
    """Return the most frequent n-grams of 1, 2, ..., `max_length` words, those with special words left out.

    Examples
    --------
    >>> from stategram import NgramModel
    >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran", "the dog ran"], order=2)
    >>> [[model.vocabulary.word(id) for id in one.ids] for one in frequent_ngrams(model, 2, 1)[1]]
    [['the', 'dog']]

    """
    reader, ids_of = model.trie.reader(), np.argsort(model.trie.numbers)
    found = []
    try:
        for length, frequencies in enumerate(_frequencies(model, reader, max_length), 1):
            often = _greatest(frequencies, n * _SPARE)
            ngrams = (
                FrequentNgram(tuple(ids_of[reader.ngram(length, place)].tolist()), float(frequencies[place]))
                for place in often.tolist()
            )
            found.append([one for one in ngrams if min(one.ids) >= len(SPECIAL_WORDS)][:n])
    except ValueError as error:  # of a kernel, at what does not fit together
        raise damage_error(model.path, str(error)) from error
    return found


def word_frequencies(model: NgramModel) -> NDArray[np.float64]:
    """Return how often each word, by its id, is in a text of the model: its unigrams are not always that."""
    try:
        return _frequencies(model, model.trie.reader(), 1)[0][model.trie.numbers]
    except ValueError as error:
        raise damage_error(model.path, str(error)) from error


def _frequencies(model: NgramModel, reader: _core.TrieReader, max_length: int) -> list[NDArray[np.float64]]:
    """Return the probabilities of n-grams by their length and their place in the trie.

    p(hw) = p(h) p(w | h); words have the frequencies that the bigrams lead to.
    """
    threads, numbers = Resources.current().threads, model.trie.numbers
    _, log_probs, backoffs, first_child = reader.plain_level(1, threads)
    if not (log_probs <= _MAX_LOG_PROB).all():
        raise ValueError("a probability is no number, or too large")
    frequencies = np.power(10.0, log_probs, dtype=np.float64)
    found = [frequencies]
    for length in range(2, model.order + 1):
        if (length > max(max_length, 2)) or model.trie.sizes[length - 1] > _MAX_RANKED:
            break
        words, level_log_probs, _, children = reader.plain_level(length, threads)
        if length == 2:
            begin, end = int(numbers[BEGIN]), int(numbers[END])
            _core.word_frequencies(
                first_child, words, level_log_probs, _ALL, log_probs, backoffs, begin, end, frequencies
            )
        probs = np.empty(len(words))
        _core.history_probs(first_child, found[-1], level_log_probs, probs, threads)
        found.append(probs)
        first_child = children
    return found[:max_length]


def _greatest(values: NDArray[np.float64], n: int) -> NDArray[np.intp]:
    """Return the places of the greatest values, the greatest first."""
    places = np.argpartition(-values, n)[:n] if n < len(values) else np.arange(len(values))
    return places[np.argsort(-values[places], kind="stable")]
