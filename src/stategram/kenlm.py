"""The interface of the Python package `kenlm`, for the models of stategram.

``from stategram import kenlm`` in place of ``import kenlm`` is the only change a program needs.

Where numbers differ:

- KenLM gives sums of float32; here they are float64, so that the last digits differ.
- A word of no probability, such as ``<s>`` within a sentence, has the log10 probability -99, which stands for
  it in ARPA files. KenLM adds back-off weights to it.
- Where pruning has taken n-grams, KenLM may give the length of one that it has added for itself, with the
  probability that backing off gives. Here ``ngram_length`` is that of an n-gram of the model.

Any kind of model can be used. ``ngram_length`` is 0 where a model has no n-grams of words, as a mixture.

Sentences are split where KenLM does, at the white space of ASCII. Texts that are trained on or evaluated, and
sentences that ``Model.score`` is given, are split at that of Unicode.

A model file is open at once, as a binary file of KenLM is: its checksums are not verified. Damage may give
wrong numbers, or a ``stategram.BadDataError`` when it is met; ``stategram info --verify`` finds it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from stategram import _core, models
from stategram._core import DecoderState as State
from stategram._core import FullScore as FullScoreReturn
from stategram.errors import StategramError
from stategram.formats import open_model
from stategram.text import END, SPECIAL_WORDS, UNKNOWN

__all__ = [
    "ARPALoadComplain",
    "Config",
    "FullScoreReturn",
    "LanguageModel",
    "LoadMethod",
    "Model",
    "State",
]

_UNKNOWN, _END = SPECIAL_WORDS[UNKNOWN], SPECIAL_WORDS[END]
_LN_10 = math.log(10.0)
_ZERO = -99.0  # what ARPA files have for log10(0)


class LoadMethod:
    """How KenLM reads a file; stategram always maps it."""

    LAZY: ClassVar[int] = 0
    POPULATE_OR_LAZY: ClassVar[int] = 1
    POPULATE_OR_READ: ClassVar[int] = 2
    READ: ClassVar[int] = 3
    PARALLEL_READ: ClassVar[int] = 4


class ARPALoadComplain:
    """What KenLM complains about."""

    ALL: ClassVar[int] = 0
    EXPENSIVE: ClassVar[int] = 1
    NONE: ClassVar[int] = 2


@dataclass
class Config:
    """Options of KenLM, accepted and ignored."""

    show_progress: bool = True
    load_method: int = LoadMethod.POPULATE_OR_READ
    arpa_complain: int = ARPALoadComplain.ALL


class Model(_core.DecoderModel):
    """A language model: a model file of stategram or an ARPA file.

    Parameters
    ----------
    path
        The model file, or an ARPA file.
    config
        Ignored.

    Raises
    ------
    OSError
        If it cannot be read.

    """

    def __init__(self, path: str | bytes | os.PathLike[str], config: Config | None = None) -> None:
        place = Path(os.fsdecode(path)).absolute()
        try:
            model = open_model(place, verify=False)
            stepper = model.stepper
        except StategramError as error:
            raise OSError(f"Cannot read model '{place}' ({error})") from error
        self.path = os.fsencode(place)
        """The file; bytes, as in KenLM."""
        self._order = model.order
        super().__init__(
            model.vocabulary.letters,
            model.vocabulary.offsets,
            stepper,
            _PythonModel(model) if stepper is None else None,
            lambda damage: models.damage_error(place, damage),
        )

    @property
    def order(self) -> int:
        """The maximum n-gram order."""
        return self._order

    def __repr__(self) -> str:
        return f"<Model from {Path(os.fsdecode(self.path)).name}>"

    def __reduce__(self) -> tuple[type[Model], tuple[bytes]]:
        return type(self), (self.path,)


class LanguageModel(Model):
    """The old name of `Model`."""


class _PythonModel:
    """What `Model` does with a model that has no stepper."""

    def __init__(self, model: models.Model) -> None:
        self._model = model

    def start(self, bos: bool) -> models.State:
        return self._model.start(sentence_start=bos)

    def score(self, sentence: str | bytes, bos: bool, eos: bool) -> float:
        return sum(log_prob for log_prob, _, _ in self.full_scores(sentence, bos, eos))

    def full_scores(self, sentence: str | bytes, bos: bool, eos: bool) -> Iterator[tuple[float, int, bool]]:
        words = [self._known(word) for word in _words(sentence)]
        if eos:
            words.append(_END)
        scores = self._model.score(models.open_sentence(self._model, words), state=self.start(bos))
        orders = np.zeros(len(words), np.uint8) if scores.orders is None else scores.orders
        log10_probs: NDArray[np.float64] = np.maximum(scores.log_probs / _LN_10, _ZERO)
        return zip(log10_probs.tolist(), orders.tolist(), scores.unknown.tolist(), strict=True)

    def full_score(
        self, state: models.State | None, word: str | bytes
    ) -> tuple[float, models.State, int, bool]:
        text = _text(word)
        log_prob, after, order = self._model.advance(state or self.start(False), self._known(text))
        if text == _END:  # KenLM does not start a sentence by itself
            after = self.start(False)
        return max(log_prob / _LN_10, _ZERO), after, order or 0, text not in self._model

    def _known(self, word: str) -> str:
        # stategram refuses unknown words that hold white space, KenLM does not.
        return word if word in self._model else _UNKNOWN


def _text(text: str | bytes) -> str:
    if isinstance(text, bytes):
        return text.decode(errors="surrogateescape")
    if isinstance(text, str):
        return text
    raise TypeError(f"Cannot convert {type(text)} to string")


def _words(sentence: str | bytes) -> list[str]:
    """Split where KenLM does: at the white space of ASCII only."""
    data = sentence if isinstance(sentence, bytes) else _text(sentence).encode(errors="surrogatepass")
    return [word.decode(errors="surrogateescape") for word in data.split()]
