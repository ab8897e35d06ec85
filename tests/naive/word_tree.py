"""The word tree model by its formulas: every count is a count of the text, made anew for each node.

A word is a leaf of a binary tree: a path of bits. A node is the path that leads to it; its sides are
node + "0", the left one, and node + "1". A context is a tuple of values; the value None is not there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import exp, log, log1p, sqrt
from typing import NamedTuple

MAX_DEPTH = 32
PADDING = 16
N_COUNT_BUCKETS = 128
MIN_PROBABILITY, MAX_EVIDENCE, MAX_LOGIT = 1e-7, 20.0, 16.0
MOST_RECENT = 64
_WORD = 2**64 - 1

# ---- counts of contexts

Value = int | None
Context = tuple[int, ...]


class Event(NamedTuple):
    word: int
    values: tuple[Value, ...]
    """One for each stream."""
    of_class: int = 0
    """The class of the last word."""


class Follower(NamedTuple):
    """A word after a context: how often, and after how many distinct longer contexts."""

    counts: int
    contexts: int


Followers = dict[Context, dict[int, Follower]]


def context_of(values: Sequence[Value], streams: Iterable[int]) -> Context | None:
    found = [values[stream] for stream in streams]
    return None if None in found else tuple(value for value in found if value is not None)


def followers(text: Sequence[Event], streams: Sequence[int], level: int, min_count: int = 1) -> Followers:
    """Count the words after each context of the first `level` values of a chain.

    On the last level each event is a longer context of its own; so is one that has no next value.
    """
    longer: dict[Context, dict[int, list[Value]]] = {}
    for event in text:
        context = context_of(event.values, streams[:level])
        if context is not None:
            after = event.values[streams[level]] if level < len(streams) else None
            longer.setdefault(context, {}).setdefault(event.word, []).append(after)
    return {
        context: {
            word: Follower(len(after), after.count(None) + len(set(after) - {None}))
            for word, after in sorted(words.items())
        }
        for context, words in longer.items()
        if sum(map(len, words.values())) >= min_count
    }


def discount(level: Followers) -> float:
    """D = n1 / (n1 + 2 n2), of the numbers of distinct longer contexts."""
    n = Counter(one.contexts for words in level.values() for one in words.values())
    return n[1] / max(n[1] + 2 * n[2], 1)


def node_discounts(level: Followers, paths: Sequence[str]) -> tuple[float, float, float]:
    """D_k = k - (k + 1) Y n_k+1 / n_k, Y = n1 / (n1 + 2 n2), of the counts of (context, node, side)."""
    n: Counter[int] = Counter()
    for words in level.values():
        sides: Counter[str] = Counter()
        for word, one in words.items():
            for depth in range(1, len(paths[word]) + 1):
                sides[paths[word][:depth]] += one.counts
        n.update(sides.values())
    y = n[1] / (n[1] + 2 * n[2]) if n[1] + n[2] else 0.0
    found = [k - (k + 1) * y * n[k + 1] / n[k] if n[k] else k / 2 for k in (1, 2, 3)]
    first, second, third = (
        min(max(one, 0.1), most) for one, most in zip(found, (0.95, 1.5, 2.0), strict=True)
    )
    return first, second, third


# ---- evidence


class Sides(NamedTuple):
    """The followers of a context below a node, left and right: counts, distinct longer contexts, words."""

    counts: tuple[int, int]
    contexts: tuple[int, int]
    types: tuple[int, int]


def sides(words: dict[int, Follower], paths: Sequence[str], node: str) -> Sides:
    below = [[one for word, one in words.items() if paths[word].startswith(node + bit)] for bit in "01"]
    return Sides(
        (sum(one.counts for one in below[0]), sum(one.counts for one in below[1])),
        (sum(one.contexts for one in below[0]), sum(one.contexts for one in below[1])),
        (len(below[0]), len(below[1])),
    )


class Estimate(NamedTuple):
    """The probabilities of the left and the right side of a node."""

    left: float
    right: float

    @property
    def logit(self) -> float:
        return log(self.right / self.left)


def root_estimate(counts: Sequence[int], paths: Sequence[str], node: str) -> Estimate:
    """p(1) = (n1 + 0.1) / (n + 0.2)."""
    n0, n1 = (
        sum(n for n, path in zip(counts, paths, strict=True) if path.startswith(node + bit)) for bit in "01"
    )
    return Estimate((n0 + 0.1) / (n0 + n1 + 0.2), (n1 + 0.1) / (n0 + n1 + 0.2))


def kneser_ney(found: Sides, d: float, above: Estimate) -> Estimate:
    """p(1) = (a1 - D t1 + D (t0 + t1) p'(1)) / (a0 + a1)."""
    a, t = found.contexts, found.types
    return floored(
        (a[0] - d * t[0] + d * sum(t) * above.left) / sum(a),
        (a[1] - d * t[1] + d * sum(t) * above.right) / sum(a),
    )


def of_counts(found: Sides, discounts: Sequence[float], above: Estimate) -> Estimate:
    """p(1) = (a1 - d(a1) + (d(a0) + d(a1)) p'(1)) / (a0 + a1)."""
    a = found.counts
    d = [(0.0, *discounts)[min(count, 3)] for count in a]
    return floored(
        (a[0] - d[0] + sum(d) * above.left) / sum(a), (a[1] - d[1] + sum(d) * above.right) / sum(a)
    )


def floored(left: float, right: float) -> Estimate:
    return Estimate(max(left, MIN_PROBABILITY), max(right, MIN_PROBABILITY))


def clamped(value: float, most: float) -> float:
    return min(max(value, -most), most)


def bucket(value: float, edges: Sequence[float]) -> int:
    return sum(value >= edge for edge in edges)


def count_bucket(a: tuple[int, int], types: int) -> int:
    """By the total, the smaller side, and the number of words; 0 where nothing was seen."""
    if sum(a) == 0:
        return 0
    total = bucket(sum(a), (2, 3, 5, 9, 17, 33, 129))
    return 1 + (total * 3 + min(*a, 2)) * 5 + bucket(types, (2, 3, 6, 21))


def mass_bucket(masses: tuple[float, float]) -> int:
    total = sum(masses)
    if total < 0.02:
        return 0
    is_divided = min(masses) > 0.05 * total
    return 1 + 2 * bucket(total, (0.1, 0.3, 0.7, 1.5, 3, 6, 12, 30, 80, 200)) + is_divided


class Chain(NamedTuple):
    streams: tuple[int, ...]
    uses_continuation: bool = True
    is_document: bool = False


class Cache(NamedTuple):
    streams: tuple[int, ...]
    decay: float


@dataclass(frozen=True)
class Inputs:
    """What is known at a node: evidence and its bucket for each input, and the number of the match."""

    x: list[float] = field(default_factory=list)
    buckets: list[int] = field(default_factory=list)
    match: int = 0

    def add(self, x: float, of_counts: int) -> None:
        self.x.append(x)
        self.buckets.append(of_counts)

    def pad(self) -> None:
        while len(self.x) % PADDING:
            self.add(0.0, 0)


@dataclass(frozen=True)
class Model:
    """One tree, with chains of counts.

    Parameters
    ----------
    paths
        The path to each word.
    chains
        Those of documents come last.
    levels
        For each chain and level the followers of all contexts.
    discounts, of_nodes
        For each chain and level the discount of Kneser-Ney, and those of counts at nodes.
    word_counts, word_contexts
        How often each word occurs, and after how many different words.

    """

    paths: list[str]
    chains: list[Chain]
    levels: list[list[Followers]]
    discounts: list[list[float]]
    of_nodes: list[list[tuple[float, float, float]]]
    word_counts: list[int]
    word_contexts: list[int]
    caches: list[Cache] = field(default_factory=list)
    frequent_nodes: int = 2
    n_classes: int = 1

    @classmethod
    def count(
        cls,
        text: Sequence[Event],
        paths: list[str],
        chains: list[Chain],
        word_counts: list[int],
        word_contexts: list[int],
        min_count: int = 1,
    ) -> Model:
        levels = [
            [
                followers(text, chain.streams, level, min_count if level > 1 else 1)
                for level in range(1, len(chain.streams) + 1)
            ]
            for chain in chains
        ]
        discounts = [[discount(level) for level in of_chain] for of_chain in levels]
        of_nodes = [[node_discounts(level, paths) for level in of_chain] for of_chain in levels]
        return cls(paths, chains, levels, discounts, of_nodes, word_counts, word_contexts)

    def left_out(self, rest: Sequence[Event]) -> Model:
        """Return the model with the counts of another text, and the same discounts."""
        counted = Model.count(rest, self.paths, self.chains, self.word_counts, self.word_contexts)
        return replace(self, levels=counted.levels)

    def inputs(
        self, values: Sequence[Value], node: str, history: int = 1, before: Sequence[Event] = ()
    ) -> Inputs:
        """Return the evidence at a node: of sentences (history 0), documents too (1), caches too (2)."""
        continuation = root_estimate(self.word_contexts, self.paths, node)
        counts = root_estimate(self.word_counts, self.paths, node)
        found = Inputs()
        of_root = count_bucket(*self._root_sides(node))
        found.add(continuation.logit, of_root)
        found.add(counts.logit - continuation.logit, of_root)
        was_document = False
        depths = [0, 0]
        for number, chain in enumerate(self.chains):
            if chain.is_document and history == 0:
                break
            if chain.is_document and not was_document:
                found.pad()
            was_document = chain.is_document
            by_contexts, by_counts = continuation, counts
            for level, contexts in enumerate(self.levels[number]):
                context = context_of(values, chain.streams[: level + 1])
                seen = None if context is None else contexts.get(context)
                here = sides(seen or {}, self.paths, node)
                is_seen = sum(here.counts) > 0
                if is_seen and number < 2 and not chain.is_document:
                    depths[number] += 1
                if chain.uses_continuation:
                    above = by_contexts
                    if is_seen:
                        by_contexts = kneser_ney(here, self.discounts[number][level], above)
                    x = clamped(by_contexts.logit - above.logit, MAX_EVIDENCE)
                    found.add(x, count_bucket(here.contexts, sum(here.types)))
                above = by_counts
                if is_seen:
                    by_counts = of_counts(here, self.of_nodes[number][level], above)
                x = clamped(by_counts.logit - above.logit, MAX_EVIDENCE)
                found.add(x, count_bucket(here.counts, sum(here.types)))
        found.pad()
        if history == 2:
            for cache in self.caches:
                masses = cache_masses(cache, before, values, self.paths, node)
                x = log((masses[1] + counts.right) / (masses[0] + counts.left)) - counts.logit
                found.add(clamped(x, MAX_EVIDENCE), mass_bucket(masses))
            found.add(*longest_match([event.word for event in before], self.paths, node))
            found.pad()
        second = len(self.chains[1].streams) + 1 if len(self.chains) > 1 else 1
        return replace(found, match=depths[0] * second + depths[1])

    def _root_sides(self, node: str) -> tuple[tuple[int, int], int]:
        left, right = (
            [word for word, path in enumerate(self.paths) if path.startswith(node + bit)] for bit in "01"
        )
        n = self.word_contexts
        return (sum(n[word] for word in left), sum(n[word] for word in right)), len(left) + len(right)

    @cached_property
    def node_sets(self) -> dict[str, int]:
        """Frequent nodes have weights of their own, from left to right where equally frequent."""
        words = [word for word, path in enumerate(self.paths) if path]
        frequencies: Counter[str] = Counter()
        for word in words:
            for depth in range(len(self.paths[word])):
                frequencies[self.paths[word][:depth]] += self.word_counts[word]
        first_of_right_side = {
            node: min(self.paths[word] for word in words if self.paths[word].startswith(node + "1"))
            for node in frequencies
        }
        order = sorted(frequencies, key=lambda node: (-frequencies[node], first_of_right_side[node]))
        return {
            node: place if place < self.frequent_nodes else self.frequent_nodes + len(node)
            for place, node in enumerate(order)
        }

    @property
    def n_matches(self) -> int:
        depths = [len(chain.streams) + 1 for chain in self.chains[:2]]
        return depths[0] * (depths[1] if len(depths) > 1 else 1)

    def places(self, inputs: Inputs, node: str, of_class: int) -> list[list[int]]:
        """Return where the weights of each input are: of its bucket, the node, the match, the class."""
        n = len(inputs.x)
        rows = (
            self.node_sets[node],
            self.frequent_nodes + MAX_DEPTH + inputs.match,
            self.frequent_nodes + MAX_DEPTH + self.n_matches + of_class,
        )
        return [
            [i * N_COUNT_BUCKETS + inputs.buckets[i], *(n * N_COUNT_BUCKETS + row * n + i for row in rows)]
            for i in range(n)
        ]

    def log_prob(
        self, event: Event, weights: Sequence[float], history: int = 1, before: Sequence[Event] = ()
    ) -> float:
        """Log p(w) = sum over the decisions on the way to w of log p(its side)."""
        total = 0.0
        for depth, bit in enumerate(self.paths[event.word]):
            node = self.paths[event.word][:depth]
            inputs = self.inputs(event.values, node, history, before)
            total += log_side(mix(inputs.x, self.places(inputs, node, event.of_class), weights), bit)
        return total

    def learn(
        self, events: Sequence[Event], rate: float, seed: int, weights: list[float], squares: list[float],
        history: int = 1,
    ) -> float:  # fmt: skip
        """Learn from events in a random order, in place; return the sum of their log-probabilities before."""
        return sum(
            self.learn_event(events, number, rate, weights, squares, history)
            for number in shuffled(len(events), seed)
        )

    def learn_event(
        self, events: Sequence[Event], number: int, rate: float, weights: list[float], squares: list[float],
        history: int,
    ) -> float:  # fmt: skip
        """One step at each node on the way to a word; return its log-probability before."""
        event, total = events[number], 0.0
        for depth, bit in enumerate(self.paths[event.word]):
            node = self.paths[event.word][:depth]
            inputs = self.inputs(event.values, node, history, events[:number])
            places = self.places(inputs, node, event.of_class)
            total += log_side(adagrad(inputs.x, places, bit, rate, weights, squares), bit)
        return total


# ---- caches


def cache_masses(
    cache: Cache, before: Sequence[Event], values: Sequence[Value], paths: Sequence[str], node: str
) -> tuple[float, float]:
    """m(side) = sum of decay^age over the words so far that went there, after the same context."""
    context = context_of(values, cache.streams)
    masses, n = [0.0, 0.0], 0
    for age, event in enumerate(reversed(before)):
        if context is None or context_of(event.values, cache.streams) != context:
            continue
        n += 1
        if cache.streams and n > MOST_RECENT:
            break
        if paths[event.word].startswith(node):
            masses[paths[event.word][len(node)] == "1"] += cache.decay**age
    return masses[0], masses[1]


def longest_match(before: Sequence[int], paths: Sequence[str], node: str) -> tuple[float, int]:
    """The word that followed the longest match is likely to follow again: x is 1 or -1, or 0 off its path.

    A match of at least two words is the most recent one; it is left when another word follows.
    """
    place, length = 0, 0
    for n in range(1, len(before) + 1):
        if length > 0 and before[place] == before[n - 1]:
            place, length = place + 1, min(length + 1, 16)
            continue
        ends = [end for end in range(2, n) if tuple(before[end - 2 : end]) == tuple(before[n - 2 : n])]
        place, length = (ends[-1] if ends else 0), 0
        while ends and length < min(16, place) and before[place - 1 - length] == before[n - 1 - length]:
            length += 1
    kind = bucket(length, (3, 4, 5, 7, 10, 16)) * 6 + bucket(len(node), (1, 2, 3, 5, 8))
    if length == 0 or not paths[before[place]].startswith(node):
        return 0.0, kind
    return (1.0 if paths[before[place]][len(node)] == "1" else -1.0), kind


# ---- the mixer


def mix(x: Sequence[float], places: Sequence[Sequence[int]], weights: Sequence[float]) -> float:
    """Logit p(1) = sum_i x_i (E[i, q_i] + N[node, i] + M[match, i] + C[class, i])."""
    total = sum(x_i * sum(weights[at] for at in of_input) for x_i, of_input in zip(x, places, strict=True))
    return clamped(total, MAX_LOGIT)


def adagrad(
    x: Sequence[float], places: Sequence[Sequence[int]], bit: str, rate: float,
    weights: list[float], squares: list[float],
) -> float:  # fmt: skip
    """One step, in place: w += rate g / sqrt(sum of g^2 + 0.001), g = (bit - p(1)) x.

    Return the logit before it. What is nearly certain teaches nothing.
    """
    logit = mix(x, places, weights)
    error = (bit == "1") - 1 / (1 + exp(-logit))
    if abs(error) >= 1e-4:
        for x_i, of_input in zip(x, places, strict=True):
            for at in of_input:
                squares[at] += (error * x_i) ** 2
                weights[at] += rate * error * x_i / sqrt(squares[at] + 1e-3)
    return logit


def log_side(logit: float, bit: str) -> float:
    """Log p(bit), where `logit` is that of the right side."""
    z = logit if bit == "1" else -logit
    return z - log1p(exp(z)) if z < 0 else -log1p(exp(-z))


def shuffled(n: int, seed: int) -> list[int]:
    """Return the order of events (Fisher and Yates), by the hash of contexts as random numbers."""
    order = list(range(n))
    state = seed * 0x9E3779B97F4A7C15 + 1 & _WORD
    for i in range(n, 1, -1):
        state = extend_hash(state, i)
        j = (state >> 32) % i
        order[i - 1], order[j] = order[j], order[i - 1]
    return order


def extend_hash(state: int, value: int) -> int:
    x = (state * 0x9E3779B97F4A7C15 ^ (value + 0x7F4A7C15) * 0xC2B2AE3D27D4EB4F) & _WORD
    x ^= x >> 29
    x = x * 0xBF58476D1CE4E5B9 & _WORD
    x ^= x >> 32
    x = x * 0x94D049BB133111EB & _WORD
    x ^= x >> 29
    return x or 1
