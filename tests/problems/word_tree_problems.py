"""Small texts with values for every event, their word trees, and the kernels and twins over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import naive.word_tree as naive
from naive.word_tree_paths import word_tree_paths
from stategram import _core

BEGIN, END = 1, 2
Levels = list[tuple[Any, ...]]


def ids(values: Sequence[int]) -> NDArray[np.uint32]:
    return np.array(values, np.uint32)


def stream_of(events: Sequence[naive.Event], number: int) -> NDArray[np.uint32]:
    """One value of each event, as the kernels take it."""
    values = [event.values[number] for event in events]
    return ids([_core.NO_VALUE if value is None else value for value in values])


def tree_of(paths: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    codes = ids([int(path.ljust(32, "0"), 2) for path in paths])
    return codes, np.array(list(map(len, paths)), np.uint8)


def context_hashes(
    events: Sequence[naive.Event], streams: Sequence[int], threads: int = 1
) -> NDArray[np.uint64]:
    hashes = np.full(len(events), _core.EMPTY_CONTEXT, np.uint64)
    for number in streams:
        _core.extend_context_hashes(hashes, stream_of(events, number), threads)
    return hashes


def count_levels(
    events: Sequence[naive.Event],
    streams: Sequence[int],
    *,
    min_count: int = 2,
    has_longer: bool = True,
    threads: int = 1,
    events_per_pass: int = 2**22,
) -> list[tuple[Any, ...]]:
    """Count the levels of a chain without contexts of several values and fewer than `min_count` events."""
    words = ids([event.word for event in events])
    found = []
    hashes = np.full(len(events), _core.EMPTY_CONTEXT, np.uint64)
    for level in range(1, len(streams) + 1):
        _core.extend_context_hashes(hashes, stream_of(events, streams[level - 1]), threads)
        after = stream_of(events, streams[level]) if has_longer and level < len(streams) else None
        found.append(
            _core.count_chain_level(
                hashes, words, after, 1 if level == 1 else min_count, threads, events_per_pass
            )
        )
    return found


def words_before(words: Sequence[int], is_rare: Sequence[int] = ()) -> list[naive.Event]:
    """Events of a text of sentences with five values: the last three words, a class, the last rare word.

    The class of the last word is one of three.
    """
    events: list[naive.Event] = []
    sentence: list[int] = []
    rare: int | None = None
    for word in words:
        back = [BEGIN, *sentence]
        values: list[int | None] = [back[-k] if k <= len(back) else None for k in (1, 2, 3)]
        of_class = back[-1] % 3
        events.append(naive.Event(word, (*values, of_class, rare), of_class))
        if word in is_rare:
            rare = word
        sentence = [] if word == END else [*sentence, word]
    return events


def random_words(n_events: int, n_words: int, seed: int) -> list[int]:
    """Sentences of words that depend on the word before them, but for those after 3, which is frequent."""
    random = np.random.default_rng(seed)
    found, last = [], 0
    for step in random.zipf(1.4, n_events).tolist():
        last = int(random.integers(n_words)) if last == 3 else last * 3 + step
        last = 3 if step % 7 == 0 else last % n_words
        last = 0 if last == BEGIN else last
        found.append(last)
    return found


def random_paths(n_words: int, seed: int) -> list[str]:
    random = np.random.default_rng(seed)
    counts = random.zipf(1.3, n_words) % 1000
    labels = random.integers(0, 4, n_words)
    return word_tree_paths(counts.tolist(), labels.tolist(), [(0, 1), (2, 3), (4, 5)], BEGIN, END)


@dataclass(frozen=True)
class Problem:
    """A text with its trees, the kernel over its counts, and a twin for each tree."""

    events: list[naive.Event]
    trees: list[list[str]]
    chains: list[naive.Chain]
    caches: list[naive.Cache] = field(default_factory=list)
    min_count: int = 1
    frequent_nodes: int = 3
    n_classes: int = 3
    adaptive_rate: float = 0.02

    @property
    def n_words(self) -> int:
        return len(self.trees[0])

    @property
    def n_streams(self) -> int:
        return len(self.events[0].values)

    def word_counts(self) -> list[int]:
        words = [event.word for event in self.events]
        return [words.count(word) for word in range(self.n_words)]

    def word_contexts(self) -> list[int]:
        words = [word for _, word in {(event.values[0], event.word) for event in self.events}]
        return [words.count(word) for word in range(self.n_words)]

    def levels(self, threads: int = 1) -> Levels:
        found: Levels = []
        for chain in self.chains:
            counted = count_levels(
                self.events,
                chain.streams,
                min_count=self.min_count,
                has_longer=chain.uses_continuation,
                threads=threads,
            )
            for level, of_level in enumerate(counted, 1):
                directory, entries, begins, long_words, counts, contexts, _, _, (once, twice) = of_level
                has_longer = chain.uses_continuation and level < len(counted)
                divided = [
                    _core.divide_long_lists(
                        begins, long_words, counts, contexts, *tree_of(paths), has_longer, threads
                    )
                    for paths in self.trees
                ]
                discount = once / max(once + 2 * twice, 1)
                found.append((directory, entries, divided, discount, []))
        return found

    def arguments(self, threads: int = 1) -> dict[str, Any]:
        return {
            "trees": [tree_of(paths) for paths in self.trees],
            "chains": [(list(one.streams), one.uses_continuation, one.is_document) for one in self.chains],
            "levels": self.levels(threads),
            "n_streams": self.n_streams,
            "counts": ids(self.word_counts()),
            "contexts": ids(self.word_contexts()),
            "n_frequent_nodes": self.frequent_nodes,
            "n_classes": self.n_classes,
            "caches": [(list(one.streams), one.decay) for one in self.caches],
            "vectors": [],
            "adaptive_rate": self.adaptive_rate,
        }

    def kernel(self, threads: int = 1) -> _core.TreeModelKernel:
        """Return the kernel, with its discounts at nodes."""
        kernel = _core.TreeModelKernel(**self.arguments(threads))
        kernel.node_discounts(1 << 30, threads)
        return kernel

    def twins(self) -> list[naive.Model]:
        return [
            replace(
                naive.Model.count(
                    self.events, paths, self.chains, self.word_counts(), self.word_contexts(), self.min_count
                ),
                caches=self.caches,
                frequent_nodes=self.frequent_nodes,
                n_classes=self.n_classes,
            )
            for paths in self.trees
        ]

    def weights(self, kernel: _core.TreeModelKernel, history: int, seed: int) -> list[NDArray[np.float32]]:
        """Random weights for each tree, like those that are learned: a few inputs count, sets change them."""
        random = np.random.default_rng(seed)
        size, n_sets = kernel.n_weights(history), kernel.n_inputs(history) * _core.N_COUNT_BUCKETS
        found = []
        for _ in self.trees:
            weights = random.normal(0, 0.02, size)
            weights[:n_sets] += random.normal(0.15, 0.1, n_sets)
            found.append(weights.astype(np.float32))
        return found


def score(
    kernel: _core.TreeModelKernel,
    events: Sequence[naive.Event],
    history: int,
    weights: Sequence[NDArray[np.float32]],
    state: _core.TextState | None = None,
    threads: int = 1,
) -> NDArray[np.float64]:
    """Return the log-probabilities of events of one document, a row for each tree; carry the state on."""
    streams = [stream_of(events, number) for number in range(len(events[0].values))]
    words, classes = ids([event.word for event in events]), ids([event.of_class for event in events])
    starts = np.zeros(len(words), np.uint8)
    state = state or kernel.start(history, True)
    found = kernel.score(words, streams, classes, starts, history, list(weights), state, threads)
    return found.reshape(len(weights), -1)
