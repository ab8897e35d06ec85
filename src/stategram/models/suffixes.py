"""N-grams whose suffixes are all there, for readers of ARPA files that take them for granted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stategram._core import DamagedModel
from stategram.models.ngram import NgramModel, damage_error
from stategram.models.plain_trie import PlainTrie

_MISSING = -1


def close_suffixes(model: NgramModel) -> NgramModel:
    """Return the same model with every suffix of an n-gram among its n-grams.

    Pruning leaves n-grams such as ``in the house`` without ``the house``. A suffix that is missing is added
    with the probability that backing off gives it and a back-off weight of 1: no probability changes.

    Examples
    --------
    >>> from stategram import NgramModel
    >>> text = ["in the house", "in the house", "the cat", "the dog", "a house"]
    >>> model = NgramModel.train(text, order=3, prune=0.02)
    >>> model.trie.sizes, close_suffixes(model).trie.sizes
    ((9, 9, 1), (9, 10, 1))

    """
    try:
        trie = model.trie.plain()
        trie.check()
    except DamagedModel as error:
        raise damage_error(model.path, error) from error
    closed = _closed(trie)
    info = {**model.training_info, "inserted_suffixes": sum(closed.sizes) - sum(model.trie.sizes)}
    return NgramModel.from_plain(
        model.vocabulary, closed, model.smoothing, training_info=info, **model.origin
    )


class _Keys:
    """The n-grams of each length as sorted numbers, made of the place of their start and of their last word.

    Places are counted from 0 among the n-grams of a length.
    """

    def __init__(self, n_words: int) -> None:
        self.n_words = np.uint64(n_words)
        self.of_length: list[NDArray[np.uint64]] = []

    def keys(self, starts: NDArray[np.int64], words: NDArray[np.uint32]) -> NDArray[np.uint64]:
        return starts.astype(np.uint64) * self.n_words + words

    def find(self, starts: NDArray[np.int64], words: NDArray[np.uint32], length: int) -> NDArray[np.int64]:
        """Return the places of the n-grams that words make of shorter ones, or `_MISSING`."""
        known = self.of_length[length - 1]
        if not len(known):
            return np.full(len(starts), _MISSING)
        wanted = self.keys(starts, words)
        places = np.searchsorted(known, wanted)
        is_known = (starts >= 0) & (known[np.minimum(places, len(known) - 1)] == wanted)
        return np.where(is_known, places, _MISSING)

    def find_rows(self, rows: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return the places of n-grams given word by word."""
        places = np.zeros(len(rows), np.int64)
        for column in range(rows.shape[1]):
            places = self.find(places, rows[:, column], column + 1)
        return places


def _closed(trie: PlainTrie) -> PlainTrie:
    keys = _Keys(len(trie.numbers))
    starts = [_starts(trie, length) for length in range(1, trie.order + 1)]
    words = [trie.words[begin:end] for begin, end in zip(trie.begins[1:-1], trie.begins[2:], strict=True)]
    keys.of_length = [keys.keys(*one) for one in zip(starts, words, strict=True)]
    return _with_rows(trie, starts, words, _missing_suffixes(keys, starts, words))


def _starts(trie: PlainTrie, length: int) -> NDArray[np.int64]:
    """Return the place of the start of each n-gram of a length."""
    shorter = trie.first_child[trie.begins[length - 1] : trie.begins[length] + 1].astype(np.int64)
    return np.repeat(np.arange(len(shorter) - 1), np.diff(shorter))


def _missing_suffixes(
    keys: _Keys, starts: Sequence[NDArray[np.int64]], words: Sequence[NDArray[np.uint32]]
) -> list[NDArray[np.uint32]]:
    """Return for each length 1, 2, ... a row of words for each suffix that is missing."""
    order = len(words)
    missing: list[list[NDArray[np.uint32]]] = [[np.zeros((0, k), np.uint32)] for k in range(1, order + 1)]
    suffixes = np.zeros(len(words[0]), np.int64)
    for length in range(2, order + 1):
        suffixes = keys.find(suffixes[starts[length - 1]], words[length - 1], length - 1)
        lacking = np.flatnonzero(suffixes == _MISSING)
        missing[length - 2].append(_rows(lacking, length, starts, words)[:, 1:])
    found = [np.zeros((0, order), np.uint32)]
    for length in range(order - 1, 0, -1):
        # Suffixes of what is added may be missing too.
        shorter = found[0][:, 1:]
        unknown = shorter[keys.find_rows(shorter) == _MISSING]
        found.insert(0, np.unique(np.concatenate([*missing[length - 1], unknown]), axis=0))
    return found


def _rows(
    places: NDArray[np.int64],
    length: int,
    starts: Sequence[NDArray[np.int64]],
    words: Sequence[NDArray[np.uint32]],
) -> NDArray[np.uint32]:
    rows = np.empty((len(places), length), np.uint32)
    for column in range(length - 1, -1, -1):
        rows[:, column] = words[column][places]
        places = starts[column][places]
    return rows


def _with_rows(
    trie: PlainTrie,
    starts: Sequence[NDArray[np.int64]],
    words: Sequence[NDArray[np.uint32]],
    added: Sequence[NDArray[np.uint32]],
) -> PlainTrie:
    """Return a trie with more n-grams, the rows of words in `added`, which have all their suffixes."""
    keys = _Keys(len(trie.numbers))
    places = np.zeros(1, np.int64)  # of the old n-grams of a length among the new ones
    all_words, all_log_probs = [trie.words[:1]], [trie.log_probs[:1].astype(np.float64)]
    all_backoffs, n_children = [trie.backoffs[:1]], [np.array([len(trie.numbers)])]
    for length, rows in enumerate(added, 1):
        begin, end = trie.begins[length], trie.begins[length + 1]
        row_starts = keys.find_rows(rows[:, :-1])
        of_start, of_suffix = all_backoffs[-1][row_starts], all_log_probs[-1][keys.find_rows(rows[:, 1:])]
        old_keys = keys.keys(places[starts[length - 1]], words[length - 1])
        merged = np.concatenate([old_keys, keys.keys(row_starts, rows[:, -1])])
        order = np.argsort(merged, kind="stable")
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        places = places[: len(old_keys)]
        keys.of_length.append(merged[order])
        all_words.append(np.concatenate([words[length - 1], rows[:, -1]])[order])
        all_log_probs.append(np.concatenate([trie.log_probs[begin:end], of_start + of_suffix])[order])
        if length > 1:
            owners = (keys.of_length[-1] // keys.n_words).astype(np.int64)
            n_children.append(np.bincount(owners, minlength=len(keys.of_length[-2])))
        if length < trie.order:
            backoffs = np.concatenate([trie.backoffs[begin:end], np.zeros(len(rows), np.float32)])
            all_backoffs.append(backoffs[order])
    begins = np.concatenate([[0], np.cumsum([len(one) for one in all_words])])
    first_child = np.concatenate([[1], 1 + np.cumsum(np.concatenate(n_children))])
    return PlainTrie(
        trie.numbers,
        begins.astype(np.int64),
        np.concatenate(all_words),
        # Above 0 only in models that are not normalized.
        np.minimum(np.concatenate(all_log_probs), 0.0).astype(np.float32),
        np.concatenate(all_backoffs),
        first_child.astype(np.uint32),
    )
