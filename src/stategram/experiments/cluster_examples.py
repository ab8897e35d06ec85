"""Telling clusters of a model: plain data, for reports."""

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
    """A state: how many contexts and events it has, its most frequent contexts, what comes next."""

    number: int
    contexts: int
    events: int
    examples: tuple[ContextExample, ...]
    next_words: tuple[WordExample, ...]


class CategoryExample(Data, frozen=True):
    """A category: how many words and events it has, and its most likely words."""

    number: int
    words: int
    events: int
    examples: tuple[WordExample, ...]


class ClusterGallery(Data, frozen=True):
    """Telling clusters of a model (``key`` of its row)."""

    key: str
    categories: tuple[CategoryExample, ...]
    states: tuple[StateExample, ...]
