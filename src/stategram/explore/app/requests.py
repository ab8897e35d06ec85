"""What the explorer can be asked, and how large requests may be."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

MAX_WORDS = 20_000
"""The words of a text that is scored in one request."""
MAX_CHARACTERS = 400_000
MAX_BODY = 2_000_000
"""The bytes of a request."""

Text = Annotated[str, Meta(max_length=MAX_CHARACTERS)]
"""One sentence per line."""
Line = Annotated[str, Meta(max_length=20_000)]
Word = Annotated[str, Meta(max_length=1000)]
ModelNumber = Annotated[int, Meta(ge=0, le=1)]
"""0, or 1 for the second model."""
Top = Annotated[int, Meta(ge=1, le=1000)]
Number = Annotated[int, Meta(ge=0)]
Source = Annotated[str, Meta(max_length=100)]
"""A source of classes or states, as in `Info`."""


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request."""


class InfoRequest(Request, frozen=True, kw_only=True):
    """What there is to explore."""


class WordsRequest(Request, frozen=True, kw_only=True):
    """Words of the vocabulary that begin with some letters, the most frequent first."""

    model: ModelNumber = 0
    prefix: Word = ""
    top: Top = 20


class TextRequest(Request, frozen=True, kw_only=True):
    """The surprisal of each word of a text, or its rank among all that could stand there."""

    model: ModelNumber = 0
    text: Text = ""


class PredictRequest(Request, frozen=True, kw_only=True):
    """The likeliest words after the words so far, or those of them that begin with some letters."""

    model: ModelNumber = 0
    history: Line = ""
    top: Top = 10
    prefix: Word = ""


class ExplainRequest(Request, frozen=True, kw_only=True):
    """Why a word has its probability after the words so far."""

    model: ModelNumber = 0
    history: Line = ""
    word: Word


class LadderRequest(Request, frozen=True, kw_only=True):
    """Some words by the unigram, the bigram, ..., each part, and the whole model."""

    model: ModelNumber = 0
    history: Line = ""
    watched: Annotated[list[Word], Meta(max_length=50)] = []


class SourceRequest(Request, frozen=True, kw_only=True):
    """All classes, or all states, of a source."""

    model: ModelNumber = 0
    source: Source


class MemberRequest(Request, frozen=True, kw_only=True):
    """One class, or one state, of a source."""

    model: ModelNumber = 0
    source: Source
    number: Number


class WordRequest(Request, frozen=True, kw_only=True):
    """A word: its frequency, its classes and the states of its contexts."""

    model: ModelNumber = 0
    word: Word


class ContextTreeRequest(Request, frozen=True, kw_only=True):
    """The contexts that end in a word, level by level."""

    model: ModelNumber = 0
    source: Source
    word: Word


class CompareRequest(Request, frozen=True, kw_only=True):
    """The surprisal of each word of a text by both models."""

    text: Text = ""
