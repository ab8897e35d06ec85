"""Answers on word classes and context states."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.explore.app.explored import ExploredModel
from stategram.explore.app.messages import (
    ClassDetails,
    ClassMap,
    ClassOnMap,
    ClassTree,
    ConcordanceLine,
    ContextTreeOfWord,
    ContextTreeRequest,
    LevelState,
    Member,
    MemberRequest,
    NearClass,
    NearState,
    NextCategory,
    SourceRequest,
    StateDetails,
    StateInList,
    States,
    TreeLevel,
    TreeNode,
    WordClass,
    WordDetails,
    WordRequest,
    WordStates,
)
from stategram.explore.views import ClassSet, StateSet
from stategram.text import END, UNKNOWN

_NEIGHBOURS, _DETAILS = 5, 10
_MEMBERS, _STATES = 200, 2000
_CONTEXTS, _CATEGORIES, _NEXT_WORDS, _NEAR_STATES = 60, 12, 10, 8
_LINES, _WORDS_AROUND = 30, 8
_PER_NODE, _PER_LEVEL = 12, 60


def classes(explored: ExploredModel, request: SourceRequest) -> ClassMap:
    """Return all classes of a source with their places on the map."""
    found = explored.class_set(request.source)
    return ClassMap(
        found.title,
        [
            ClassOnMap(
                number,
                int(found.sizes[number]),
                float(found.tokens[number]),
                round(float(found.places[number, 0]), 5),
                round(float(found.places[number, 1]), 5),
                found.top(number),
                _greatest(found.after[number], _NEIGHBOURS),
                _greatest(found.before[number], _NEIGHBOURS),
            )
            for number in range(found.n)
            if found.tokens[number] > 0
        ],
    )


def _greatest(row: NDArray[np.float64], n: int) -> list[tuple[int, float]]:
    n = min(n, len(row))
    best = np.argpartition(-row, n - 1)[:n]
    best = best[np.lexsort((best, -row[best]))]
    return [(int(one), round(float(row[one]), 6)) for one in best if row[one] > 0]


def class_(explored: ExploredModel, request: MemberRequest) -> ClassDetails:
    """Return a class: its words, its neighbours."""
    found = explored.class_set(request.source)
    number = _checked(request, found.n, "class")
    tokens = float(found.tokens[number])
    members = found.members[number][:_MEMBERS]
    distances = found.distances(number)
    distances[found.tokens == 0] = np.inf
    near = [one for one in np.argsort(distances, kind="stable")[: _DETAILS + 1].tolist() if one != number]
    row, frequencies = found.after[number], found.followers.sum(axis=0)
    seen = row > 0
    return ClassDetails(
        number,
        int(found.sizes[number]),
        tokens,
        round(float(np.sum(row[seen] * np.log2(row[seen] / frequencies[seen]))), 3),
        found.bit_paths[number],
        [
            Member(
                found.vocabulary.word(int(id)),
                float(found.fractions[id]) / tokens if tokens else 0.0,
                float(found.fractions[id]),
            )
            for id in members
        ],
        _near(found, _greatest(row, _DETAILS)),
        _near(found, _greatest(found.before[number], _DETAILS)),
        [
            NearClass(one, None, round(float(distances[one]), 4), found.top(one))
            for one in near[:_DETAILS]
            if np.isfinite(distances[one])
        ],
    )


def _near(found: ClassSet, rows: Iterable[tuple[int, float]]) -> list[NearClass]:
    return [NearClass(number, probability, None, found.top(number)) for number, probability in rows]


def _checked(request: MemberRequest, n: int, what: str) -> int:
    if request.number >= n:
        raise UsageError(f"no {what} {request.number}: there are {n}, from 0")
    return request.number


def tree(explored: ExploredModel, request: SourceRequest) -> ClassTree:
    """Return the binary tree of the classes of a source."""
    found = explored.class_set(request.source)
    return ClassTree(
        found.n,
        [(first, second) for first, second in found.hierarchy.merges.tolist()],
        [round(loss, 8) for loss in found.losses.tolist()],
        [round(value, 8) for value in found.tokens.tolist()],
        [found.top(number) for number in range(found.n)],
        found.sizes.tolist(),
        found.bit_paths,
    )


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
        nodes = states.subtree(states.vocabulary.id(request.word), 1, 1)
        levels = [LevelState(node.context, node.count, node.state) for of_level in nodes for node in of_level]
        in_states.append(WordStates(source, states.title, levels))
    return WordDetails(
        request.word,
        id != UNKNOWN,
        float(explored.fractions[id]),
        int(counts[id]) if counts[END] else None,
        in_classes,
        in_states,
    )


def states(explored: ExploredModel, request: SourceRequest) -> States:
    """Return the states of a source, the most frequent first."""
    found = explored.state_set(request.source)
    order = np.argsort(-found.events, kind="stable")[:_STATES]
    return States(
        found.title,
        str(found.tree.definition),
        [
            StateInList(
                number,
                int(found.n_contexts[number]),
                int(found.events[number]),
                [context.context for context in found.contexts(number, 3)],
                [one.word for one in found.next_words(number, 3)],
            )
            for number in order.tolist()
            if found.events[number] > 0
        ],
    )


def state(explored: ExploredModel, request: MemberRequest) -> StateDetails:
    """Return a state: its contexts, what follows, its nearest states, where it is in the text."""
    found = explored.state_set(request.source)
    number = _checked(request, found.n, "state")
    source, top = _categories_of(explored, request.source, found)
    row = np.zeros(0) if found.after is None else found.after[number]
    return StateDetails(
        number,
        int(found.n_contexts[number]),
        int(found.events[number]),
        found.contexts(number, _CONTEXTS),
        [
            NextCategory(one, probability, top.top(one, 4))
            for one, probability in (_greatest(row, _CATEGORIES) if len(row) else [])
        ],
        found.next_words(number, _NEXT_WORDS),
        [
            NearState(one, round(distance, 4), [context.context for context in found.contexts(one, 3)])
            for one, distance in found.nearest(number, _NEAR_STATES)
        ],
        _concordance(explored, request.source, found, number),
        source,
        number == found.tree.rest,
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
    spelled = explored.text.corpus
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


def context_tree(explored: ExploredModel, request: ContextTreeRequest) -> ContextTreeOfWord:
    """Return the contexts that end in a word, level by level."""
    found = explored.state_set(request.source)
    levels = found.subtree(found.vocabulary.id(request.word), _PER_NODE, _PER_LEVEL)
    return ContextTreeOfWord(
        request.word,
        [
            TreeLevel(
                number,
                str(found.tree.definition.values[number - 1]),
                [
                    TreeNode(
                        node.context,
                        node.count,
                        node.state,
                        [one.word for one in found.next_words(node.state, 3, number)],
                        node.has_moved,
                        node.parent,
                    )
                    for node in nodes
                ],
            )
            for number, nodes in enumerate(levels, 1)
        ],
    )
