"""Word tree models of a given size: what is left out, and in which order.

Nothing is guessed: the bytes of a chain are those of its counts, the rest is that of a model without counts.
A byte of a vector state is worth more than one of any counts, but some counts there must be: if the whole is
too large, the last vector states are left out until all, for one tree, need no more than half of the bytes.
The order is the same for every text; it was found on held-out text, by what a byte of each is worth:

1. chains, the last of the recipe first, until half of them are left;
2. trees, the last first, until one is left;
3. the other chains but the first, and then the far values of the first;
4. vector states, the last first.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from stategram.errors import UsageError
from stategram.models.word_tree.chains import Chain
from stategram.models.word_tree.counting import LevelCounts
from stategram.models.word_tree.vector_states import VectorShape


def vectors_within(
    sizes: Sequence[int], vectors: Sequence[VectorShape], max_size: int
) -> Sequence[VectorShape]:
    """Return the first vector states, as many as need no more than half of `max_size` bytes.

    >>> shapes = list(map(VectorShape.parse, ("linear 64", "recurrent 32")))
    >>> [str(shape) for shape in vectors_within([300, 200], shapes, 800)]
    ['linear 64']
    """
    return vectors[: bisect_right(list(accumulate(sizes)), max_size // 2)]


@dataclass(frozen=True)
class Extent:
    """How much of a word tree model there is: its chains, the number of its trees, and its vector states."""

    chains: tuple[Chain, ...]
    n_trees: int
    vectors: tuple[VectorShape, ...] = ()


def extents(chains: Sequence[Chain], n_trees: int, vectors: Sequence[VectorShape] = ()) -> Iterator[Extent]:
    """Yield the whole and smaller and smaller parts of it; chains that pay least are the last.

    >>> chains = [Chain.parse(text) for text in ("w-1 w-2", "g1-1 g1-2")]
    >>> for extent in extents(chains, 2):
    ...     print(extent.n_trees, "trees:", ", ".join(map(str, extent.chains)))
    2 trees: w-1 w-2, g1-1 g1-2
    2 trees: w-1 w-2
    1 trees: w-1 w-2
    1 trees: w-1
    """
    kept, of_vectors = list(chains), tuple(vectors)
    yield Extent(tuple(kept), n_trees, of_vectors)
    half = (len(kept) + 1) // 2
    while len(kept) > half:
        kept.pop()
        yield Extent(tuple(kept), n_trees, of_vectors)
    while n_trees > 1:
        n_trees -= 1
        yield Extent(tuple(kept), n_trees, of_vectors)
    while len(kept) > 1:
        kept.pop()
        yield Extent(tuple(kept), n_trees, of_vectors)
    while len(kept[0].values) > 1:
        kept[0] = replace(kept[0], values=kept[0].values[:-1])
        yield Extent(tuple(kept), n_trees, of_vectors)
    while of_vectors:
        of_vectors = of_vectors[:-1]
        yield Extent(tuple(kept), n_trees, of_vectors)


def largest_extent(
    possible: Sequence[Extent],
    count: Callable[[Chain], Sequence[LevelCounts]],
    size_without_counts: Callable[[Extent], int],
    max_size: int,
) -> Extent:
    """Return the first of some extents, each smaller than the one before, that has at most `max_size` bytes.

    Parameters
    ----------
    possible
        The extents.
    count
        Counts a chain, for as many trees as the first extent has.
    size_without_counts
        The bytes of a model of an extent besides its counts.
    max_size
        The bytes that the model may have.

    Raises
    ------
    UsageError
        If even the last is larger.

    """
    # The bytes of each chain for each number of trees.
    known: dict[Chain, list[int]] = {}

    def size(extent: Extent) -> int:
        total = size_without_counts(extent)
        for chain in extent.chains:
            if chain not in known:
                levels = count(chain)
                known[chain] = [
                    sum(level.with_trees(n).n_bytes for level in levels)
                    for n in range(possible[0].n_trees + 1)
                ]
            total += known[chain][extent.n_trees]
        return total

    # The whole is nearly always counted; then the last, which is quickly counted.
    if size(possible[0]) <= max_size:
        return possible[0]
    if (smallest := size(possible[-1])) > max_size:
        raise UsageError(
            f"{max_size:,} bytes are too few: the smallest word tree model of this text has {smallest:,}; "
            "allow more, or use fewer words (--vocab)"
        )
    return possible[bisect_left(possible, -max_size, key=lambda extent: -size(extent))]
