"""Damaged files of every kind that stategram reads, and what reads them."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fuzz.campaign import BrokenPromiseError, Campaign
from fuzz.mutation import damage_bytes
from model_kinds import corpora, model_of
from stategram import (
    NgramModel,
    Vocabulary,
    read_arpa,
    read_classes,
    read_corpus,
    read_counts,
    read_recipe,
    tags_from_conllu,
    tags_from_file,
    write_arpa,
    write_counts,
)
from stategram.counts import count_ngrams
from stategram.errors import StategramError
from stategram.formats import read_nbest, read_references
from stategram.text import TextFormat, read_line_blocks

Reader = Callable[[Path], object]

_TAGS = b"w1\tNOUN\t5\nw1\tVERB\t2\nw2\tDET\nw3\tNOUN\nw9\tADJ\n"
_CONLLU = (
    b"# sent_id = 1\n1\tw1\tw1\tNOUN\tNN\t_\t2\tnsubj\t_\t_\n2\tw2\tw2\tVERB\tVB\t_\t0\troot\t_\t_\n"
    b"2.1\tw4\tw4\tVERB\tVB\t_\t_\t_\t_\t_\n\n1-2\tw5\t_\t_\t_\t_\t_\t_\t_\t_\n1\tw1\tw1\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"
)
_CLASSES = {
    "tsv": b"w1\t0\t5\nw2\t0\t3\nw3\t1\t9\n",
    "srilm": b"C0 0.625 w1\nC0 0.375 w2\nC1 1 w3\n",
    "brown": b"00\tw1\t5\n00\tw2\t3\n01\tw3\t9\n",
    "json": b'{"classes": [{"class": 0, "words": [{"word": "w1", "count": 5}]}]}',
}
_RECIPE = b"""name = "mine"
[[parts]]
kind = "n-gram"
order = 3
smoothing = "kneser-ney"
[[parts]]
kind = "clustered"
context = "w-2,w-1"
states = 8
categories = 6
"""
_NBEST = b"u1-1 -10.5 w1 w2 w3\nu1-2 -11.25 w1 w3\nu2-1 -3 w4\n"
_REFERENCES = b"u1 w1 w2 w3\nu2 w4 w5\n"


class Files(Campaign):
    """Each try damages a file and reads it."""

    name = "files"
    promise = "a damaged file is read or refused with an error that says why"

    def __init__(self, place: Path, seed: int) -> None:
        super().__init__(place, seed)
        self.samples = list(_samples(place))

    def attempt(self, number: int) -> None:
        """Damage the next file."""
        chance = self.random(number)
        name, data, reader = self.samples[number % len(self.samples)]
        path = self.place / name
        path.write_bytes(damage_bytes(data, chance))
        try:
            reader(path)
        except StategramError as error:
            if not str(error).strip():
                raise BrokenPromiseError("an error without a word") from error


def _samples(place: Path) -> Iterator[tuple[str, bytes, Reader]]:
    """Return files of every kind: a name, what is in it, and what reads it."""
    train, heldout = corpora()
    vocabulary, model = train.vocabulary, model_of("ngram")
    assert isinstance(model, NgramModel)
    words = np.array(vocabulary.words)
    text = "".join(" ".join(words[train.sentence(i)[:-1]]) + "\n" for i in range(60)).encode()
    for name, data in _packed("text.txt", text):
        yield name, data, lambda path: read_corpus(path, TextFormat(lowercase=True))
    yield "scored.txt", text, lambda path: _score_text(model, path)
    write_arpa(model, place / "sample.arpa")
    for name, data in _packed("model.arpa", (place / "sample.arpa").read_bytes()):
        yield name, data, _use_arpa
    write_counts(count_ngrams(heldout.sentences(0, 30), 3), place / "sample.counts")
    yield "counts.txt", (place / "sample.counts").read_bytes(), _train_on_counts
    yield "vocabulary.txt", "\n".join(words[3:]).encode(), Vocabulary.from_file
    yield "tags.tsv", _TAGS, lambda path: tags_from_file(path, vocabulary)
    yield "tags.conllu", _CONLLU, lambda path: tags_from_conllu(path, vocabulary)
    for format, data in _CLASSES.items():
        yield f"classes.{format}", data, read_classes
    yield "recipe.toml", _RECIPE, read_recipe
    yield "nbest.txt", _NBEST, read_nbest
    yield "references.txt", _REFERENCES, read_references


def _packed(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    yield name, data
    for ending, pack in (("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)):
        yield f"{name}.{ending}", pack(data)


def _score_text(model: NgramModel, path: Path) -> None:
    state = model.start()
    for block in read_line_blocks(str(path), TextFormat(lowercase=True, encoding_errors="replace")):
        scores = model.score(block.corpus, state=state)
        state = scores.state
        require_log_probs(scores.log_probs)


def _use_arpa(path: Path) -> None:
    model = read_arpa(path)
    model.check()
    require_log_probs(model.score(["w1 w2 w3", "w4 stranger"]).log_probs)


def _train_on_counts(path: Path) -> None:
    model = NgramModel.from_counts(read_counts(path, order=3))
    require_log_probs(model.score(["w1 w2 w3", "w4 stranger"]).log_probs)


def require_log_probs(values: NDArray[np.float64]) -> None:
    """Refuse what cannot be logarithms of probabilities; a little above 0 is rounding."""
    if not bool((values < 1e-3).all()):
        raise BrokenPromiseError(f"log-probabilities of up to {values.max()}")
