"""The scores of texts as parts of one table: what `stategram score` runs, here or on workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from stategram.errors import StategramError
from stategram.progress import Progress
from stategram.resources import Resources
from stategram.scoring.model_source import ModelSource
from stategram.scoring.sentence_columns import sentence_columns
from stategram.scoring.text_scorer import TextScorer
from stategram.scoring.word_columns import WordColumns
from stategram.tables import Table, TableFormat, TableWriter, TextColumn
from stategram.text import (
    EncodingErrors,
    LineBlock,
    Normalization,
    UnknownCount,
    display_name,
    read_line_blocks,
)
from stategram.wording import printable


@dataclass(frozen=True)
class TextScoring:
    """How texts are scored.

    Parameters
    ----------
    columns, base
        The columns of words; None for a row per sentence.
    unknown
        What is done with unknown words.
    normalization, encoding_errors, document_mark
        How texts are read.
    with_name
        Whether the first column has the name of the text.
    line_buffered
        Whether each line is scored and written on its own.

    """

    columns: tuple[str, ...] | None
    base: str
    unknown: str
    normalization: Normalization
    encoding_errors: EncodingErrors = "strict"
    document_mark: str | None = None
    with_name: bool = False
    line_buffered: bool = False

    def score(
        self, scorer: TextScorer, text: str, writer: TableWriter, progress: Progress | None = None
    ) -> int:
        """Write the rows of a text, block by block; return how many sentence markers were dropped."""
        chosen = None if self.columns is None else WordColumns.create(scorer.model, self.columns, self.base)
        blocks = read_line_blocks(
            text,
            self.normalization,
            encoding_errors=self.encoding_errors,
            document_mark=self.document_mark,
            progress=progress,
            live=True,
        )
        dropped = 0
        for block in _lines(blocks) if self.line_buffered else blocks:
            scored = scorer.score(block, chosen.features if chosen else ())
            dropped += block.corpus.stats.n_dropped
            found = chosen.of(scored, progress) if chosen else sentence_columns(scored)
            if self.with_name:
                found = {"file": _repeated(text, len(next(iter(found.values()))))} | found
            writer.write(Table(found))
            if self.line_buffered:
                writer.flush()
        return dropped


@dataclass(frozen=True)
class TextCounts:
    """What was counted while a text was scored."""

    dropped: int
    unknown: UnknownCount


@dataclass(frozen=True)
class TablePart:
    """A text whose rows are a part of a table.

    Parameters
    ----------
    text
        The name of the text.
    place
        The file of its rows.
    with_header
        Whether that begins with the names of the columns.
    format
        The format of the table.
    model
        The model.
    scoring
        How the text is scored.

    """

    text: str
    place: str
    with_header: bool
    format: TableFormat
    model: ModelSource
    scoring: TextScoring

    def __str__(self) -> str:
        return display_name(self.text)


def score_part(part: TablePart) -> TextCounts:
    """Write the rows of a text."""
    scorer = TextScorer(part.model.open(), part.scoring.unknown)
    with TableWriter(part.place, part.format, header=part.with_header) as writer:
        return TextCounts(part.scoring.score(scorer, part.text, writer), scorer.count)


def score_parts(parts: Sequence[TablePart]) -> Iterator[tuple[TablePart, TextCounts]]:
    """Yield the parts of a table in their order, as soon as they are written."""
    for part, counts in zip(parts, Resources.current().map(score_part, parts), strict=True):
        if not Path(part.place).exists():
            raise StategramError(
                f"a worker has written the scores of {part} to {part.place}, which is not visible on this "
                "machine; the output (or, for stdout, --tmp) has to be in a folder that all machines share"
            )
        yield part, counts


def _repeated(text: str, n_rows: int) -> TextColumn:
    one = TextColumn.from_strings([printable(display_name(text))])
    return TextColumn(one.letters, one.offsets, np.zeros(n_rows, np.uint32), verbatim=True)


def _lines(blocks: Iterator[LineBlock]) -> Iterator[LineBlock]:
    """Yield the sentences of blocks one by one."""
    for block in blocks:
        for number in range(block.corpus.n_sentences):
            corpus = block.corpus.sentences(number, number + 1)
            yield replace(block, corpus=corpus, lines=block.lines[number : number + 1])
