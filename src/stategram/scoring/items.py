"""A table of the words of some items, as studies of reading need it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UnknownWordsWarning, UsageError, warn_caller
from stategram.formats import open_model
from stategram.models import Model
from stategram.progress import Progress
from stategram.scoring.columns import (
    COLUMNS,
    OF_REGIONS,
    REGION_COLUMNS,
    SENTENCE_COLUMNS,
    WordColumns,
    check_summable,
    region_columns,
    sentence_columns,
)
from stategram.scoring.score import TextScorer
from stategram.tables import Items, Table, TextColumn, read_items
from stategram.text import (
    END,
    FormatOverride,
    LineBlock,
    Sentences,
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
    unknown: str = "unk",
    history: str | None = None,
    text_format: FormatOverride = None,
    progress: Progress | None = None,
) -> Table:
    """Return a table of words: surprisal, entropy and what else studies of reading use.

    Parameters
    ----------
    model
        A model of any kind, or the name of a model file or an ARPA file.
    items
        Sentences: one string, a list of strings, or a list of lists of words; or a table with a column of
        them: columns by name, a data frame of pandas or polars, an Arrow table, or the path of a csv, tsv,
        jsonl or parquet file, as a `pathlib.Path`. The other columns of a table are carried through. The
        end of a sentence, ``</s>``, has a row of its own; a sentence without words has none, but keeps its
        number.
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
        and have the same id are the regions of one sentence, and the result has one row per region: the
        sums over its words, their number in the column ``words``, and the position of the first.
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
        One row per word. With the words w_1 ... w_n of a sentence, p_i the distribution of w_i given those
        before it, and H(p) = - sum_w p(w) log p(w) over the vocabulary, in which ``<unk>`` and ``</s>`` are
        words:

        ``sentence``, ``position``
            The number of the item and of the word in it, from 1.
        ``word``
            The word as it is in the item, even if the model does not know it.
        ``log10_prob``, ``surprisal``
            log10 p_i(w_i) and - log p_i(w_i).
        ``order``
            The length of the n-gram that gave the probability; 0 if the model is not one of n-grams of words.
        ``unknown``
            Whether the model does not know the word: its probability is that of ``<unk>``.
        ``state``
            The state of the context, if the model is a clustered model or has one.
        ``log10_frequency``
            log10 of the relative frequency of the word in the training text, ``</s>`` counted as a word;
            missing for unknown words. For a model without counts, as that of an ARPA file, log10 of its
            unigram probability.
        ``length``
            The number of characters (Unicode code points); missing for ``</s>``.
        ``entropy``
            H(p_i), the entropy before the word.
        ``entropy_reduction``
            max(0, H(p_i) - H(p_{i+1})): what the word takes of the uncertainty about the next word; missing
            for ``</s>``.
        ``parts``
            For each part of a mixture a column ``part_1``, ``part_2``, ... with the surprisal by that part
            alone.

    Notes
    -----
    Entropy reduction is Hale's (2006, "Uncertainty about the rest of the sentence", Cognitive Science 30),
    where what rises counts as 0, for the entropy of the next word, as Lowder, Choi, Ferreira and Henderson
    (2018, "Lexical predictability during natural reading", Cognitive Science 42) use it. The signed change
    is the difference of the column ``entropy`` between two rows.

    Entropies are exact. Those of n-gram and clustered models take little more than scoring, those of mixtures
    and word trees a sum over the vocabulary for each distinct history: see docs/surprisal.md for figures.

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
    is_regions = region_column is not None
    names = REGION_COLUMNS if is_regions and columns is None else columns
    chosen = WordColumns.create(model, names, base, of=OF_REGIONS if is_regions else COLUMNS)
    found_format = model.text_format.override(text_format)
    if isinstance(items, str):
        if row_format(items) != "text" and os.path.isfile(items):  # noqa: PTH113
            raise UsageError(f"{items!r} is the name of a file; give it as a path: pathlib.Path({items!r})")
        items = [items]
    if isinstance(items, list | tuple) and text_column is id_column is region_column is None:
        block = ItemBlock.of_sentences(items, found_format)
    else:
        read = read_items(items, text_column=text_column, id_column=id_column, region_column=region_column)
        block = ItemBlock.of_items(read, found_format)
    scorer = TextScorer(model, unknown)
    table = score_items(scorer, block, chosen, "regions" if is_regions else "words", progress)
    for note in scorer.notes:
        warn_caller(note, UnknownWordsWarning)
    return table


@dataclass(frozen=True, eq=False)
class ItemBlock:
    """The sentences of items; the lines of `block` are the numbers of items, from 1."""

    block: LineBlock
    rows: NDArray[np.int64]
    """The row of the items that each word belongs to, and each sentence end: that of the word before it."""
    sentences: NDArray[np.int64]
    """The number of the sentence, from 1, of each row, those without words included."""
    carried: dict[str, TextColumn | NDArray[Any]]

    @classmethod
    def of_sentences(cls, sentences: Sentences, text_format: TextFormat) -> ItemBlock:
        """Return sentences, each of which is a row of its own."""
        sentences = list(sentences)
        block = block_of_sentences(sentences, text_format)
        rows = np.repeat(block.lines - 1, np.diff(block.corpus.sentence_starts))
        return cls(block, rows, np.arange(1, len(sentences) + 1), {})

    @classmethod
    def of_items(cls, items: Items, text_format: TextFormat) -> ItemBlock:
        """Return the sentences of items; regions of one sentence are joined.

        Each region is read by itself, so that no word is in two of them.
        """
        found = cls.of_sentences(items.texts, text_format)
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

    def table(self, columns: dict[str, Any], rows: NDArray[np.int64] | slice) -> Table:
        """Return columns as a table, after those that are carried through from some rows."""
        carried = {name: column[rows] for name, column in self.carried.items()}
        return Table(carried | columns, exact=self.carried)


def score_items(
    scorer: TextScorer,
    items: ItemBlock,
    columns: WordColumns,
    rows: str = "words",
    progress: Progress | None = None,
) -> Table:
    """Score items; return a row for each of their words, sentences or regions."""
    if rows == "sentences":
        _check_names(items.carried, SENTENCE_COLUMNS)
        scored = scorer.score(items.block)
        return items.table(sentence_columns(scored), items.rows[scored.starts[:-1]])
    if rows == "regions":
        check_summable(columns)
        _check_names(items.carried, [*columns.column_names, "words"])
        scored = scorer.score(items.block, columns.features, progress)
        return items.table(region_columns(columns, scored, items.rows, items.sentences), slice(None))
    _check_names(items.carried, columns.column_names)
    return items.table(columns.of(scorer.score(items.block, columns.features, progress)), items.rows)


def _check_names(carried: Collection[str], names: Collection[str]) -> None:
    """Raise an error if a column that is carried through has the name of one of the table."""
    for name in names:
        if name in carried:
            raise UsageError(
                f"the items have a column {name!r}, as has the table of scores; rename that of the items, or "
                "choose columns without it"
            )
