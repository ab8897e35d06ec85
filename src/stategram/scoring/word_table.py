"""A table of the words of some items, as studies of reading need it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from stategram.errors import UnknownWordsWarning, warn_caller
from stategram.formats import open_model
from stategram.models import Model
from stategram.progress import Progress
from stategram.scoring.item_block import ItemBlock
from stategram.scoring.item_table import item_table
from stategram.scoring.region_columns import OF_REGIONS, REGION_COLUMNS
from stategram.scoring.text_scorer import TextScorer
from stategram.scoring.word_columns import COLUMNS, WordColumns
from stategram.tables import Table, read_items
from stategram.text import Normalization


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
    lowercase: bool | None = None,
    progress: Progress | None = None,
) -> Table:
    """Return a table of words: surprisal, entropy and what else studies of reading use.

    Parameters
    ----------
    model
        A model of any kind, or the name of a model folder or an ARPA file.
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
    lowercase
        Whether words are looked up in lower case; by default as in the training of the model, as are numbers
        and white space.
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
    normalization = Normalization.from_recipe(model.metadata, model.vocabulary)
    if lowercase is not None:
        normalization = replace(normalization, lowercase=lowercase)
    if isinstance(items, str):
        items = [items]
    if isinstance(items, list | tuple) and text_column is id_column is region_column is None:
        block = ItemBlock.of_sentences(items, normalization)
    else:
        read = read_items(items, text_column=text_column, id_column=id_column, region_column=region_column)
        block = ItemBlock.of_items(read, normalization)
    scorer = TextScorer(model, unknown)
    table = item_table(scorer, block, chosen, "regions" if is_regions else "words", progress)
    for note in (*(scorer.unknown.notes if scorer.count.unknown else ()), scorer.count.note):
        if note is not None:
            warn_caller(note, UnknownWordsWarning)
    return table
