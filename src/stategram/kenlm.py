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

A model folder is open at once, as a binary file of KenLM is: its checksums are not verified. Damage may give
wrong numbers, or a ``stategram.BadDataError`` when it is met; ``stategram verify`` finds it.
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

from stategram import models
from stategram.errors import StategramError
from stategram.formats import open_model
from stategram.text import END, SPECIAL_WORDS

_END = SPECIAL_WORDS[END]
_LN_10 = math.log(10.0)
_ZERO = -99.0  # what ARPA files have for log10(0)

# White space for str, but not for bytes.
_SEPARATORS = "\x1c\x1d\x1e\x1f"


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


@dataclass(unsafe_hash=True)
class State:
    """What a model has to know of the words so far. Written by a model, equal where no future can differ."""

    _state: models.State | None = None


@dataclass(frozen=True)
class FullScoreReturn:
    """The log10 probability of a word, the length of its n-gram, whether it is out of the vocabulary."""

    log_prob: float
    ngram_length: int
    oov: bool


class Model:
    """A language model: a model folder of stategram or an ARPA file.

    Parameters
    ----------
    path
        The folder or the file.
    config
        Ignored.

    Raises
    ------
    OSError
        If it cannot be read.

    """

    def __init__(self, path: str | bytes | os.PathLike[str], config: Config | None = None) -> None:
        self.path = str(Path(os.fsdecode(path)).absolute())
        try:
            self._model = open_model(self.path, verify=False)
        except StategramError as error:
            raise OSError(f"Cannot read model '{self.path}' ({error})") from error

    @property
    def order(self) -> int:
        """The number of words of the longest n-grams."""
        return self._model.order

    def score(self, sentence: str | bytes, bos: bool = True, eos: bool = True) -> float:
        """Return the log10 probability of a sentence, with its beginning and its end by default."""
        log10_probs, _ = self._scores(_words(sentence), bos, eos)
        score = float(log10_probs.sum())
        return score if score > -math.inf else sum(map(_finite, log10_probs.tolist()))

    def full_scores(
        self, sentence: str | bytes, bos: bool = True, eos: bool = True
    ) -> Iterator[tuple[float, int, bool]]:
        """Return for each word: its log10 probability, the length of its n-gram, whether it is unknown."""
        words = _words(sentence)
        log10_probs, orders = self._scores(words, bos, eos)
        if eos:
            words.append(_END)
        for word, log10_prob, order in zip(words, log10_probs.tolist(), orders.tolist(), strict=True):
            yield _finite(log10_prob), order, word not in self._model

    def perplexity(self, sentence: str | bytes) -> float:
        """Return the perplexity of a sentence and its end."""
        words = _words(sentence)
        return math.pow(10.0, -self.score(sentence) / (len(words) + 1))

    def __contains__(self, word: str | bytes) -> bool:
        return _text(word) in self._model

    def BeginSentenceWrite(self, state: State) -> None:
        """Set a state to the beginning of a sentence."""
        state._state = self._model.start()

    def NullContextWrite(self, state: State) -> None:
        """Set a state to one that knows of no words."""
        state._state = self._model.start(sentence_start=False)

    def BaseScore(self, in_state: State, word: str | bytes, out_state: State) -> float:
        """Return the log10 probability of a word after a state and write the state after it."""
        return self.BaseFullScore(in_state, word, out_state).log_prob

    def BaseFullScore(self, in_state: State, word: str | bytes, out_state: State) -> FullScoreReturn:
        """Return what `full_scores` has for a word after a state and write the state after it."""
        text = _text(word)
        before = in_state._state or self._model.start(sentence_start=False)
        log_prob, out_state._state, order = self._model.advance(before, text)
        if text == _END:  # KenLM does not start a sentence by itself
            self.NullContextWrite(out_state)
        return FullScoreReturn(_finite(log_prob / _LN_10), order or 0, text not in self._model)

    def _scores(
        self, words: list[str], bos: bool, eos: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
        start = self._model.start(sentence_start=bos)
        return self._model.kenlm_scores([*words, _END] if eos else words, start)

    def __repr__(self) -> str:
        return f"<Model from {Path(self.path).name}>"

    def __reduce__(self) -> tuple[type[Model], tuple[str]]:
        return type(self), (self.path,)


class LanguageModel(Model):
    """The old name of `Model`."""


def _finite(log10_prob: float) -> float:
    return log10_prob if log10_prob > -math.inf else _ZERO


def _text(text: str | bytes) -> str:
    if isinstance(text, bytes):
        return text.decode(errors="surrogateescape")
    if isinstance(text, str):
        return text
    raise TypeError(f"Cannot convert {type(text)} to string")


def _words(sentence: str | bytes) -> list[str]:
    """Split where KenLM does: at the white space of ASCII only."""
    text = _text(sentence)
    if text.isascii() and not any(separator in text for separator in _SEPARATORS):
        return text.split()
    data = text.encode(errors="surrogateescape")
    return [word.decode(errors="surrogateescape") for word in data.split()]
