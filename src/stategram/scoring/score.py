"""Scores texts block by block, and writes their rows as one table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stategram.display import printable
from stategram.models import Model, UnknownWords
from stategram.progress import Progress, subprogress
from stategram.scoring.columns import ScoredBlock, Spans, WordColumns, sentence_columns
from stategram.tables import Table, TableWriter, TextColumn
from stategram.text import (
    END,
    UNKNOWN,
    LineBlock,
    SpacedWords,
    TableFormat,
    TextFormat,
    UnknownCount,
    display_name,
    read_line_blocks,
)


class TextScorer:
    """Scores blocks of lines, each from the state after the one before; `unknown` as in `UnknownWords`."""

    def __init__(self, model: Model, unknown: str = "unk") -> None:
        self.model = model
        self.unknown = UnknownWords(model, unknown)
        self.count = UnknownCount()
        self.restart()

    def restart(self) -> None:
        """Forget the lines so far, as before another text; unknown words are counted on."""
        self._state = self.model.start()

    def score(
        self, block: LineBlock, features: Collection[str] = (), progress: Progress | None = None
    ) -> ScoredBlock:
        """Score the next lines; `progress` is that of entropies, which are computed when they are used."""
        before = self._state
        scores = self.model.score(block.corpus, features=features, state=before)
        self._state = scores.state
        self.count.add(block.corpus, scores.corpus)
        return ScoredBlock(
            self, block, scores, self.unknown.log_probs(scores, block.corpus), before, progress
        )

    @property
    def notes(self) -> list[str]:
        """What a user should know of the unknown words so far."""
        of_choice = self.unknown.notes if self.count.unknown else []
        return [note for note in (*of_choice, self.count.note) if note is not None]

    @cached_property
    def log10_frequencies(self) -> NDArray[np.float64]:
        """For each word, log10 of its relative frequency in the training text; nan if it is not known.

        A model that knows no counts, as one of an ARPA file, has unigram probabilities in their place.
        """
        frequencies = self.model.vocabulary.counts.astype(np.float64)
        if frequencies[END] == 0:  # not those of a text, not of all of it at least
            frequencies = self.model.distribution(self.model.start(sentence_start=False))
        with np.errstate(divide="ignore"):
            logs: NDArray[np.float64] = np.log10(frequencies / frequencies.sum())
        logs[np.isinf(logs)] = np.nan
        logs[UNKNOWN] = np.nan  # the frequency of all unknown words together is not that of one
        return logs


def score_texts(
    texts: Sequence[str],
    scorer: TextScorer,
    columns: WordColumns,
    by: str,
    text_format: TextFormat,
    output: str,
    format: TableFormat = "tsv",
    progress: Progress | None = None,
) -> int:
    """Write the rows of texts, each scored for itself; return how many sentence markers were dropped.

    There is a row per token, word or sentence; those of several texts begin with the name of the text.
    """
    dropped = 0
    with TableWriter(output, format) as writer:
        for number, text in enumerate(texts):
            of_text = subprogress(progress, number / len(texts), (number + 1) / len(texts))
            scorer.restart()
            for block in read_line_blocks(text, text_format, progress=of_text, live=True):
                scored = scorer.score(block, columns.features, of_text)
                dropped += block.corpus.stats.n_dropped
                if by == "word" and block.source is not None:
                    words = SpacedWords.of(block.source.texts, block, text_format)
                    found = Spans(words.of_events, words.texts, words.words).columns(columns, scored)
                    if "sentence" in found:  # of tables, several lines may be of one row
                        found["sentence"] = block.source.number(words.texts)
                else:
                    found = sentence_columns(scored) if by == "sentence" else columns.of(scored)
                if len(texts) > 1:
                    found = {"file": _repeated(text, len(next(iter(found.values()))))} | found
                writer.write(Table(found))
    return dropped


def _repeated(text: str, n_rows: int) -> TextColumn:
    one = TextColumn.from_strings([printable(display_name(text))])
    return TextColumn(one.letters, one.offsets, np.zeros(n_rows, np.uint32), verbatim=True)
