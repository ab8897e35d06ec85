"""Items as a text to score, and how its words belong to their rows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.tables import Items, TextColumn
from stategram.text import END, LineBlock, Normalization, Sentences, block_of_sentences


@dataclass(frozen=True, eq=False)
class ItemBlock:
    """The sentences of items.

    Parameters
    ----------
    block
        The sentences; their lines are the numbers of items, from 1.
    rows
        The row of the items that each word belongs to, and each sentence end: that of the word before it.
    sentences
        The number of the sentence, from 1, of each row, those without words included.
    carried
        The columns of the rows that are carried through.

    """

    block: LineBlock
    rows: NDArray[np.int64]
    sentences: NDArray[np.int64]
    carried: dict[str, TextColumn | NDArray[Any]]

    @classmethod
    def of_sentences(cls, sentences: Sentences, normalization: Normalization) -> ItemBlock:
        """Return sentences, each of which is a row of its own."""
        sentences = list(sentences)
        block = block_of_sentences(sentences, normalization)
        rows = np.repeat(block.lines - 1, np.diff(block.corpus.sentence_starts))
        return cls(block, rows, np.arange(1, len(sentences) + 1), {})

    @classmethod
    def of_items(cls, items: Items, normalization: Normalization) -> ItemBlock:
        """Return the sentences of items; regions of one sentence are joined.

        Each region is read by itself, so that no word is in two of them.
        """
        found = cls.of_sentences(items.texts, normalization)
        found = replace(found, carried=items.columns, sentences=items.sentences + 1)
        if items.n_sentences == len(items):
            return found
        corpus, sentences = found.block.corpus, items.sentences[found.block.lines - 1]
        is_last = np.append(sentences[1:] != sentences[:-1], True)[: len(sentences)]
        keep = (corpus.ids != END) | np.repeat(is_last, np.diff(corpus.sentence_starts))
        ends = np.cumsum(keep)[corpus.sentence_starts[1:] - 1]
        joined = replace(
            corpus,
            ids=corpus.ids[keep],
            sentence_starts=np.append(0, ends[is_last]).astype(np.int64),
            document_starts=np.zeros(0, np.int64),
        )
        block = replace(found.block, corpus=joined, lines=sentences[is_last] + 1)
        return replace(found, block=block, rows=found.rows[keep])

    def with_carried(self, columns: dict[str, Any], rows: NDArray[np.int64] | slice) -> dict[str, Any]:
        """Return columns after those that are carried through from some rows."""
        return {name: column[rows] for name, column in self.carried.items()} | columns


def check_names(carried: Collection[str], names: Collection[str]) -> None:
    """Raise an error if a column that is carried through has the name of one of the table."""
    for name in names:
        if name in carried:
            raise UsageError(
                f"the items have a column {name!r}, as has the table of scores; rename that of the items, or "
                "choose columns without it"
            )
