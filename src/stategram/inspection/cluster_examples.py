"""Representative clusters of a model as plain data, for reports and pages."""

from __future__ import annotations

import msgspec


class Data(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A record that is only ever replaced."""


class WordExample(Data, frozen=True):
    """A word, and its probability in its category or after a state."""

    word: str
    probability: float


class ContextExample(Data, frozen=True):
    """A context, such as ``of the``, and how often it was seen."""

    context: str
    count: int


class StateExample(Data, frozen=True):
    """A state: its numbers of contexts and events, its most frequent contexts, the words that follow."""

    number: int
    contexts: int
    events: int
    examples: tuple[ContextExample, ...]
    next_words: tuple[WordExample, ...]


class CategoryExample(Data, frozen=True):
    """A category: its numbers of words and events, and its most likely words."""

    number: int
    words: int
    events: int
    examples: tuple[WordExample, ...]


class ClusterGallery(Data, frozen=True):
    """Representative clusters of a model; ``key`` is its name."""

    key: str
    categories: tuple[CategoryExample, ...]
    states: tuple[StateExample, ...]
