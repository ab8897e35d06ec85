"""Which n-grams a back-off model should have to come close to another model.

With the target t(w | h), the occupancy o(h) of the history, and b = backoff(h) q(w | h') what backing off
would give, an n-gram (h, w) is worth

    o(h) [t log(t / b) - t + b]

and it is chosen if that exceeds a threshold, whether it was ever seen or not. Short histories go first, so
that q is known. After rare histories only n-grams of the skeleton are looked at: others are not worth it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.models.approximation.histories import Histories, Skeleton
from stategram.models.approximation.targets import Targets
from stategram.models.ngrams.plain import PlainTrie, TrieShape
from stategram.progress import Progress
from stategram.resources import Resources
from stategram.text import BEGIN, END

_ROUNDS = 4
"""How often a back-off weight is computed from what is chosen, and n-grams are chosen by it."""

_FREQUENT, _RARE = 40.0, 0.1
"""From which occupancy on, in thresholds, any word may follow a history, or at least one that is known to."""

_VALUES_PER_BATCH = 1 << 24
_HISTORIES_PER_BATCH = 1 << 14

_MAX_FULL, _FULL_OF_ROOT = 32, 4096
"""Over how many full histories a target is averaged, and that of the empty history."""

_MAX_FULL_SLOW, _FULL_OF_ROOT_SLOW = 1, 64

_MIN_LEFT = 5e-7
"""What is left at least for the words that are not listed after a history."""


@dataclass(frozen=True, eq=False)
class ChosenNgrams:
    """N-grams of one length."""

    histories: NDArray[np.uint32]
    """Their words but the last, as nodes of the skeleton."""
    words: NDArray[np.uint32]
    """Their last words, as numbers of the skeleton."""
    probs: NDArray[np.float32]
    gains: NDArray[np.float32]
    """By how much each lowers the logarithm of the perplexity."""

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, places: NDArray[np.int64] | NDArray[np.bool_]) -> ChosenNgrams:
        return ChosenNgrams(*(getattr(self, one.name)[places] for one in fields(self)))

    @classmethod
    def join(cls, parts: Sequence[ChosenNgrams]) -> ChosenNgrams:
        """Return the n-grams of all."""
        types = (np.uint32, np.uint32, np.float32, np.float32)
        return cls(
            *(
                np.concatenate([np.empty(0, type), *(getattr(part, one.name) for part in parts)])
                for one, type in zip(fields(cls), types, strict=True)
            )
        )


class Choice:
    """The n-grams for one threshold, which is a logarithm of a ratio of perplexities."""

    def __init__(
        self, skeleton: Skeleton, targets: Targets, threshold: float, *, progress: Progress | None = None
    ) -> None:
        self._skeleton, self._targets, self._threshold = skeleton, targets, threshold
        self._seen_probs = skeleton.index.probs.copy()
        """The target of each n-gram of the skeleton, as far as it was needed."""
        self._progress = progress or (lambda fraction, message: None)
        self._unigrams = self._target_of_root()
        self.levels: list[ChosenNgrams] = []
        """The chosen n-grams of 2, 3 ... words."""
        order = skeleton.index.order
        for length in range(1, order):
            self.levels.append(self._choose_level(length, self.model()))

    def above(self, threshold: float) -> list[ChosenNgrams]:
        """Return the n-grams of 2, 3 ... words that are worth more than this, and their starts."""
        levels = [level[level.gains > threshold] for level in self.levels]
        return close(self._skeleton.index, levels, self._seen_probs)

    def model(self, threshold: float = 0.0) -> PlainTrie:
        """Return the back-off model of the n-grams that are worth more."""
        return assemble(self._skeleton.index, self._unigrams, self.above(threshold))

    def _target_of_root(self) -> NDArray[np.float32]:
        self._progress(0.0, "choosing single words")
        n_full = _FULL_OF_ROOT_SLOW if self._targets.is_slow else _FULL_OF_ROOT
        root = self._skeleton.histories(np.zeros(1, np.uint32), np.array([n_full]))
        target: NDArray[np.float64] = self._targets_of(root)[0].astype(np.float64)
        target[self._skeleton.index.numbers[BEGIN]] = 0.0
        target /= target.sum()
        return target.astype(np.float32)

    def _targets_of(self, histories: Histories) -> NDArray[np.float32]:
        """Return the target distribution after each short history."""
        rows = np.zeros((len(histories), self._skeleton.index.n_words), np.float32)
        self._targets.add_rows(histories, np.ones(len(histories.full_words), np.float32), rows)
        return rows

    def _choose_level(self, length: int, lower: PlainTrie) -> ChosenNgrams:
        index = self._skeleton.index
        here = index.level(length)
        nodes = np.arange(here.start, here.stop, dtype=np.uint32)
        nodes = nodes[index.words[nodes] != index.numbers[END]]
        worth = self._skeleton.occupancies[nodes] / self._threshold
        is_frequent = (worth >= _FREQUENT) & (not self._targets.is_slow)
        frequent, rare = nodes[is_frequent], nodes[~is_frequent & (worth >= _RARE)]
        # Those with the same lower order together.
        frequent = frequent[np.argsort(index.links[frequent], kind="stable")]
        size = max(1, _VALUES_PER_BATCH // index.n_words)
        batches = [(frequent[i : i + size], True) for i in range(0, len(frequent), size)]
        size = _HISTORIES_PER_BATCH
        batches += [(rare[i : i + size], False) for i in range(0, len(rare), size)]
        chosen = []
        for number, (batch, is_frequent_batch) in enumerate(batches):
            fraction = (length - 1 + number / len(batches)) / (index.order - 1)
            self._progress(fraction, f"choosing n-grams of {length + 1} words")
            choose = self._choose_any if is_frequent_batch else self._choose_known
            chosen.append(choose(batch, lower))
        return ChosenNgrams.join(chosen)

    def _histories(self, nodes: NDArray[np.uint32]) -> Histories:
        # The more n-grams can be worth it, the more precise.
        limits = np.ceil(2.0 * np.sqrt(self._skeleton.occupancies[nodes] / self._threshold))
        most = _MAX_FULL_SLOW if self._targets.is_slow else _MAX_FULL
        return self._skeleton.histories(nodes, np.clip(limits, 1, most).astype(np.int64))

    def _lower_nodes(self, nodes: NDArray[np.uint32], lower: PlainTrie) -> NDArray[np.uint32]:
        index = self._skeleton.index
        shorter = index.links[nodes]
        return lower.find(index.words_of(shorter, self._skeleton.width), index.lengths[shorter])

    def _choose_any(self, nodes: NDArray[np.uint32], lower: PlainTrie) -> ChosenNgrams:
        """Choose among all words."""
        targets = self._targets_of(self._histories(nodes))
        targets[:, lower.numbers[BEGIN]] = 0.0
        seen, owners = self._seen(nodes)
        self._seen_probs[seen] = targets[owners, self._skeleton.index.words[seen]]
        lower_nodes, lower_rows = np.unique(self._lower_nodes(nodes, lower), return_inverse=True)
        of_lower = np.zeros((len(lower_nodes), lower.n_words), np.float32)
        lower.add_rows(lower_nodes, np.ones(len(lower_nodes), np.float32), of_lower)
        counts, words, probs, gains = _core.choose_ngrams(
            targets.reshape(-1),
            of_lower.reshape(-1),
            lower_rows.astype(np.uint32),
            self._skeleton.occupancies[nodes],
            self._threshold,
            _ROUNDS,
            lower.n_words,
            Resources.current().threads,
        )
        return ChosenNgrams(np.repeat(nodes, counts), words, probs, gains)

    def _choose_known(self, nodes: NDArray[np.uint32], lower: PlainTrie) -> ChosenNgrams:
        """Choose among words that are known to follow; for a slow model also after the shorter history."""
        index, threshold = self._skeleton.index, self._threshold
        seen, owners = self._seen(nodes)
        words = index.words[seen]
        if self._targets.is_slow:
            owners, words = self._with_words_of_links(nodes, owners, words)
        histories = self._histories(nodes)
        weights = np.ones(len(histories.full_words), np.float32)
        probs = self._targets.probs(histories, weights, owners, self._skeleton.ids[words])
        listed = index.children(nodes[owners], words)
        self._seen_probs[listed[listed > 0]] = probs[listed > 0]
        of_lower = lower.probs_after(self._lower_nodes(nodes, lower)[owners], words)
        occupancies, backoffs = self._skeleton.occupancies[nodes][owners], np.ones(len(nodes))
        gains = chosen = np.zeros(len(words), bool)
        for _ in range(_ROUNDS):
            backed_off = backoffs[owners] * of_lower
            with np.errstate(divide="ignore", invalid="ignore"):  # a word of probability 0 is worth nothing
                gains = occupancies * (probs * np.log(probs / backed_off) - probs + backed_off)
            chosen = gains > threshold
            left = 1.0 - np.bincount(owners, probs * chosen, len(nodes))
            lower_left = 1.0 - np.bincount(owners, of_lower * chosen, len(nodes))
            possible = (left > 0.0) & (lower_left > 1e-9)
            np.divide(left, lower_left, out=backoffs, where=possible)
        return ChosenNgrams(
            nodes[owners[chosen]],
            words[chosen],
            probs[chosen].astype(np.float32),
            gains[chosen].astype(np.float32),
        )

    def _seen(self, nodes: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return all n-grams of the skeleton after histories, and for each the place of its history."""
        first = self._skeleton.index.first_child
        begins, ends = first[nodes].astype(np.int64), first[nodes + 1].astype(np.int64)
        owners = np.repeat(np.arange(len(nodes)), ends - begins)
        before = np.cumsum(ends - begins) - (ends - begins)
        return np.arange(len(owners)) + (begins - before)[owners], owners

    def _with_words_of_links(
        self, nodes: NDArray[np.uint32], owners: NDArray[np.int64], words: NDArray[np.uint32]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """Add words that the next shorter history lists, where they are probable enough to be worth it."""
        index = self._skeleton.index
        of_links, link_owners = self._seen(index.links[nodes])
        probable = (
            self._skeleton.occupancies[nodes][link_owners] * index.probs[of_links] > 4 * self._threshold
        )
        keys = np.concatenate(
            (
                owners * index.n_words + words,
                link_owners[probable] * index.n_words + index.words[of_links[probable]],
            )
        )
        begin = index.numbers[BEGIN]
        keys = np.unique(keys)
        keys = keys[keys % index.n_words != begin]
        return keys // index.n_words, (keys % index.n_words).astype(np.uint32)


def close(
    skeleton: PlainTrie, levels: Sequence[ChosenNgrams], probs: NDArray[np.float32]
) -> list[ChosenNgrams]:
    """Add the starts of longer n-grams where they are missing.

    `levels` has the n-grams of 2, 3 ... words. Histories are nodes of the skeleton, and so is what is
    missing; `probs` has a probability for each node.
    """
    closed: list[ChosenNgrams] = []
    needed = np.empty(0, np.uint32)
    for level in reversed(levels):
        found = skeleton.children(level.histories, level.words)
        added = np.setdiff1d(needed, found)
        none = np.zeros(len(added), np.float32)
        starts = ChosenNgrams(skeleton.parents[added], skeleton.words[added], probs[added], none)
        closed.append(ChosenNgrams.join((level, starts)))
        needed = np.unique(closed[-1].histories)
    return closed[::-1]


def assemble(skeleton: PlainTrie, unigrams: NDArray[np.float32], levels: Sequence[ChosenNgrams]) -> PlainTrie:
    """Return the back-off model of n-grams with all their starts; after each history it sums to one."""
    begin = skeleton.numbers[BEGIN]
    with np.errstate(divide="ignore"):
        log_probs = [np.log10(unigrams).astype(np.float64)]
    log_probs[0][begin] = skeleton.log_probs[1 + begin]
    shape = TrieShape(skeleton.numbers)
    # The place of each n-gram of the skeleton in the new model, among the n-grams of its length.
    places = np.zeros(len(skeleton.words), np.int64)
    places[skeleton.level(1)] = skeleton.words[skeleton.level(1)]
    for level in levels:
        found = shape.add_level(places[level.histories], level.words)
        log_probs.append(np.empty(len(level)))
        log_probs[-1][found] = np.log10(level.probs)
        nodes = skeleton.children(level.histories, level.words)
        places[nodes] = np.where(nodes > 0, found, 0)
    return normalize(shape.trie(log_probs))


def normalize(trie: PlainTrie) -> PlainTrie:
    """Return the same n-grams with back-off weights, and less probability where nothing would be left."""
    parents = trie.parents
    log_probs = trie.log_probs.copy()
    longer = slice(int(trie.begins[2]), None)
    sums = np.bincount(
        parents[longer], np.power(10.0, log_probs[longer], dtype=np.float64), len(trie.backoffs)
    )
    if (sums > 1.0 - _MIN_LEFT).any():
        excess = np.log10(np.maximum(sums / (1.0 - _MIN_LEFT), 1.0))
        log_probs[longer] -= excess[parents[longer]].astype(np.float32)
    return replace(trie, log_probs=log_probs).normalized()
