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
from stategram.scoring.text_scorer import TextScorer
from stategram.scoring.word_columns import WordColumns
from stategram.tables import Table
from stategram.text import Normalization, block_of_sentences


def surprisal(
    model: Model | str | os.PathLike[str],
    items: Any,
    *,
    columns: Iterable[str] | None = None,
    base: object = 2,
    history: str | None = None,
    unknown: str = "unk",
    lowercase: bool | None = None,
    progress: Progress | None = None,
) -> Table:
    """Return a table of words: surprisal, entropy and what else studies of reading use.

    Parameters
    ----------
    model
        A model of any kind, or the name of a model folder or an ARPA file.
    items
        One string, a list of strings, or a list of lists of words. An item is a sentence: ``</s>``, its end,
        has a row of its own. An item without words has no rows, but keeps its number.
    columns
        Names of columns, in their order, of those below; ``all`` stands for all that the model has. By
        default all but entropies and parts.
    base
        The unit of surprisal and entropy, with which the names of their columns end: 2 for ``bits``, ``"e"``
        for ``nats``, 10 for ``log10``.
    history
        How far back the model may look, as in `Model.with_history`; by default as it is. Items follow each
        other as the sentences of a text do.
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
            missing if it was not there. For a model without counts, as that of an ARPA file, log10 of its
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
    the           1.28951    False       2.79112
    cat           1.95972    False       2.69541
    slept         4.90689     True       2.81067
    </s>          2.40939    False       2.54689

    """
    if not isinstance(model, Model):
        model = open_model(model, progress=progress)
    if history is not None:
        model = model.with_history(history)
    chosen = WordColumns.create(model, columns, base)
    normalization = Normalization.from_recipe(model.metadata, model.vocabulary)
    if lowercase is not None:
        normalization = replace(normalization, lowercase=lowercase)
    block = block_of_sentences([items] if isinstance(items, str) else items, normalization)
    scorer = TextScorer(model, unknown)
    scored = scorer.score(block, chosen.features)
    for note in (*scorer.unknown.notes, scorer.count.note):
        if note is not None:
            warn_caller(note, UnknownWordsWarning)
    return Table(chosen.of(scored, progress=progress))
