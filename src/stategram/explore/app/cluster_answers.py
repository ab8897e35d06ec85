"""Answers on word classes and context states."""

from __future__ import annotations

import numpy as np

from stategram.explore.app.explored import ExploredModel
from stategram.explore.app.requests import (
    ContextTreeRequest,
    MemberRequest,
    SourceRequest,
    WordRequest,
)
from stategram.explore.views import (
    ClassDetails,
    ClassMap,
    ClassSet,
    ClassTree,
    ContextNode,
    ContextTreeOfWord,
    Data,
    NearClass,
    StateExample,
    States,
    StateSet,
    check_number,
)
from stategram.text import END, UNKNOWN

_CONTEXTS, _CATEGORIES, _NEXT_WORDS, _NEAR_STATES = 60, 12, 10, 8
_LINES, _WORDS_AROUND = 30, 8


class WordClass(Data, frozen=True):
    """The class of a word and its path in the tree."""

    source: str
    title: str
    number: int
    path: str


class WordStates(Data, frozen=True):
    """The states of a word as a context: on each level, that of its most frequent context."""

    source: str
    title: str
    levels: list[ContextNode]


class WordDetails(Data, frozen=True):
    """A word."""

    word: str
    known: bool
    frequency: float
    count: int | None
    classes: list[WordClass]
    states: list[WordStates]


class NearState(Data, frozen=True):
    """A state after which nearly the same follows."""

    number: int
    distance: float
    examples: list[str]


class ConcordanceLine(Data, frozen=True):
    """A place of the text: the words before the context, the context, the word, the words after it."""

    left: str
    context: str
    word: str
    right: str
    surprisal: float


class StateDetails(StateExample, frozen=True, kw_only=True):
    """A state; `categories`: the source of the classes in `next`, if they are a source of their own."""

    next: list[NearClass]
    nearest: list[NearState]
    concordance: list[ConcordanceLine]
    categories: str | None
    rest: bool
    """Whether it is also the state of all contexts of which nothing is known."""


def classes(explored: ExploredModel, request: SourceRequest) -> ClassMap:
    """Return all classes of a source with their places on the map."""
    return explored.class_set(request.source).map()


def class_(explored: ExploredModel, request: MemberRequest) -> ClassDetails:
    """Return a class: its words, its neighbours."""
    return explored.class_set(request.source).details(request.number)


def tree(explored: ExploredModel, request: SourceRequest) -> ClassTree:
    """Return the binary tree of the classes of a source."""
    return explored.class_set(request.source).tree()


def states(explored: ExploredModel, request: SourceRequest) -> States:
    """Return the states of a source, the most frequent first."""
    return explored.state_set(request.source).states()


def context_tree(explored: ExploredModel, request: ContextTreeRequest) -> ContextTreeOfWord:
    """Return the contexts that end in a word, level by level."""
    return explored.state_set(request.source).context_tree(request.word)


def word(explored: ExploredModel, request: WordRequest) -> WordDetails:
    """Return a word: its frequency, its classes, the states of the context that it is."""
    vocabulary = explored.model.vocabulary
    id = vocabulary.id(request.word)
    counts = vocabulary.counts
    in_classes = []
    for source in explored.classes:
        found = explored.class_set(source)
        own = found.vocabulary.id(request.word)
        number = int(found.labels[own])
        in_classes.append(WordClass(source, found.title, number, found.bit_paths[number]))
    in_states = []
    for source in explored.states:
        states = explored.state_set(source)
        levels = states.subtree(states.vocabulary.id(request.word), 1, 1)
        in_states.append(WordStates(source, states.title, [node for nodes in levels for node in nodes]))
    return WordDetails(
        request.word,
        id != UNKNOWN,
        float(explored.fractions[id]),
        int(counts[id]) if counts[END] else None,
        in_classes,
        in_states,
    )


def state(explored: ExploredModel, request: MemberRequest) -> StateDetails:
    """Return a state: its contexts, what follows, its nearest states, where it is in the text."""
    found = explored.state_set(request.source)
    number = request.number
    check_number(number, found.n, "state")
    source, top = _categories_of(explored, request.source, found)
    row = np.zeros(0) if found.after is None else found.after[number]
    return StateDetails(
        number=number,
        contexts=int(found.n_contexts[number]),
        events=int(found.events[number]),
        examples=tuple(found.contexts(number, _CONTEXTS)),
        next_words=tuple(found.next_words(number, _NEXT_WORDS)),
        next=top.classes_of(row, _CATEGORIES, 4) if len(row) else [],
        nearest=[
            NearState(one, round(distance, 4), [context.context for context in found.contexts(one, 3)])
            for one, distance in found.nearest(number, _NEAR_STATES)
        ],
        concordance=_concordance(explored, request.source, found, number),
        categories=source,
        rest=number == found.tree.rest,
    )


def _categories_of(explored: ExploredModel, source: str, found: StateSet) -> tuple[str, ClassSet]:
    """Return the classes that follow states: those of a clustered model, or the first of a word tree."""
    place = source.partition(":")[0]
    own = f"{place}:g1" if ":" in source else place
    return own, explored.class_set(own)


def _concordance(explored: ExploredModel, source: str, found: StateSet, number: int) -> list[ConcordanceLine]:
    """Return places of the text in which a context has the state, spread over the text."""
    if explored.text is None or explored.corpus is None:
        return []
    spelled = explored.text
    events = np.flatnonzero(explored.text_states(source) == number)
    if len(events) > _LINES:
        events = events[np.linspace(0, len(events) - 1, _LINES).astype(np.int64)]
    width = found.tree.definition.width
    sentences = np.searchsorted(spelled.sentence_starts, events, "right") - 1
    lines = []
    for event, sentence in zip(events.tolist(), sentences.tolist(), strict=True):
        begin, end = spelled.sentence_starts[sentence : sentence + 2].tolist()
        words = [spelled.vocabulary.word(id) for id in spelled.ids[begin:end].tolist()]
        at = event - begin
        lines.append(
            ConcordanceLine(
                " ".join(words[max(at - width - _WORDS_AROUND, 0) : max(at - width, 0)]),
                " ".join(words[max(at - width, 0) : at]),
                words[at],
                " ".join(words[at + 1 : at + 1 + _WORDS_AROUND]),
                round(float(explored.text_bits[event]), 2),
            )
        )
    return lines
