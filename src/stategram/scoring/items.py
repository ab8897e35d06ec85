"""A table of the words of some items, as studies of reading need it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UnknownWordsWarning, UsageError, warn_caller
from stategram.formats import open_model
from stategram.models import Model
from stategram.progress import Progress
from stategram.scoring.columns import SENTENCE_COLUMNS, UNITS, Spans, WordColumns, sentence_columns
from stategram.scoring.score import TextScorer
from stategram.tables import Items, Table, TextColumn, read_items
from stategram.text import (
    FormatOverride,
    LineBlock,
    Sentences,
    SpacedWords,
    TextFormat,
    block_of_sentences,
    row_format,
)


def surprisal(
    model: Model | str | os.PathLike[str],
    items: Any,
    *,
    columns: Iterable[str] | None = None,
    base: object = 2,
    text_column: str | None = None,
    id_column: str | None = None,
    region_column: str | None = None,
    by: str | None = None,
    unknown: str = "unk",
    history: str | None = None,
    text_format: FormatOverride = None,
    progress: Progress | None = None,
) -> Table:
    """Return a table of tokens or words: surprisal, entropy and what else studies of reading use.

    Parameters
    ----------
    model
        A model of any kind, or the name of a model file or an ARPA file.
    items
        Sentences: one string, a list of strings, or a list of lists of words; or a table with a column of
        them: columns by name, a data frame of pandas or polars, an Arrow table, or the path of a csv, tsv,
        jsonl or parquet file, as a `pathlib.Path`. The other columns of a table are carried through. A
        sentence without words has no rows, but keeps its number.
    columns
        Names of columns, in their order, of those below; ``all`` stands for all that the model has. By
        default all but entropies and parts.
    base
        The unit of surprisal and entropy, with which the names of their columns end: 2 for ``bits``, ``"e"``
        for ``nats``, 10 for ``log10``.
    history
        How far back the model may look, as in `Model.with_history`; by default as it is. Items follow each
        other as the sentences of a text do.
    text_column, id_column, region_column
        Columns of a table of items: that of the sentences, which may be left out if there is but one of
        strings; that of their ids; that of the names of regions. With regions, rows that follow each other
        and have the same id are one sentence, read as a whole: their texts with spaces in between.
    by
        What has a row. ``token``: each token, which is what the model predicts, such as a word or a
        punctuation mark, and the end of a sentence, ``</s>``. ``word``: each word between white space.
        ``region``: each region, if there are some. ``sentence``: each sentence that has words. By default
        ``token``, or ``region`` if there are regions.
    unknown
        The probability of unknown words: ``"unk"``, that of ``<unk>``, which is the same for all of them;
        ``"exclude"``, none: it is missing; ``"spell"``, that of ``<unk>`` times that of the spelling, by a
        model of characters.
    text_format
        What words are, and what is done with them before the model sees them: by default as in its training;
        a `TextFormat`, or a mapping with the settings that differ, such as ``{"lowercase": True}``.
    progress
        Called with the fraction done and a message.

    Returns
    -------
    Table
        One row per token, word, region or sentence, with the columns that ``docs/surprisal.md`` defines: the
        numbers ``sentence`` and ``position``; ``word``, ``length`` and ``log10_frequency``; ``unknown``;
        ``log10_prob`` and ``surprisal``; ``order`` of the n-gram that gave the probability; ``state`` of the
        context; ``entropy`` before the word, and ``entropy_reduction``; ``parts``, the surprisal by each
        part of a mixture. Words and regions have the sum over their ``tokens``, which is one column more;
        sentences have fixed columns.

    Examples
    --------
    >>> from stategram import NgramModel, surprisal
    >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran"], order=2)
    >>> surprisal(model, ["the cat slept"], columns=["word", "surprisal", "unknown", "entropy"])
    word   surprisal_bits  unknown  entropy_bits
    the              1.36    False       2.51863
    cat           1.59401    False       2.49624
    slept               5     True       2.49624
    </s>          2.62149    False       2.94638

    """
    if not isinstance(model, Model):
        model = open_model(model, progress=progress)
    if history is not None:
        model = model.with_history(history)
    by = by or ("token" if region_column is None else "region")
    check_unit(by, has_regions=region_column is not None)
    chosen = WordColumns.create(model, columns, base, "token" if by == "sentence" else by)
    found_format = model.text_format.override(text_format)
    if isinstance(items, str):
        if row_format(items) != "text" or os.path.isfile(items):  # noqa: PTH113  any string
            raise UsageError(
                f"items is the string {items!r}, which would be scored as a sentence: for the table in that "
                f"file give pathlib.Path({items!r}), for the sentence a list, [{items!r}]"
            )
        items = [items]
    if isinstance(items, list | tuple) and text_column is id_column is region_column is None:
        block = ItemBlock.of_sentences(items, found_format)
    else:
        read = read_items(items, text_column=text_column, id_column=id_column, region_column=region_column)
        block = ItemBlock.of_items(read, found_format)
    scorer = TextScorer(model, unknown)
    table = score_items(scorer, block, chosen, by, progress)
    for note in scorer.notes:
        warn_caller(note, UnknownWordsWarning)
    return table


@dataclass(frozen=True, eq=False)
class ItemBlock:
    """The sentences of items; the lines of `block` are the numbers of sentences, from 1."""

    block: LineBlock
    texts: Sequence[Any]
    """The text of each row of the items: a sentence, or a region of one."""
    sentences: NDArray[np.int64]
    """The number of the sentence, from 1, of each row, those without words included."""
    text_format: TextFormat
    carried: dict[str, TextColumn | NDArray[Any]]

    @classmethod
    def of_sentences(cls, sentences: Sentences, text_format: TextFormat) -> ItemBlock:
        """Return sentences, each of which is a row of its own."""
        # Iterators are read twice.
        texts = [list(one) if isinstance(one, Iterator) else one for one in sentences]
        block = block_of_sentences(texts, text_format)
        return cls(block, texts, np.arange(1, len(texts) + 1), text_format, {})

    @classmethod
    def of_items(cls, items: Items, text_format: TextFormat) -> ItemBlock:
        """Return the sentences of items; the regions of one are read as one text, with spaces in between."""
        by_sentence = groupby(zip(items.sentences.tolist(), items.texts, strict=True), itemgetter(0))
        joined = [" ".join(text for _, text in regions) for _, regions in by_sentence]
        block = block_of_sentences(joined, text_format)
        return cls(block, items.texts, items.sentences + 1, text_format, items.columns)

    @cached_property
    def words(self) -> SpacedWords:
        """The words between white space; no token is in two of them, or in two regions."""
        return SpacedWords.of(self.texts, self.block, self.text_format)

    @property
    def rows(self) -> NDArray[np.int64]:
        """The row that each event belongs to; that of a sentence end is that of the word before it."""
        if len(self.texts) == self.sentences.max(initial=0):
            return np.repeat(self.block.lines - 1, np.diff(self.block.corpus.sentence_starts))
        return self.words.texts[self.words.of_events]

    def table(self, columns: dict[str, Any], rows: NDArray[np.int64] | slice) -> Table:
        """Return columns as a table, after those that are carried through from some rows."""
        carried = {name: column[rows] for name, column in self.carried.items()}
        return Table(carried | columns, exact=self.carried)


def score_items(
    scorer: TextScorer,
    items: ItemBlock,
    columns: WordColumns,
    by: str = "token",
    progress: Progress | None = None,
) -> Table:
    """Score items; return a row for each of their tokens, words, sentences or regions."""
    added = () if by == "token" else ("tokens",)
    for name in SENTENCE_COLUMNS if by == "sentence" else (*columns.column_names, *added):
        if name in items.carried:
            raise UsageError(
                f"the items have a column {name!r}, as has the table of scores; rename that of the items, or "
                "choose columns without it"
            )
    scored = scorer.score(items.block, columns.features, progress)
    if by == "sentence":
        return items.table(sentence_columns(scored), items.rows[scored.starts[:-1]])
    if by == "word":
        words = items.words
        spans = Spans(words.of_events, items.sentences[words.texts], words.words)
        return items.table(spans.columns(columns, scored), words.texts)
    if by == "region":
        return items.table(Spans(items.rows, items.sentences).columns(columns, scored), slice(None))
    return items.table(columns.of(scored), items.rows)


def check_unit(by: str, *, has_regions: bool) -> None:
    """Refuse units that are not there."""
    if by not in UNITS:
        raise UsageError(f"by is {by!r}; it must be one of {', '.join(UNITS)}")
    if by == "region" and not has_regions:
        raise UsageError("a row per region (--by region) requires a region column (--region-column)")
