"""What workers score: a model, opened once in each process, and a text in pieces, as files."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.errors import StategramError
from stategram.formats import open_model
from stategram.models import Model, PartScores, Scores
from stategram.progress import Progress, report_each
from stategram.resources import Resources
from stategram.storage import archive_digest, atomic_write, file_sha256, is_archive, shared_file
from stategram.text import Corpus


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
    with np.load(shared_file(file), allow_pickle=False) as arrays:
        return dict(arrays)
