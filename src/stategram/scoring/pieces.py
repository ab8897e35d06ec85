"""A text that is scored piece by piece on workers; the pieces and their scores go through files."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.errors import StategramError
from stategram.evaluation import EVENTS_PER_PIECE
from stategram.models import Model, PartScores, Scores
from stategram.progress import Progress, report_each
from stategram.resources import Resources
from stategram.scoring.model_source import ModelSource
from stategram.storage import atomic_write
from stategram.text import Corpus

_PartFigures = tuple[str, float, float, bool]
"""Of a part of a mixture on a piece: name, perplexity, weight, whether it predicts unknown words."""


@dataclass(frozen=True)
class PieceScorer:
    """Scores a text in the vocabulary of a model by the workers of the current executor.

    Parameters
    ----------
    source
        Where workers find the model.
    folder
        A folder for files, which all of them see.
    progress
        Called with the fraction of the pieces that are scored.

    """

    source: ModelSource
    folder: Path
    progress: Progress | None = None

    def __call__(self, model: Model, corpus: Corpus) -> Scores:
        """Return the scores of a text; one that depends on earlier sentences is scored here."""
        if model.looks_back or corpus.n_events == 0:
            return model.score(corpus)
        pieces = [piece for _, piece in corpus.pieces(EVENTS_PER_PIECE)]
        tasks = [_Task(number, len(pieces), self.source, str(self.folder)) for number in range(len(pieces))]
        for task, piece in zip(tasks, pieces, strict=True):
            _save(task.text, {"ids": piece.ids, "sentence_starts": piece.sentence_starts})
        results = Resources.current().map(_score, tasks)
        shown = report_each(results, len(tasks), "pieces of the text", self.progress)
        found = [
            task.scores_of(model, piece, parts)
            for task, piece, parts in zip(tasks, pieces, shown, strict=True)
        ]
        return Scores.join(corpus, found)


@dataclass(frozen=True)
class _Task:
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


def _score(task: _Task) -> list[_PartFigures]:
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
    try:
        with np.load(file, allow_pickle=False) as arrays:
            return dict(arrays)
    except FileNotFoundError as error:
        raise StategramError(
            f"{file} is not visible on this machine; --tmp has to be a folder that all machines share"
        ) from error
