"""The interface of the Python package `kenlm`, for the models of stategram.

``from stategram import kenlm`` in place of ``import kenlm`` is the only change a program needs.

Where numbers differ:

- KenLM gives sums of float32; here they are float64, so that the last digits differ.
- A word of no probability, such as ``<s>`` within a sentence, has the log10 probability -99, which stands for
  it in ARPA files. KenLM adds back-off weights to it.
- Where pruning has taken n-grams, KenLM may give the length of one that it has added for itself, with the
  probability that backing off gives. Here ``ngram_length`` is that of an n-gram of the model.

Sentences are split where KenLM does, at the white space of ASCII. Texts that are trained on or evaluated, and
sentences that ``NgramModel.score`` is given, are split at that of Unicode.

A model folder is open at once, as a binary file of KenLM is: its checksums are not looked at. Damage may give
wrong numbers, or a ``stategram.BadDataError`` when it is met; ``stategram verify`` finds it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from stategram.errors import StategramError
from stategram.models import NgramModel, load_model

_ZERO = -99.0  # what ARPA files have for log10(0)

# White space for str, but not for bytes.
_SEPARATORS = "\x1c\x1d\x1e\x1f"


class LoadMethod:
    """How KenLM reads a file; stategram maps it, whatever is asked for."""

    LAZY: ClassVar[int] = 0
    POPULATE_OR_LAZY: ClassVar[int] = 1
    POPULATE_OR_READ: ClassVar[int] = 2
    READ: ClassVar[int] = 3
    PARALLEL_READ: ClassVar[int] = 4


class ARPALoadComplain:
    """Of what KenLM complains."""

    ALL: ClassVar[int] = 0
    EXPENSIVE: ClassVar[int] = 1
    NONE: ClassVar[int] = 2


@dataclass
class Config:
    """Options of KenLM, taken and not looked at."""

    show_progress: bool = True
    load_method: int = LoadMethod.POPULATE_OR_READ
    arpa_complain: int = ARPALoadComplain.ALL


@dataclass(unsafe_hash=True)
class State:
    """What a model has to know of the words so far. Written by a model, equal where no future can differ."""

    _node: int = 0


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
        Not looked at.

    Raises
    ------
    OSError
        If it cannot be read.

    """

    def __init__(self, path: str | bytes | os.PathLike[str], config: Config | None = None) -> None:
        self.path = str(Path(os.fsdecode(path)).absolute())
        try:
            self._model = _open(Path(self.path))
        except StategramError as error:
            raise OSError(f"Cannot read model '{self.path}' ({error})") from error

    @property
    def order(self) -> int:
        """The number of words of the longest n-grams."""
        return self._model.order

    def score(self, sentence: str | bytes, bos: bool = True, eos: bool = True) -> float:
        """Give the log10 probability of a sentence, with its beginning and its end unless told otherwise."""
        words = _words(sentence)
        score = self._model.score(words, bos, eos)
        if score > -math.inf:
            return score
        return sum(_finite(one) for one, _, _ in self._model.full_scores(words, bos, eos))

    def full_scores(
        self, sentence: str | bytes, bos: bool = True, eos: bool = True
    ) -> Iterator[tuple[float, int, bool]]:
        """Give for each word: its log10 probability, the length of its n-gram, whether it is unknown."""
        for log10_prob, length, unknown in self._model.full_scores(_words(sentence), bos, eos):
            yield _finite(log10_prob), length, unknown

    def perplexity(self, sentence: str | bytes) -> float:
        """Give the perplexity of a sentence and its end."""
        words = _words(sentence)
        perplexity = self._model.perplexity(words)
        if perplexity < math.inf:
            return perplexity
        scores = [_finite(one) for one, _, _ in self._model.full_scores(words)]
        return math.pow(10.0, -sum(scores) / len(scores))

    def __contains__(self, word: str | bytes) -> bool:
        return _text(word) in self._model

    def BeginSentenceWrite(self, state: State) -> None:
        """Set a state to the beginning of a sentence."""
        state._node = self._model.begin_state

    def NullContextWrite(self, state: State) -> None:
        """Set a state to one that knows of no words."""
        state._node = 0

    def BaseScore(self, in_state: State, word: str | bytes, out_state: State) -> float:
        """Give the log10 probability of a word after a state and write the state after it."""
        return self.BaseFullScore(in_state, word, out_state).log_prob

    def BaseFullScore(self, in_state: State, word: str | bytes, out_state: State) -> FullScoreReturn:
        """Give what `full_scores` gives for a word after a state and write the state after it."""
        text = _text(word)
        log10_prob, out_state._node, length = self._model.advance(in_state._node, text)
        return FullScoreReturn(_finite(log10_prob), length, text not in self._model)

    def __repr__(self) -> str:
        return f"<Model from {Path(self.path).name}>"

    def __reduce__(self) -> tuple[type[Model], tuple[str]]:
        return type(self), (self.path,)


class LanguageModel(Model):
    """The old name of `Model`."""


def _open(path: Path) -> NgramModel:
    if path.is_dir():
        return load_model(path, NgramModel, verify=False)
    from stategram.formats import read_arpa

    return read_arpa(path)


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
