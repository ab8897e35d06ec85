"""Scores texts block by block, and writes their rows as one table; here or by workers."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stategram.models import Model, UnknownWords
from stategram.progress import Progress, report_each
from stategram.resources import Resources
from stategram.scoring.columns import ScoredBlock, WordColumns, sentence_columns
from stategram.scoring.pieces import ModelSource, keep_models
from stategram.storage import atomic_open, shared_file, temporary_folder
from stategram.tables import Table, TableFormat, TableWriter, TextColumn
from stategram.text import (
    END,
    UNKNOWN,
    LineBlock,
    TextFormat,
    UnknownCount,
    display_name,
    read_line_blocks,
)
from stategram.wording import printable


class TextScorer:
    """Scores blocks of lines, each from the state after the one before; `unknown` as in `UnknownWords`."""

    def __init__(self, model: Model, unknown: str = "unk") -> None:
        self.model = model
        self.unknown = UnknownWords(model, unknown)
        self.count = UnknownCount()
        self._state = model.start()

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


@dataclass(frozen=True)
class TextScoring:
    """How texts are scored and their rows are written."""

    columns: tuple[str, ...] | None
    """Those of words; None for a row per sentence."""
    base: str
    unknown: str
    text_format: TextFormat
    format: TableFormat = "tsv"
    header: bool = True
    with_name: bool = False
    """Whether the first column has the name of the text."""
    line_buffered: bool = False


def score_text(
    text: str, scoring: TextScoring, scorer: TextScorer, output: str, progress: Progress | None = None
) -> int:
    """Write the rows of a text; return how many sentence markers were dropped."""
    columns = None
    if scoring.columns is not None:
        columns = WordColumns.create(scorer.model, scoring.columns, scoring.base)
    blocks = read_line_blocks(
        text,
        scoring.text_format,
        progress=progress,
        live=True,
    )
    dropped = 0
    with TableWriter(output, scoring.format, header=scoring.header) as writer:
        for block in _lines(blocks) if scoring.line_buffered else blocks:
            scored = scorer.score(block, columns.features if columns else (), progress)
            dropped += block.corpus.stats.n_dropped
            found = columns.of(scored) if columns else sentence_columns(scored)
            if scoring.with_name:
                found = {"file": _repeated(text, len(next(iter(found.values()))))} | found
            writer.write(Table(found))
            if scoring.line_buffered:
                writer.flush()
    return dropped


def score_texts(
    texts: Sequence[str],
    scoring: TextScoring,
    scorer: TextScorer,
    model: ModelSource,
    output: str,
    progress: Progress | None = None,
) -> int:
    """Write the rows of several texts, each scored for itself; return how many sentence markers were dropped.

    `model` is where workers find the model of `scorer`, which counts the unknown words of all texts.
    """
    keep_models({model: scorer.model})
    dropped = 0
    with _parts_folder(output) as folder, atomic_open(output) as file:
        parts = [
            _Part(
                text,
                str(folder / f"part-{number}"),
                model,
                replace(scoring, header=number == 0 and scoring.header),
            )
            for number, text in enumerate(texts)
        ]
        scored = report_each(Resources.current().map(_score_part, parts), len(parts), "texts", progress)
        for part, (its_dropped, unknown) in zip(parts, scored, strict=True):
            rows = shared_file(part.output)
            with rows.open("rb") as written:
                while block := written.read(1 << 22):
                    file.write(block)
            rows.unlink()
            dropped += its_dropped
            scorer.count += unknown
    return dropped


@contextmanager
def _parts_folder(output: str) -> Iterator[Path]:
    """Make a folder that all workers see as long as they see the output; for stdout, one in --tmp."""
    if output == "-" or (Path(output).exists() and not Path(output).is_file()):
        with tempfile.TemporaryDirectory(prefix="stategram-", dir=Resources.current().tmp) as name:
            yield Path(name)
    else:
        with temporary_folder(Path(output)) as folder:
            yield folder


@dataclass(frozen=True)
class _Part:
    text: str
    output: str
    model: ModelSource
    scoring: TextScoring

    def __str__(self) -> str:
        return display_name(self.text)


def _score_part(part: _Part) -> tuple[int, UnknownCount]:
    scorer = TextScorer(part.model.open(), part.scoring.unknown)
    return score_text(part.text, part.scoring, scorer, part.output), scorer.count


def _repeated(text: str, n_rows: int) -> TextColumn:
    one = TextColumn.from_strings([printable(display_name(text))])
    return TextColumn(one.letters, one.offsets, np.zeros(n_rows, np.uint32), verbatim=True)


def _lines(blocks: Iterator[LineBlock]) -> Iterator[LineBlock]:
    """Yield the sentences of blocks one by one."""
    for block in blocks:
        for number in range(block.corpus.n_sentences):
            corpus = block.corpus.sentences(number, number + 1)
            yield replace(block, corpus=corpus, lines=block.lines[number : number + 1])
