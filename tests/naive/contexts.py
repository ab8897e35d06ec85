"""The context tree, as the paper tells it: level l groups events by their values (v1, ..., vl).

A node is named by its values, v1 first. Each holds how often each word follows its contexts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Node = tuple[int, ...]
Row = Mapping[int, int]


@dataclass(frozen=True)
class Context:
    """What a context is: value k is what `maps[k]` makes of the word `distances[k]` places back.

    Before the sentence stands `before`, as often as is asked for.
    """

    maps: Sequence[Sequence[int]]
    distances: Sequence[int]
    before: int

    def values(self, sentence: Sequence[int], place: int) -> Node:
        def word(distance: int) -> int:
            return sentence[place - distance] if distance <= place else self.before

        return tuple(
            values[word(distance)] for values, distance in zip(self.maps, self.distances, strict=True)
        )


def count_contexts(sentences: Sequence[Sequence[int]], context: Context) -> list[dict[Node, Counter[int]]]:
    """For each level, the words that follow each of its nodes."""
    levels: list[dict[Node, Counter[int]]] = [defaultdict(Counter) for _ in context.maps]
    for sentence in sentences:
        for place, word in enumerate(sentence):
            values = context.values(sentence, place)
            for depth, level in enumerate(levels, 1):
                level[values[:depth]][word] += 1
    return levels


def find_context(levels: Sequence[Mapping[Node, object]], values: Node) -> Node:
    """The deepest known node on the way to these values; () if there is none."""
    deepest: Node = ()
    for depth, level in enumerate(levels, 1):
        if values[:depth] not in level:
            break
        deepest = values[:depth]
    return deepest


def sum_rows(rows: Sequence[Row], groups: Sequence[Sequence[int]]) -> list[dict[int, int]]:
    """The sum of the rows of each group."""
    sums = []
    for group in groups:
        total: Counter[int] = Counter()
        for row in group:
            total.update(rows[row])
        sums.append(dict(total))
    return sums


def transposed(rows: Sequence[Row], n_columns: int) -> list[dict[int, int]]:
    """The same counts, a row for each column."""
    return [{r: row[column] for r, row in enumerate(rows) if column in row} for column in range(n_columns)]
