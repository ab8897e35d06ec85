"""The requests and answers of the explorer."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from stategram.explore.views import WordExample

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


class Answer(msgspec.Struct, frozen=True):
    """An answer."""


class SourceInfo(Answer, frozen=True):
    """A set of classes or states; `context` and `depth` are those of states."""

    source: str
    title: str
    n: int
    context: str = ""
    depth: int = 0


class ModelInfo(Answer, frozen=True):
    """A model."""

    name: str
    title: str
    kind: str
    parameters: int
    order: int
    words: int
    history: str
    looks_back: bool
    parts: list[str]
    classes: list[SourceInfo]
    states: list[SourceInfo]


class TextInfo(Answer, frozen=True):
    """The text that is explored, and its beginning."""

    name: str
    sample: str


class Info(Answer, frozen=True):
    """What there is to explore."""

    version: str
    saved: bool
    models: list[ModelInfo]
    text: TextInfo | None


class ClassOfWord(Answer, frozen=True):
    """A class by its source and number."""

    source: str
    number: int


class KnownWord(Answer, frozen=True):
    """A word of the vocabulary."""

    word: str
    frequency: float
    class_: ClassOfWord | None = msgspec.field(name="class")


class Words(Answer, frozen=True):
    """Words of the vocabulary."""

    words: list[KnownWord]


class ScoredSentence(Answer, frozen=True):
    """A sentence: its words and ``</s>``, with their surprisal in bits.

    `order` is the length of the n-gram that gave the probability, 0 if that is not known; `shares`: for each
    word, which fraction of its probability comes from each part of a mixture.
    """

    words: list[str]
    surprisal: list[float | None]
    order: list[int]
    unknown: list[bool]
    shares: list[list[float]] | None


class Scored(Answer, frozen=True):
    """A text that was scored."""

    perplexity: float | None
    events: int
    unknown: int
    parts: list[str]
    sentences: list[ScoredSentence]


class Ranks(Answer, frozen=True):
    """For each sentence the rank of each word; null from where time was up. `over` is the number of words."""

    sentences: list[list[int | None]]
    over: int


class Prediction(Answer, frozen=True):
    """The likeliest words."""

    history: list[str]
    words: list[WordExample]


class PartShare(Answer, frozen=True):
    """A part of a mixture: its weight here, the surprisal by it alone, its fraction of the probability."""

    title: str
    weight: float
    surprisal: float | None
    share: float


class Evidence(Answer, frozen=True):
    """By how much the evidence of some contexts changes the log-odds on the way to a word, in bits."""

    title: str
    bits: float


class StateHere(Answer, frozen=True):
    """The state of the context here."""

    source: str
    number: int
    text: str


class Explanation(Answer, frozen=True):
    """Why a word has its probability."""

    word: str
    surprisal: float | None
    rank: int | None
    unknown: bool
    order: int
    expected: list[WordExample]
    parts: list[PartShare]
    evidence: list[Evidence]
    states: list[StateHere]


class WatchedWord(Answer, frozen=True):
    """A word that is watched."""

    word: str
    probability: float
    rank: int


class LadderRow(Answer, frozen=True):
    """A row of the ladder: an n-gram length of a part, a part, or the whole model."""

    title: str
    kind: str
    weight: float | None
    top: list[WordExample]
    watched: list[WatchedWord]


class Ladder(Answer, frozen=True):
    """From the unigram to the whole model."""

    history: list[str]
    rows: list[LadderRow]


class ComparedSentence(Answer, frozen=True):
    """A sentence by two models."""

    words: list[str]
    a: list[float | None]
    b: list[float | None]
    class_: list[int | None] = msgspec.field(name="class")
    unknown: list[bool]


class ClassGain(Answer, frozen=True):
    """The mean surprisal of the words of a class by both models."""

    number: int
    top: list[str]
    events: int
    a: float
    b: float


class FrequencyGain(Answer, frozen=True):
    """The mean surprisal of words of some frequency by both models."""

    band: str
    events: int
    a: float
    b: float


class Compared(Answer, frozen=True):
    """A text by two models."""

    models: list[str]
    perplexity: list[float | None]
    sentences: list[ComparedSentence]
    by_class: list[ClassGain]
    by_frequency: list[FrequencyGain]
    source: str | None


class Problem(Answer, frozen=True):
    """What went wrong."""

    error: str
