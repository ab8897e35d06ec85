"""The counts of chains: which words follow each context, shared by all trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.errors import UsageError
from stategram.models.word_tree.chains import Chain
from stategram.models.word_tree.tree import WordTree
from stategram.models.word_tree.values import Stream, ValueSources
from stategram.progress import Progress
from stategram.resources import Resources
from stategram.text import Corpus


@dataclass(frozen=True, eq=False)
class LevelCounts:
    """The contexts of one level of a chain, each with the words that followed it.

    Parameters
    ----------
    directory, entries
        Buckets of contexts by their hashes; the format is that of the kernel.
    long_lists
        For each tree the contexts that many words follow: where they begin, records, bytes.
    contexts, ngrams
        The number of contexts, and of pairs of a context and a word.
    discount
        The discount of Kneser-Ney.
    node_discounts
        For each tree the discounts of counts of 1, 2 and more at nodes.

    """

    directory: NDArray[np.uint32]
    entries: NDArray[np.uint8]
    long_lists: tuple[tuple[NDArray[Any], NDArray[Any], NDArray[Any]], ...]
    contexts: int
    ngrams: int
    discount: float
    node_discounts: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 3), np.float32))

    @property
    def n_bytes(self) -> int:
        """Its size in memory."""
        lists = sum(array.nbytes for of_tree in self.long_lists for array in of_tree)
        return self.directory.nbytes + self.entries.nbytes + lists

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
    min_count: int = 1,
    progress: Progress | None = None,
) -> list[LevelCounts]:
    """Count the contexts of all levels of a chain; from level 2 on, those of `min_count` events or more."""
    if corpus.n_events >= 2**31:
        raise UsageError("a word tree needs a text of fewer than 2,147,483,648 events; give a part of it")
    threads = Resources.current().threads
    hashes = np.full(corpus.n_events, _core.EMPTY_CONTEXT, np.uint64)
    levels = []
    after: Stream | None = sources.stream_of_text(chain.values[0], corpus)
    for number in range(1, len(chain.values) + 1):
        if progress:
            progress((number - 1) / len(chain.values), f"counting {chain}, level {number}")
        assert after is not None
        _core.extend_context_hashes(hashes, after, threads)
        is_last = number == len(chain.values)
        after = None if is_last else sources.stream_of_text(chain.values[number], corpus)
        counted = _core.count_chain_level(hashes, corpus.ids, after, min_count if number > 1 else 1, threads)
        directory, entries, begins, words, counts, contexts, n_contexts, n_ngrams, (once, twice) = counted
        levels.append(
            LevelCounts(
                directory,
                entries,
                tuple(
                    _core.divide_long_lists(
                        begins, words, counts, contexts, tree.codes, tree.lengths, is_last, threads
                    )
                    for tree in trees
                ),
                n_contexts,
                n_ngrams,
                once / max(once + 2 * twice, 1),
            )
        )
    return levels
