"""The n-grams of a back-off model as plain arrays: easy to make, search, change and write to files."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.counts import trie_numbers
from stategram.resources import Resources
from stategram.text import BEGIN, UNKNOWN


@dataclass(frozen=True, eq=False)
class PlainTrie:
    """A node for each n-gram, ordered by its length and then by its words; node 0 is the root, the empty one.

    Nodes ``begins[k] .. begins[k + 1] - 1`` are the n-grams of k words. The children of a node are the
    n-grams with one more word at their end; they are neighbours, in rising order of that word. The root has a
    child for each word of the vocabulary. All logarithms are to the base of 10, as in ARPA files.
    """

    numbers: NDArray[np.uint32]
    """The trie's number of each word of the vocabulary: a permutation of its ids."""
    begins: NDArray[np.int64]
    """`order` + 2 node numbers, where n-grams of each length begin; the last is the number of all nodes."""
    words: NDArray[np.uint32]
    """For each node, the trie's number of its last word; 0 for the root."""
    log_probs: NDArray[np.float32]
    """For each node its log10 probability; 0 for the root."""
    backoffs: NDArray[np.float32]
    """For each node of fewer than `order` words, a history, its log10 back-off weight."""
    first_child: NDArray[np.uint32]
    """For each history, and one more: the children of node i are
    ``first_child[i] .. first_child[i + 1] - 1``."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by their names."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @property
    def order(self) -> int:
        """The maximum n-gram order."""
        return len(self.begins) - 2

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of n-grams of 1, 2, ..., `order` words."""
        return tuple(np.diff(self.begins)[1:].tolist())

    @property
    def n_words(self) -> int:
        """The size of the vocabulary."""
        return len(self.numbers)

    @property
    def n_histories(self) -> int:
        """The number of nodes of fewer than `order` words, which can have children."""
        return len(self.backoffs)

    def level(self, length: int) -> slice:
        """Return the nodes of so many words."""
        return slice(int(self.begins[length]), int(self.begins[length + 1]))

    @cached_property
    def kernel(self) -> _core.PlainTrie:
        """What searches the arrays; ValueError if they are inconsistent."""
        return _core.PlainTrie(**self.arrays(), threads=Resources.current().threads)

    def check(self) -> None:
        """Check every n-gram; ValueError if the arrays are inconsistent."""
        self.kernel.check(Resources.current().threads)

    @cached_property
    def lengths(self) -> NDArray[np.uint8]:
        """The number of words of each node."""
        sizes = np.diff(self.begins)
        return np.repeat(np.arange(len(sizes), dtype=np.uint8), sizes)

    @cached_property
    def parents(self) -> NDArray[np.uint32]:
        """The node without its last word, of each node; the root is its own."""
        nodes = np.repeat(np.arange(self.n_histories, dtype=np.uint32), np.diff(self.first_child))
        return np.concatenate((np.zeros(1, np.uint32), nodes))

    @property
    def links(self) -> NDArray[np.uint32]:
        """The longest proper suffix of each node that is a node: where the search goes on."""
        return self.kernel.links(Resources.current().threads)

    @property
    def lower_log_probs(self) -> NDArray[np.float32]:
        """The log10 p(w | h') of each n-gram hw, h' being h without its first word."""
        return self.kernel.lower_log_probs(Resources.current().threads)

    @cached_property
    def probs(self) -> NDArray[np.float32]:
        """The probability of each node."""
        return np.power(10.0, self.log_probs, dtype=np.float32)

    @cached_property
    def backoff_weights(self) -> NDArray[np.float32]:
        """The back-off weight of each history."""
        return np.power(10.0, self.backoffs, dtype=np.float32)

    def words_of(self, nodes: NDArray[np.integer[Any]], width: int) -> NDArray[np.uint32]:
        """Return the last `width` words of each node, the last one in the last column; 0 before the first."""
        rows = np.zeros((len(nodes), width), np.uint32)
        for column in range(width - 1, -1, -1):
            rows[:, column] = self.words[nodes]
            nodes = self.parents[nodes]
        return rows

    def children(self, nodes: NDArray[np.uint32], words: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Return the child of each node with a word; 0 where there is none, and for leaves."""
        return self.kernel.children(nodes, words, Resources.current().threads)

    def find(self, words: NDArray[np.uint32], lengths: NDArray[np.uint8]) -> NDArray[np.uint32]:
        """Return the longest suffix of each row of words that is a history; `lengths` of them count."""
        rows = np.ascontiguousarray(words)
        return self.kernel.find_histories(rows, lengths, Resources.current().threads)

    def probs_after(self, nodes: NDArray[np.uint32], words: NDArray[np.uint32]) -> NDArray[np.float64]:
        """Return the probability of each word after a history."""
        log10_probs = self.kernel.log10_probs_after(nodes, words, Resources.current().threads)
        return np.power(10.0, log10_probs)

    def log10_probs_of(self, other: PlainTrie, numbers: NDArray[np.uint32]) -> NDArray[np.float64]:
        """Return what the model gives to the n-grams of another; `numbers` are those of its words here."""
        return self.kernel.score(other.kernel, numbers, Resources.current().threads)

    def sums_of_children(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return for each history the sum of the values of its children, of which each node has one."""
        sums: NDArray[Any] = np.bincount(self.parents[1:], values[1:], self.n_histories)
        return sums

    def add_rows(
        self, nodes: NDArray[np.uint32], weights: NDArray[np.float32], rows: NDArray[np.float32]
    ) -> None:
        """Add to each row the weighted distribution after a history, by the numbers of words."""
        threads = Resources.current().threads
        _core.add_backoff_rows(
            self.kernel, self.probs, self.backoff_weights, nodes, weights, rows.reshape(-1), threads
        )

    def normalized(self) -> PlainTrie:
        """Return the same n-grams with the back-off weights with which probabilities sum to one."""
        words = np.delete(self.log_probs[self.level(1)], self.numbers[BEGIN]).astype(np.float64)
        n_predicted = self.n_words - 1  # all words but <s>
        backoffs = self.kernel.normalising_backoffs(
            n_predicted, float(np.sum(10.0**words)), Resources.current().threads
        )
        backoffs[0] = self.backoffs[0]  # of no use but as a feature
        return replace(self, backoffs=backoffs)


class TrieShape:
    """The n-grams of a trie that is being built, one length after the other, without their probabilities.

    Examples
    --------
    >>> shape = TrieShape(np.arange(3, dtype=np.uint32))
    >>> shape.add_level(np.array([2, 0, 2]), np.array([1, 2, 1]))  # 2 1, 0 2 and 2 1 again
    array([1, 0, 1])
    >>> shape.places(np.array([[0, 2]]))
    array([0])
    >>> shape.begins, shape.trie([np.zeros(3), np.zeros(2)], [np.zeros(3)]).first_child
    ([0, 1, 4, 6], array([1, 4, 5, 5, 6], dtype=uint32))

    """

    def __init__(self, numbers: NDArray[np.uint32]) -> None:
        """Start with all words: `numbers` has the trie's number of each."""
        self.numbers = numbers
        self.begins = [0, 1, 1 + len(numbers)]
        self._levels: list[NDArray[np.int64]] = [np.arange(len(numbers))]
        """For each length, places of starts and last words as one number."""

    def add_level(
        self, parents: NDArray[np.integer[Any]], words: NDArray[np.integer[Any]]
    ) -> NDArray[np.int64]:
        """Add n-grams with one word more; return the place of each among those of its length.

        `parents` are the places of their starts among the n-grams of the length before. An n-gram may be
        given several times.
        """
        places: NDArray[np.int64]
        found, places = np.unique(parents.astype(np.int64) << 32 | words, return_inverse=True)
        self._levels.append(found)
        self.begins.append(self.begins[-1] + len(found))
        return places.reshape(-1)

    def places(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Return the places of n-grams that were added, given as rows of words."""
        places = np.zeros(len(rows), np.int64)
        for column, level in enumerate(self._levels[: rows.shape[1]]):
            places = np.searchsorted(level, places << 32 | rows[:, column])
        return places

    def trie(
        self, log_probs: list[NDArray[np.float64]], backoffs: list[NDArray[np.float64]] | None = None
    ) -> PlainTrie:
        """Return the trie: `log_probs` of the n-grams of each length, `backoffs` of those that have some."""
        root, inner = np.zeros(1), self.begins[-2]
        children = [
            begin + np.searchsorted(level, np.arange(parents) << 32)
            for begin, level, parents in zip(
                self.begins[1:], self._levels, np.diff(self.begins), strict=False
            )
        ]
        return PlainTrie(
            self.numbers,
            np.array(self.begins, np.int64),
            np.concatenate([np.zeros(1, np.int64), *self._levels]).astype(np.uint32),  # the low bits
            np.concatenate([root, *log_probs]).astype(np.float32),
            np.concatenate([root, *backoffs]).astype(np.float32) if backoffs else np.zeros(inner, np.float32),
            np.concatenate([*children, [self.begins[-1]]]).astype(np.uint32),
        )


def close_trie(trie: PlainTrie) -> PlainTrie:
    """Return the trie with all suffixes: those of a node that are longer than its link are missing."""
    shape = TrieShape(trie.numbers)
    places = np.zeros(len(trie.words), np.int64)  # in the new trie, among the n-grams of a length
    places[trie.level(1)] = trie.words[trie.level(1)]
    backoffs = [trie.backoffs[trie.level(1)].astype(np.float64)] if trie.order > 1 else []
    link_lengths = trie.lengths[trie.links]
    for length in range(2, trie.order + 1):
        here = trie.level(length)
        lacking = np.flatnonzero((link_lengths < length) & (length < trie.lengths))
        added = np.unique(trie.words_of(lacking, length), axis=0)
        found = shape.add_level(
            np.concatenate([places[trie.parents[here]], shape.places(added[:, :-1])]),
            np.concatenate([trie.words[here], added[:, -1]]),
        )
        places[here] = found[: here.stop - here.start]
        if length < trie.order:
            weights = np.zeros(shape.begins[-1] - shape.begins[-2])
            weights[places[here]] = trie.backoffs[here]
            backoffs.append(weights)
    closed = shape.trie([np.zeros(shape.begins[-1] - 1)], backoffs)
    log_probs = trie.log10_probs_of(closed, np.arange(trie.n_words, dtype=np.uint32))
    # Above 0 only in models that are not normalized.
    return replace(closed, log_probs=np.minimum(log_probs, 0.0).astype(np.float32))


def filter_trie(trie: PlainTrie, ids: NDArray[np.int64]) -> PlainTrie:
    """Return the n-grams of some words, given by their ids, of which the first three are special words.

    After each history of words that are kept, these are as probable as before, and ``<unk>`` has what the
    dropped words had too:

        p'(w | h) = p(w | h)        p'(<unk> | h) = p(<unk> | h) + sum of p(v | h) over the dropped words v

    Back-off weights stay. Where h has n-grams hv of dropped words, p'(<unk> | h) is no longer what backing
    off gives, and the n-gram h <unk> takes their place: there are never more n-grams than before.
    """
    numbers = trie_numbers(len(ids))
    new_number = np.full(len(trie.numbers), -1)
    new_number[trie.numbers[ids]] = numbers
    unknown = int(trie.numbers[UNKNOWN])
    parents = trie.parents
    gone = new_number[trie.words] < 0
    joined = gone | (trie.words == unknown)  # what <unk> is from now on
    joined[0] = False
    unknown_probs = _unknown_probs(trie, joined)
    joined_after = np.zeros(len(trie.backoffs), np.bool_)
    joined_after[parents[joined]] = True
    shape = TrieShape(numbers)
    place = np.full(len(trie.words), -1)  # among the new n-grams of a length
    log_probs, backoffs = [], []
    for k in range(1, trie.order + 1):
        begin, end = trie.begins[k : k + 2].tolist()
        kept = begin + np.flatnonzero(~gone[begin:end] & ((k == 1) | (place[parents[begin:end]] >= 0)))
        before = np.arange(*trie.begins[k - 1 : k + 1])
        joining = before[joined_after[before] & ((k == 1) | (place[before] >= 0))]
        with np.errstate(divide="ignore"):
            unknown_logs = np.log10(unknown_probs[joining])
        words = np.concatenate([new_number[trie.words[kept]], np.full(len(joining), numbers[UNKNOWN])])
        if k == 1:
            places = words
        else:
            places = shape.add_level(np.concatenate([place[parents[kept]], place[joining]]), words)
        size = shape.begins[k + 1] - shape.begins[k]
        place[kept] = places[: len(kept)]
        logs = np.empty(size)
        logs[place[kept]] = trie.log_probs[kept]
        logs[places[len(kept) :]] = unknown_logs
        log_probs.append(logs)
        if k < trie.order:
            weights = np.zeros(size)
            weights[place[kept]] = trie.backoffs[kept]
            backoffs.append(weights)
    return shape.trie(log_probs, backoffs)


def scale_unknown(trie: PlainTrie, factor: float) -> PlainTrie:
    """Return the same n-grams with the odds of ``<unk>`` after every history multiplied by a factor.

    The other words keep their proportions, and what backs off still does: with
    Z(h) = 1 + (factor - 1) p(<unk> | h), h' being h without its first word,

        p'(w | h) = p(w | h) / Z(h)        p'(<unk> | h) = factor p(<unk> | h) / Z(h)
        backoff'(h) = backoff(h) Z(h') / Z(h)
    """
    unknown = np.flatnonzero(trie.words[1:] == trie.numbers[UNKNOWN]) + 1
    links, weights = trie.links[: trie.n_histories], 10.0 ** trie.backoffs.astype(np.float64)
    probs = np.full(trie.n_histories, -1.0)  # of <unk> after each history
    probs[trie.parents[unknown]] = 10.0 ** trie.log_probs[unknown].astype(np.float64)
    for begin, end in zip(trie.begins[1:-2], trie.begins[2:-1], strict=True):
        backed_off = weights[begin:end] * probs[links[begin:end]]
        probs[begin:end] = np.where(probs[begin:end] < 0, backed_off, probs[begin:end])
    logs = np.log10(1.0 + (factor - 1.0) * np.minimum(probs, 1.0))
    log_probs = trie.log_probs - logs[trie.parents]
    log_probs[unknown] += np.log10(factor)
    fixed = [0, 1 + int(trie.numbers[BEGIN])]  # the root, and <s>, which is never predicted
    log_probs[fixed] = trie.log_probs[fixed]
    backoffs = trie.backoffs + logs[links] - logs
    return replace(trie, log_probs=log_probs.astype(np.float32), backoffs=backoffs.astype(np.float32))


def _unknown_probs(trie: PlainTrie, joined: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the probability of all words together that join ``<unk>``, after each history.

    U(h) = sum of p(v | h) + backoff(h) (U(h') - sum of p(v | h')), both over the n-grams hv of such words.
    """
    lower, links, n_inner = trie.lower_log_probs, trie.links, trie.n_histories
    of, history = np.flatnonzero(joined), trie.parents[joined]
    found = np.bincount(history, 10.0 ** trie.log_probs[of].astype(np.float64), n_inner).astype(np.float64)
    backed = np.bincount(history, 10.0 ** lower[of].astype(np.float64), n_inner)
    weights = 10.0 ** trie.backoffs.astype(np.float64)
    for begin, end in zip(trie.begins[1:-2], trie.begins[2:-1], strict=True):
        rest = found[links[begin:end]] - backed[begin:end]
        found[begin:end] += weights[begin:end] * np.maximum(rest, 0.0)
    return found
