"""The three texts of a reproduction, read once, and which are refused."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from pathlib import Path
from typing import Any, TypeAlias

from stategram.display import printable
from stategram.errors import BadDataError, UsageError
from stategram.paper.results import TextFigures
from stategram.progress import Progress
from stategram.storage import InputFile, file_sha256
from stategram.text import (
    Corpus,
    FormatOverride,
    Vocabulary,
    contains_text,
    corpus_from_sentences,
    read_corpus,
    require_known_words,
)

Source: TypeAlias = "Corpus | str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"
"""A corpus, the name of a file, or those of several."""
_USES = ("train", "heldout", "test")
IN_WORDS = {"train": "training text", "heldout": "held-out text", "test": "test text"}


@dataclass(frozen=True, eq=False)
class Texts:
    """The training, held-out and test text, in one vocabulary; `inputs` are their files."""

    train: Corpus
    heldout: Corpus
    test: Corpus
    inputs: tuple[InputFile, ...] = ()

    def __post_init__(self) -> None:
        for use, corpus in self._by_use():
            if corpus.n_events == 0:
                raise BadDataError(
                    f"{IN_WORDS[use]}: it has no words; give a text with one sentence per line"
                )
        for use, corpus in self._by_use()[1:]:
            try:
                require_known_words(corpus, corpus)
            except BadDataError as error:
                raise BadDataError(f"{IN_WORDS[use]}: {error}") from error
        for two in combinations(self._by_use(), 2):
            for (use, corpus), (other, text) in permutations(two):
                if contains_text(text, corpus):
                    raise UsageError(
                        f"the {IN_WORDS[use]} is in the {IN_WORDS[other]}, so the figures would mean "
                        "nothing; give texts that have nothing in common"
                    )

    def figures(self) -> tuple[TextFigures, ...]:
        """Return the size of each."""
        return tuple(
            TextFigures(
                use, text.n_sentences, text.n_events - text.n_sentences, text.n_events, text.n_unknown
            )
            for use, text in self._by_use()
        )

    def _by_use(self) -> list[tuple[str, Corpus]]:
        return list(zip(_USES, (self.train, self.heldout, self.test), strict=True))


def read_texts(
    train: Source,
    heldout: Source,
    test: Source,
    text_format: FormatOverride = None,
    *,
    vocabulary: Vocabulary | None = None,
    vocabulary_size: int | None = None,
    progress: Progress | None = None,
) -> Texts:
    """Read three texts, the last two in the vocabulary of the first; UsageError if one text is in another.

    The options are those of `read_corpus`.
    """
    inputs = [
        input_file(use, name)
        for use, source in zip(_USES, (train, heldout, test), strict=True)
        if not isinstance(source, Corpus)
        for name in _names(use, source)
    ]

    def read(use: str, source: Source, known: Vocabulary | None, size: int | None = None) -> Corpus:
        if isinstance(source, Corpus):
            return source if known is None else source.in_vocabulary(known)
        return read_corpus(
            _names(use, source),
            text_format,
            vocabulary=known,
            vocabulary_size=size,
            progress=progress if use == "train" else None,
        )

    first = read("train", train, vocabulary, vocabulary_size)
    second, third = read("heldout", heldout, first.vocabulary), read("test", test, first.vocabulary)
    return Texts(first, second, third, tuple(inputs))


def texts_of_sentences(sentences: Iterable[Sequence[str]], *, vocabulary_size: int, name: str) -> Texts:
    """Encode training, held-out and test sentences; `name` is where they are from."""
    train, heldout, test = sentences
    first = corpus_from_sentences(train, vocabulary_size=vocabulary_size)
    second, third = (corpus_from_sentences(one, vocabulary=first.vocabulary) for one in (heldout, test))
    inputs = []
    for use, one in zip(_USES, (train, heldout, test), strict=True):
        data = "\n".join(one).encode()
        inputs.append(InputFile(use=use, name=name, bytes=len(data), sha256=hashlib.sha256(data).hexdigest()))
    return Texts(first, second, third, tuple(inputs))


def input_file(use: str, name: str) -> InputFile:
    """Return a file of a text; UsageError if it cannot be read again when the run is continued."""
    path = Path(name)
    if name == "-" or (path.exists() and not path.is_file()):
        raise UsageError(
            f"{IN_WORDS.get(use, use)}: {name} is no file; give one, so that it can be read again"
        )
    if not path.exists():
        raise BadDataError(f"{IN_WORDS.get(use, use)}: {name}: no such file; check the name")
    return InputFile(use=use, name=printable(name), bytes=path.stat().st_size, sha256=file_sha256(path))


def _names(use: str, source: Any) -> list[str]:
    names = [source] if isinstance(source, str | os.PathLike) else list(source)
    if not names:
        raise UsageError(f"{IN_WORDS[use]}: no file is named; give one")
    return [os.fspath(name) for name in names]
