"""The n-grams of a back-off model as packed arrays: small, mapped from disk, quick to search.

The n-grams of each length are ordered by their words; those that begin with the same words but the last are
neighbours, in rising order of the last, and are the children of the n-gram of those words. So an n-gram needs
the number of its last word, its log10 probability and, unless it is of the greatest length, its log10
back-off weight and the place of its first child. Each of these takes as many bits as it needs.

Words have numbers of their own in the trie, those of the vocabulary shuffled: the children of any n-gram then
lie evenly between 0 and the size of the vocabulary, and the place of a word among them can be guessed
(interpolation search) instead of searched by halves.

The state of a model is, for the last 1, 2, ... words, the place of their n-gram among those of that length.
The word that follows is looked up among the children of all of them, independently of each other:

    p(w | h) = p(h w)                                     if the model has the n-gram h w
               backoff(h) * p(w | h without its first)    else
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.counts import Workspace
from stategram.errors import StategramError
from stategram.models.ngrams.estimate import Estimates
from stategram.models.ngrams.plain import PlainTrie
from stategram.resources import Resources

_NONE = np.empty(0, np.uint32)
NO_VALUES = np.empty(0, np.float32)
"""The table of values that are stored as they are."""
_FLOAT_BITS = 32
_MOST_VALUES = 2**16  # of a table

Tables: TypeAlias = tuple[NDArray[np.float32], NDArray[np.float32]]
"""The probabilities and the weights that n-grams of one length may have, 2^bits of each or none."""


@dataclass(frozen=True, eq=False)
class NgramTrie:
    """The arrays of a back-off model. All logarithms are to the base of 10, as in ARPA files."""

    numbers: NDArray[np.uint32]
    """The trie's number of each word of the vocabulary: a permutation of its ids."""
    begins: NDArray[np.int64]
    """`order` + 2 numbers: 0; 1; and for each length, 1 more than the n-grams of up to that length."""
    widths: NDArray[np.uint8]
    """For each length three numbers of bits: of a probability, a back-off weight, a first child. Values of 32
    bits are float32, those of fewer are numbers of values in a table."""
    words: NDArray[np.uint8]
    """The trie's number of the last word of each n-gram of two words: they have many neighbours."""
    records: NDArray[np.uint8]
    """For each length, of each n-gram: from three words on, the number of the last; first child (less the
    base of its block), log10 probability, log10 weight, but of the longest the probability alone. One more
    closes a length: where its last children end."""
    bases: NDArray[np.uint32]
    """For each length but the greatest, the first child of every 16th n-gram."""
    values: NDArray[np.float32]
    """The tables of each length, of probabilities and then of weights, with all values that bits can name."""
    closed: bool = False
    """Whether the end of each n-gram, all words but the first, is known to be an n-gram too: a search of
    longer and longer n-grams may then stop at the first that is not there."""

    ARRAYS: ClassVar[tuple[str, ...]] = ("numbers", "begins", "widths", "words", "records", "bases", "values")

    @property
    def order(self) -> int:
        """The maximum n-gram order."""
        return len(self.begins) - 2

    @property
    def is_compact(self) -> bool:
        """Whether probabilities were rounded."""
        return bool((self.widths[:, 0] < _FLOAT_BITS).any())

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of n-grams of 1, 2, ..., `order` words."""
        return tuple(np.diff(self.begins)[1:].tolist())

    def reader(self) -> _core.TrieReader:
        """Return what searches the arrays; DamagedModel, a ValueError, if they do not fit together."""
        return _core.TrieReader(**self.arrays(), closed=self.closed)

    def stepper(self) -> _core.NgramStepper:
        """Return what goes through the n-grams word by word; DamagedModel as `reader`."""
        return _core.NgramStepper(**self.arrays(), closed=self.closed)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by their names."""
        return {name: getattr(self, name) for name in self.ARRAYS}

    def plain(self) -> PlainTrie:
        """Return the same n-grams as plain arrays."""
        reader, threads = self.reader(), Resources.current().threads
        levels = [reader.plain_level(length, threads) for length in range(1, self.order + 1)]
        words, log_probs, backoffs, first_child = zip(*levels, strict=True)
        offsets = self.begins[2:].astype(np.uint32)
        children = [one[:-1] + offset for one, offset in zip(first_child[:-1], offsets, strict=False)]
        root, none = np.zeros(1, np.uint32), np.zeros(1, np.float32)
        return PlainTrie(
            self.numbers,
            self.begins,
            np.concatenate([root, *words]),
            np.concatenate([none, *log_probs]),
            np.concatenate([none, *backoffs]),
            np.concatenate([root + np.uint32(1), *children, self.begins[-1:].astype(np.uint32)]),
        )

    @classmethod
    def from_plain(
        cls, plain: PlainTrie, *, closed: bool = False, tables: Sequence[Tables] | None = None
    ) -> NgramTrie:
        """Inverse of `plain`; `tables` has for each length those to whose values others are rounded."""
        packer = _Packer(plain.numbers, plain.begins, Workspace())
        for length in range(1, plain.order + 1):
            here = plain.level(length)
            packer.pack(
                plain.words[here],
                plain.log_probs[here],
                plain.backoffs[here],
                plain.first_child[here.start : here.stop + 1] if length < plain.order else _NONE,
                None if tables is None else tables[length - 1],
            )
        return packer.finish(closed=closed)


class _Packer:
    """Packs one length of n-grams after the other."""

    def __init__(self, numbers: NDArray[np.uint32], begins: NDArray[np.int64], workspace: Workspace) -> None:
        self.numbers, self.begins, self.workspace = numbers, begins, workspace
        self.word_bits = _core.word_bits(len(numbers))
        self.order = len(begins) - 2
        self.widths: list[NDArray[np.uint8]] = []
        self.parts: list[tuple[NDArray[Any], ...]] = []

    def pack(
        self,
        words: NDArray[np.uint32],
        log_probs: NDArray[np.float32],
        backoffs: NDArray[np.float32],
        first_child: NDArray[np.uint32],
        tables: Tables | None = None,
    ) -> None:
        """Add the n-grams of the next length; children are numbered as in `PlainTrie`."""
        length = len(self.parts) + 1
        leaves = length == self.order
        log_prob_table, backoff_table = tables or (NO_VALUES, NO_VALUES if leaves else _table(backoffs))
        child_bits = 0 if leaves else _core.child_bits(first_child)
        widths = np.array([_bits(log_prob_table), _bits(backoff_table), child_bits], np.uint8)
        sizes = _core.packed_sizes(length, self.order, len(words), self.word_bits, widths)
        words_out, records, bases = map(self.workspace.empty, sizes, (np.uint8, np.uint8, np.uint32))
        for begin, end in self.workspace.chunks(max(len(words), 1)):
            _core.pack_ngrams(
                length,
                self.order,
                words,
                log_probs,
                backoffs,
                first_child,
                0 if leaves else int(self.begins[length + 1]),
                self.word_bits,
                widths,
                log_prob_table,
                backoff_table,
                begin,
                min(end, len(words)),
                words_out,
                records,
                bases,
                Resources.current().threads,
            )
        self.widths.append(widths)
        self.parts.append((words_out, records, bases, log_prob_table, backoff_table))

    def finish(self, *, closed: bool) -> NgramTrie:
        """Return the trie."""
        words, records, bases, *tables = zip(*self.parts, strict=True)
        padding = np.zeros(_core.PACKED_PADDING, np.uint8)
        values = [table for pair in zip(*tables, strict=True) for table in pair]
        return NgramTrie(
            self.numbers,
            self.begins,
            np.stack(self.widths),
            self._joined([*words, padding]),
            self._joined([*records, padding]),
            self._joined(list(bases)),
            np.concatenate(values),
            closed,
        )

    def _joined(self, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
        joined = self.workspace.empty(sum(map(len, arrays)), arrays[0].dtype)
        begin = 0
        for array in arrays:
            for first, last in self.workspace.chunks(len(array)):
                joined[begin + first : begin + last] = array[first:last]
            begin += len(array)
        return joined


def _table(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the different values, filled up to a power of two; none if there are too many to be worth it."""
    found = _core.distinct_values(values, min(_MOST_VALUES, len(values) // 4))
    if len(found) == 0:
        return NO_VALUES
    return np.pad(found, (0, 2 ** (len(found) - 1).bit_length() - len(found)), mode="edge")


def _bits(table: NDArray[np.float32]) -> int:
    return (len(table) - 1).bit_length() if len(table) else _FLOAT_BITS


def assemble(estimates: Estimates) -> NgramTrie:
    """Return the trie of all n-grams that are kept. The estimates are used up on the way."""
    levels, workspace = estimates.levels, estimates.workspace
    order = len(levels) - 1
    ranks = [_ranks(level.keep, workspace) for level in levels]
    sizes = [int(rank[-1]) if len(rank) else len(level) for rank, level in zip(ranks, levels, strict=True)]
    begins = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    if begins[-1] >= 2**32:
        raise StategramError(
            f"the model would have {begins[-1]:,} n-grams, more than {2**32 - 1:,}; "
            "drop rare ones (--min-count) or take shorter ones (--order)"
        )
    packer = _Packer(estimates.numbers, begins, workspace)
    ranks.append(_NONE)
    for k, level in enumerate(levels[1:], 1):
        size, inner = sizes[k], 0 if k == order else sizes[k]
        words = workspace.empty(size, np.uint32)
        log_probs = workspace.empty(size, np.float32)
        backoffs = workspace.empty(inner, np.float32)
        first_child = workspace.empty(inner + 1 if k < order else 0, np.uint32)
        if k < order:
            first_child[-1] = begins[k + 2]
        for begin, end in workspace.chunks(len(level)):
            _core.assemble_level(
                level.words,
                level.log_probs,
                level.backoffs,
                level.first_child,
                ranks[k],
                ranks[k + 1],
                int(begins[k + 1]),
                begin,
                end,
                words,
                log_probs,
                backoffs,
                first_child[:inner],
                Resources.current().threads,
            )
        level.first_child = level.words = level.suffixes = _NONE
        level.log_probs = level.backoffs = NO_VALUES
        packer.pack(words, log_probs, backoffs, first_child)
    # An n-gram is in the text as often as a longer one that it ends; pruning may drop it nonetheless.
    return packer.finish(closed=not estimates.pruned)


def _ranks(keep: NDArray[np.uint8], workspace: Workspace) -> NDArray[np.uint32]:
    """Return for each n-gram, and one more, how many before it are kept; empty if all are."""
    if len(keep) == 0:
        return _NONE
    ranks: NDArray[Any] = workspace.empty(len(keep) + 1, np.uint32)
    ranks[0] = 0
    np.cumsum(keep, out=ranks[1:], dtype=np.uint32)
    return ranks
