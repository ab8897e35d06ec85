"""The counts of chains: which words follow each context, shared by all trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.counts import TOO_LARGE_ADVICE, Workspace
from stategram.errors import UsageError
from stategram.models.word_tree.chains import Chain
from stategram.models.word_tree.tree import WordTree
from stategram.models.word_tree.values import Stream, ValueSources
from stategram.progress import Progress
from stategram.resources import Resources
from stategram.text import Corpus

LongLists = tuple[tuple[NDArray[np.int64], NDArray[np.uint8]], ...]
"""For each tree the contexts that many words follow: where they begin, and their bytes."""


@dataclass(frozen=True, eq=False)
class LevelCounts:
    """The contexts of one level of a chain, each with the words that followed it.

    Parameters
    ----------
    directory, entries
        Buckets of contexts by their hashes; the format is that of the kernel.
    long_lists
        The contexts that many words follow.
    contexts, ngrams
        The number of contexts, and of pairs of a context and a word.
    discount
        The discount of Kneser-Ney.
    node_discounts
        For each tree the discounts of counts of 1, 2 and more at nodes.

    """

    directory: NDArray[np.uint32]
    entries: NDArray[np.uint8]
    long_lists: LongLists
    contexts: int
    ngrams: int
    discount: float
    node_discounts: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 3), np.float32))

    @property
    def n_bytes(self) -> int:
        """Its size in memory."""
        lists = sum(array.nbytes for of_tree in self.long_lists for array in of_tree)
        return self.directory.nbytes + self.entries.nbytes + lists

    def with_trees(self, n_trees: int) -> LevelCounts:
        """Return the level for the first trees only."""
        return replace(
            self, long_lists=self.long_lists[:n_trees], node_discounts=self.node_discounts[:n_trees]
        )

    def moved_to(self, workspace: Workspace) -> LevelCounts:
        """Return the level with its arrays where a workspace allocates them."""
        return replace(
            self,
            directory=workspace.moved(self.directory),
            entries=workspace.moved(self.entries),
            long_lists=tuple(
                (workspace.moved(begins), workspace.moved(lists)) for begins, lists in self.long_lists
            ),
        )

    def for_kernel(self) -> tuple[Any, ...]:
        """Return what the kernel needs of it."""
        return (
            self.directory,
            self.entries,
            list(self.long_lists),
            self.discount,
            self.node_discounts.tolist(),
        )


def count_chain(
    chain: Chain,
    corpus: Corpus,
    sources: ValueSources,
    trees: Sequence[WordTree],
    *,
    progress: Progress | None = None,
) -> list[LevelCounts]:
    """Count the contexts of all levels of a chain, without those of several values seen once."""
    threads, depth = Resources.current().threads, len(chain.values)
    hashes = np.full(corpus.n_events, _core.EMPTY_CONTEXT, np.uint64)
    levels: list[LevelCounts] = []
    after: Stream | None = None
    for number in range(1, depth + 1):
        if progress:
            progress((number - 1) / depth, f"counting {chain}, level {number}")
        if after is None:
            after = sources.stream_of_text(chain.values[number - 1], corpus)
        _core.extend_context_hashes(hashes, after, threads)
        after = None  # its memory is needed
        # Only Kneser-Ney needs to know how many longer contexts there are.
        has_longer = chain.uses_continuation and number < depth
        if has_longer:
            after = sources.stream_of_text(chain.values[number], corpus)
        try:
            counted = _core.count_chain_level(hashes, corpus.ids, after, 1 if number == 1 else 2, threads)
        except OverflowError as error:
            raise UsageError(
                f"the text is too large for the chain {chain} ({error}); {TOO_LARGE_ADVICE}"
            ) from error
        directory, entries, begins, words, counts, contexts, n_contexts, n_ngrams, seen_in = counted
        once, twice = seen_in
        levels.append(
            LevelCounts(
                directory,
                entries,
                tuple(
                    _core.divide_long_lists(
                        begins, words, counts, contexts, tree.codes, tree.lengths, has_longer, threads
                    )
                    for tree in trees
                ),
                n_contexts,
                n_ngrams,
                once / max(once + 2 * twice, 1),
            )
        )
    return levels
