"""Scores texts block by block, and writes their rows as one table; or in pieces, by workers."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.errors import StategramError
from stategram.formats import open_model
from stategram.models import Model, PartScores, Scores, UnknownWords
from stategram.progress import Progress, report_each
from stategram.resources import Resources
from stategram.scoring.columns import ScoredBlock, WordColumns, sentence_columns
from stategram.storage import (
    archive_digest,
    atomic_open,
    atomic_write,
    file_sha256,
    is_archive,
    shared_file,
    temporary_folder,
)
from stategram.tables import Table, TableFormat, TableWriter, TextColumn
from stategram.text import (
    END,
    UNKNOWN,
    Corpus,
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
        for block in blocks:
            scored = scorer.score(block, columns.features if columns else (), progress)
            dropped += block.corpus.stats.n_dropped
            found = columns.of(scored) if columns else sentence_columns(scored)
            if scoring.with_name:
                found = {"file": _repeated(text, len(next(iter(found.values()))))} | found
            writer.write(Table(found))
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
                replace(scoring, header=number == 0),
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


@dataclass(frozen=True)
class ModelSource:
    """A model that tasks open: its file, what distinguishes it from others, and how it is opened."""

    name: str
    digest: str
    verify: bool
    history: str | None
    """As in `Model.with_history`; None as it is."""

    @classmethod
    def of(cls, name: str, *, verify: bool, history: str | None = None) -> ModelSource:
        """Return a model as it is now."""
        return cls(name, _digest(name), verify, history)

    def open(self) -> Model:
        """Return the model, kept from the task before if it is the same; it must not have changed."""
        if _digest(self.name) != self.digest:
            raise StategramError(
                f"{self.name} is not the model that the command has opened; give it a name under which all "
                "workers find the same files, and do not change it meanwhile"
            )
        model = _kept.get(self)
        if model is None:
            model = open_model(self.name, verify=self.verify)
            model = model if self.history is None else model.with_history(self.history)
            keep_models({self: model})
        return model


_kept: dict[ModelSource, Model] = {}


def keep_models(models: Mapping[ModelSource, Model]) -> None:
    """Keep models for the next tasks of this process, in place of those before."""
    _kept.clear()
    _kept.update(models)


def _digest(name: str) -> str:
    is_ours = is_archive(name)
    if is_ours is None:
        raise StategramError(f"{name}: no such model; give it a name under which all workers find it")
    if is_ours:
        return archive_digest(name)
    found = Path(name).stat()
    return _file_digest(name, (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino))


@lru_cache(maxsize=4)
def _file_digest(name: str, state: tuple[int, ...]) -> str:
    """Return the SHA-256 of an ARPA file, which is read again once its size, times or inode have changed."""
    return file_sha256(Path(name))


_PartFigures = tuple[str, float, float, bool]
"""Of a part of a mixture on a piece: name, perplexity, weight, whether it predicts unknown words."""


@dataclass(frozen=True)
class PieceScorer:
    """Scores a text by the workers of the current executor, who see `source` and the files of `folder`."""

    source: ModelSource
    folder: Path
    progress: Progress | None = None

    def __call__(self, model: Model, corpus: Corpus) -> Scores:
        """Return the scores of a text; one that depends on earlier sentences is scored here."""
        if model.looks_back or corpus.n_events == 0:
            return model.score(corpus)
        pieces = [piece for _, piece in corpus.pieces()]
        tasks = [_Piece(number, len(pieces), self.source, str(self.folder)) for number in range(len(pieces))]
        for task, piece in zip(tasks, pieces, strict=True):
            _save(task.text, {"ids": piece.ids, "sentence_starts": piece.sentence_starts})
        results = Resources.current().map(_score_piece, tasks)
        shown = report_each(results, len(tasks), "pieces of the text", self.progress)
        found = [
            task.scores_of(model, piece, parts)
            for task, piece, parts in zip(tasks, pieces, shown, strict=True)
        ]
        return Scores.join(corpus, found)


@dataclass(frozen=True)
class _Piece:
    number: int
    total: int
    source: ModelSource
    folder: str

    def __str__(self) -> str:
        return f"piece {self.number + 1} of {self.total} of the text"

    @property
    def text(self) -> Path:
        return Path(self.folder, f"text-{self.number}.npz")

    @property
    def scores(self) -> Path:
        return Path(self.folder, f"scores-{self.number}.npz")

    def scores_of(self, model: Model, piece: Corpus, parts: list[_PartFigures]) -> Scores:
        arrays = _load(self.scores)
        return Scores(
            piece,
            arrays["log_probs"],
            model.start(),
            arrays.get("orders"),
            parts=tuple(
                PartScores(name, perplexity, weight, arrays[f"part-{number}"], predicts_unknown)
                for number, (name, perplexity, weight, predicts_unknown) in enumerate(parts)
            ),
            predicts_unknown=model.predicts_unknown,
        )


def _score_piece(task: _Piece) -> list[_PartFigures]:
    """Write the scores of a piece."""
    arrays = _load(task.text)
    model = task.source.open()
    scores = model.score(Corpus(arrays["ids"], arrays["sentence_starts"], model.vocabulary))
    found: dict[str, NDArray[Any]] = {"log_probs": scores.log_probs}
    if scores.orders is not None:
        found["orders"] = scores.orders
    found |= {f"part-{number}": part.sentence_log_probs for number, part in enumerate(scores.parts)}
    _save(task.scores, found)
    return [(part.name, part.perplexity, part.weight, part.predicts_unknown) for part in scores.parts]


def _save(file: Path, arrays: dict[str, NDArray[Any]]) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # a name could be that of another parameter
    atomic_write(file, buffer.getbuffer())


def _load(file: Path) -> dict[str, NDArray[Any]]:
    with np.load(shared_file(file), allow_pickle=False) as arrays:
        return dict(arrays)
