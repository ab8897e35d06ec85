"""The values of contexts: for each event, a number for what is known of the words before it.

``w-2`` is the word two positions back, ``g1-2`` its class in the first set of classes, ``s1-1`` the state of
the context that ends with the last word, in the first clustering of contexts; ``r-2`` is the last but one
rare word, which may be in an earlier sentence of the document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.errors import UsageError
from stategram.models.state_tree import StateTree
from stategram.text import BEGIN, END, Corpus

_VALUE = re.compile(r"(w|[gs][1-9]?|r)-([1-9][0-9]?)")
_EXAMPLE = "expected for instance w-1, g2-3, s1-1 or r-2"
MAX_RARE = 8

Stream = NDArray[np.uint32]
"""A value for each event; NO_VALUE where there is none."""


@dataclass(frozen=True, order=True)
class Value:
    """One value of a context.

    >>> [str(Value.parse(text)) for text in ("w-1", "g-2", "s2-1")]
    ['w-1', 'g1-2', 's2-1']
    """

    source: str
    """Where it comes from: words ``w``, classes ``g1``, states ``s1``, rare words ``r``."""
    distance: int

    @classmethod
    def parse(cls, text: str) -> Value:
        """Parse a value such as ``g2-3``."""
        found = _VALUE.fullmatch(text)
        if found is None:
            raise UsageError(f"the value {text!r} cannot be read; {_EXAMPLE}")
        source, distance = found[1], int(found[2])
        if source in "gs":
            source += "1"
        if source == "r" and distance > MAX_RARE:
            raise UsageError(f"the value {text!r}: at most {MAX_RARE} rare words are remembered")
        return cls(source, distance)

    def __str__(self) -> str:
        return f"{self.source}-{self.distance}"

    @property
    def number(self) -> int:
        """Which set of classes or clustering of contexts it comes from, from 0."""
        return int(self.source[1:]) - 1


class _HasValues(Protocol):
    @property
    def values(self) -> tuple[Value, ...]: ...


def values_of(*groups: Iterable[_HasValues]) -> list[Value]:
    """Return the values of chains and caches, in order."""
    return [value for group in groups for one in group for value in one.values]


@dataclass(frozen=True)
class Past:
    """What is known of the words before a text.

    Parameters
    ----------
    words
        The last words of the sentence that it continues.
    is_start
        Whether `words` are all words of the sentence so far.
    rare
        The last rare words of the document.

    """

    words: tuple[int, ...] = ()
    is_start: bool = True
    rare: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class ValueSources:
    """Where the values of contexts come from.

    Parameters
    ----------
    labels
        For each set of classes, ``g1``, ``g2``: the class of each word, by its id.
    states
        The clusterings of contexts.
    is_rare
        Whether each word is rare.

    """

    labels: Mapping[str, NDArray[np.uint32]]
    states: tuple[StateTree, ...]
    is_rare: NDArray[np.bool_]

    def check(self, values: Iterable[Value]) -> None:
        """Refuse values that do not come from here."""
        for value in values:
            known = value.source in ("w", "r") or value.source in self.labels
            if not known and not (value.source[0] == "s" and value.number < len(self.states)):
                raise UsageError(f"the value {value}: there is no {value.source}; {_EXAMPLE}")

    def only(self, values: Iterable[Value]) -> ValueSources:
        """Return the sources without those that the values do not need; g1 is always needed."""
        sources = {value.source for value in values} | {"g1"}
        n_states = max((int(name[1:]) for name in sources if name[0] == "s"), default=0)
        labels = {name: labels for name, labels in self.labels.items() if name in sources}
        return ValueSources(labels, self.states[:n_states], self.is_rare)

    def reach(self, values: Iterable[Value]) -> int:
        """Return how many words of the sentence the values depend on."""
        farthest = 1
        for value in values:
            if value.source[0] == "s":
                width = self.states[value.number].definition.width
                farthest = max(farthest, width + value.distance - 1)
            elif value.source != "r":
                farthest = max(farthest, value.distance)
        return farthest

    def streams(self, values: Sequence[Value], corpus: Corpus, past: Past) -> list[Stream]:
        """Return the values of all events of a text."""
        frame = _Frame(corpus, past)
        return [self._stream(value, frame) for value in values]

    def stream_of_text(self, value: Value, corpus: Corpus) -> Stream:
        """Return one value of all events of a long text, with little memory besides."""
        found = np.empty(corpus.n_events, np.uint32)
        past = Past()
        for begin, piece in corpus.pieces():
            (found[begin : begin + piece.n_events],) = self.streams([value], piece, past)
            past = Past(rare=self.after(piece, past, 1).rare)  # a piece begins with a sentence
        return found

    def after(self, corpus: Corpus, past: Past, reach: int) -> Past:
        """Return the past of what follows a text."""
        if corpus.n_events == 0:
            return past
        rare = _Rare(corpus, past, self.is_rare)
        remembered = tuple(rare.words[rare.of_document :][-MAX_RARE:].tolist())
        if corpus.ids[-1] == END:
            return Past(rare=remembered)
        words = tuple(corpus.sentence(corpus.n_sentences - 1).tolist())
        is_start = True
        if corpus.n_sentences == 1:
            words, is_start = past.words + words, past.is_start
        return Past(words[-reach:], is_start and len(words) <= reach, remembered)

    def _stream(self, value: Value, frame: _Frame) -> Stream:
        if value.source == "r":
            return _Rare(frame.corpus, frame.past, self.is_rare).stream(value.distance)
        if value.source[0] == "s":
            states = frame.states(value.number, self.states[value.number])
            return frame.cut(frame.back(states, value.distance - 1, None))
        labels = self.labels.get(value.source)
        if labels is None:
            return frame.cut(frame.back(frame.ids, value.distance, BEGIN))
        return frame.cut(frame.back(labels[frame.ids], value.distance, int(labels[BEGIN])))


class _Frame:
    """A text with the words of its first sentence that came before it."""

    def __init__(self, corpus: Corpus, past: Past) -> None:
        self.corpus, self.past = corpus, past
        self.before = len(past.words)
        self.ids, self.starts = corpus.ids, corpus.sentence_starts
        if self.before:
            self.ids = np.concatenate((np.array(past.words, np.uint32), corpus.ids))
            self.starts = corpus.sentence_starts + self.before
            self.starts[0] = 0
        self._states: dict[int, Stream] = {}

    @cached_property
    def positions(self) -> NDArray[np.int32]:
        """The position of each event in its sentence."""
        lengths = np.diff(self.starts)
        starts = np.repeat(self.starts[:-1].astype(np.int32), lengths)
        return np.arange(len(self.ids), dtype=np.int32) - starts

    @cached_property
    def unknown_start(self) -> slice:
        """The events of a sentence whose beginning is not known."""
        return slice(0, 0 if self.past.is_start or len(self.starts) < 2 else int(self.starts[1]))

    def back(self, values: Stream, distance: int, begin: int | None) -> Stream:
        """Return the value that many positions back in the sentence; `begin` is that of its beginning."""
        if distance == 0:
            return values
        found = np.full(len(values), _core.NO_VALUE, np.uint32)
        found[distance:] = values[:-distance]
        positions = self.positions
        found[positions < distance] = _core.NO_VALUE
        if begin is not None:
            found[positions == distance - 1] = begin
            found[self.unknown_start][positions[self.unknown_start] == distance - 1] = _core.NO_VALUE
        return found

    def states(self, number: int, tree: StateTree) -> Stream:
        """Return the state of the context of each event."""
        if number not in self._states:
            states = tree.find(Corpus(self.ids, self.starts, self.corpus.vocabulary))[-1][0]
            unknown = self.unknown_start
            states[unknown][self.positions[unknown] < tree.definition.width] = _core.NO_VALUE
            self._states[number] = states
        return self._states[number]

    def cut(self, values: Stream) -> Stream:
        """Leave out the events before the text."""
        return np.ascontiguousarray(values[self.before :])


class _Rare:
    """The rare words of a text, those before it first."""

    def __init__(self, corpus: Corpus, past: Past, is_rare: NDArray[np.bool_]) -> None:
        here = is_rare[corpus.ids]
        self.words = np.concatenate((np.array(past.rare, np.uint32), corpus.ids[here]))
        # For each event and the end: how many rare words come before it, and how many before its document.
        self.number = np.concatenate(([0], np.cumsum(here))) + len(past.rare)
        self.first = np.zeros(corpus.n_events + 1, np.int64)
        starts = corpus.sentence_starts[corpus.document_starts]
        for begin, end in pairwise((*starts.tolist(), corpus.n_events + 1)):
            self.first[begin:end] = self.number[begin]
        self.of_document = int(self.first[-1])

    def stream(self, distance: int) -> Stream:
        """Return the rare word that many rare words back."""
        place = self.number[:-1] - distance
        found = np.full(len(place), _core.NO_VALUE, np.uint32)
        known = place >= self.first[:-1]
        found[known] = self.words[place[known]]
        return found
