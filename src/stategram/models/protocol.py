"""What every model can do, and what all of them do in the same way."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.models.packing import Packed, write_packed
from stategram.text import Corpus, Vocabulary


@runtime_checkable
class Model(Protocol):
    """Anything that gives p(w | history)."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The words it knows; all others are ``<unk>``."""

    @property
    def recipe(self) -> Mapping[str, Any]:
        """What it was trained with, as far as it is known, such as `lowercase` and `digits`."""

    @property
    def parameters(self) -> int:
        """The number of its probabilities and weights."""

    def log_probs(self, corpus: Corpus) -> NDArray[np.float64]:
        """Give the natural logarithm of the probability of each event."""

    def distribution(
        self, history: str | Sequence[str], *, sentence_start: bool = True
    ) -> NDArray[np.float64]:
        """Give the probability of each word of the vocabulary after a history, by its id."""

    def predict(
        self, history: str | Sequence[str], top: int = 10, *, sentence_start: bool = True
    ) -> list[tuple[str, float]]:
        """Give the most probable next words with their probabilities, the most probable first."""

    def bucket_features(
        self, corpus: Corpus, names: Collection[str] | None = None
    ) -> Mapping[str, NDArray[np.float32]]:
        """Give what the model knows of the history of each event: a name, and a value for each event.

        A mixture may choose its weights by it. It says nothing of the event itself: the sum of all
        probabilities after a history would not be one any more. `names` are those that are wanted, as far as
        the model has them; more may be given.
        """

    def history_features(
        self, history: str | Sequence[str], *, sentence_start: bool = True
    ) -> Mapping[str, float]:
        """Give what `bucket_features` gives, for a single history."""

    def check(self) -> None:
        """Look at every part; BadDataError if the model makes no sense."""

    def pack(self) -> Packed:
        """Give what a model folder has to hold."""

    def save(self, folder: str | os.PathLike[str], *, manifest: Mapping[str, Any] | None = None) -> None:
        """Write the model to a folder; `load_model` opens it."""


class SharedMethods:
    """What follows from the rest of a model."""

    def predict(
        self: Model, history: str | Sequence[str], top: int = 10, *, sentence_start: bool = True
    ) -> list[tuple[str, float]]:
        """Give the most probable next words with their probabilities, the most probable first."""
        if top < 1:
            raise UsageError(f"top is {top}; it must be at least 1")
        probabilities = self.distribution(history, sentence_start=sentence_start)
        best = np.argsort(-probabilities, kind="stable")[:top]
        return [(self.vocabulary.word(id), float(probabilities[id])) for id in best.tolist()]

    def save(
        self: Model, folder: str | os.PathLike[str], *, manifest: Mapping[str, Any] | None = None
    ) -> None:
        """Write the model to a folder; `load_model` opens it.

        Parameters
        ----------
        folder
            The folder; a model that is there already is replaced.
        manifest
            What else the manifest should say.

        """
        write_packed(folder, self.pack(), manifest or {})
