"""Answers on word classes and context states."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.explore.app.explored import ExploredModel
from stategram.explore.app.requests import Answer, Number, Source, Word
from stategram.explore.content import ClassSet, StateSet, greatest
from stategram.text import UNKNOWN

# So many members, neighbours and nearest ones of a class.
_MEMBERS, _NEIGHBOURS, _NEAR = 200, 5, 10
# So many states of a list; contexts of a node, and of a level of the tree of a word; examples of a state.
_STATES, _PER_NODE, _PER_LEVEL, _FEW = 2000, 12, 60, 3
_CONTEXTS, _CATEGORIES, _NEXT_WORDS, _NEAR_STATES = 60, 12, 10, 8
_LINES, _WORDS_AROUND = 30, 8


def classes(explored: ExploredModel, *, source: Source) -> Answer:
    """Return all classes of a source that occur, with their places on the map.

    `n` is the number of all, those in `special` left out.
    """
    found = explored.class_set(source)
    return {
        "n": found.n - len(found.special),
        "special": found.special,
        "classes": [
            {
                "number": number,
                "words": int(found.sizes[number]),
                "tokens": float(found.tokens[number]),
                "x": round(float(found.places[number, 0]), 5),
                "y": round(float(found.places[number, 1]), 5),
                "top": found.top(number),
                "followers": greatest(found.after[number], _NEIGHBOURS),
                "before": greatest(found.before[number], _NEIGHBOURS),
            }
            for number in range(found.n)
            if found.tokens[number] > 0
        ],
    }


def class_(explored: ExploredModel, *, source: Source, number: Number) -> Answer:
    """Return a class: its words, and the classes that follow it, precede it or are near to it."""
    found = explored.class_set(source)
    _check_number(number, found.n, "class")
    tokens = float(found.tokens[number])
    distances = found.distances(number)
    distances[found.tokens == 0] = np.inf
    near = [one for one in np.argsort(distances, kind="stable")[: _NEAR + 1].tolist() if one != number]
    return {
        "number": number,
        "words": int(found.sizes[number]),
        "tokens": tokens,
        "bits": round(float(found.bits[number]), 3),
        "members": [
            {
                "word": found.vocabulary.word(int(id)),
                "probability": float(found.fractions[id]) / tokens if tokens else 0.0,
                "frequency": float(found.fractions[id]),
            }
            for id in found.members[number][:_MEMBERS]
        ],
        "followers": _with_top(found, found.after[number], _NEAR),
        "before": _with_top(found, found.before[number], _NEAR),
        "nearest": [
            {"number": one, "top": found.top(one)} for one in near[:_NEAR] if np.isfinite(distances[one])
        ],
    }


def _with_top(found: ClassSet, row: NDArray[np.float64], n: int, words: int = 3) -> list[Answer]:
    """Return the classes with the greatest of some probabilities, each with its most frequent words."""
    return [
        {"number": one, "probability": value, "top": found.top(one, words)} for one, value in greatest(row, n)
    ]


def _check_number(number: int, n: int, what: str) -> None:
    """Refuse the number of a class, or of a state, that is not there."""
    if number >= n:
        raise UsageError(f"no {what} {number}: there are {n}, from 0")


def tree(explored: ExploredModel, *, source: Source) -> Answer:
    """Return the binary tree of the classes of a source: mergers as in SciPy, the bits that each loses."""
    found = explored.class_set(source)
    return {
        "n": found.n,
        "special": found.special,
        "merges": found.hierarchy.merges.tolist(),
        "losses": [round(loss, 8) for loss in found.losses.tolist()],
        "tokens": [round(value, 8) for value in found.tokens.tolist()],
        "top": [found.top(number) for number in range(found.n)],
        "words": found.sizes.tolist(),
        "paths": found.bit_paths,
    }


def word(explored: ExploredModel, *, word: Word) -> Answer:
    """Return a word: whether it is known, and its classes with their paths in the tree."""
    found = []
    for source in explored.classes:
        classes = explored.class_set(source)
        number = int(classes.labels[classes.vocabulary.id(word)])
        found.append({"source": source, "number": number, "path": classes.bit_paths[number]})
    return {"word": word, "known": explored.model.vocabulary.id(word) != UNKNOWN, "classes": found}


def states(explored: ExploredModel, *, source: Source) -> Answer:
    """Return the states of a source that occur, the most frequent first."""
    found = explored.state_set(source)
    order = np.argsort(-found.events, kind="stable")[:_STATES]
    return {
        "states": [
            {
                "number": number,
                "contexts": int(found.n_contexts[number]),
                "events": int(found.events[number]),
                "examples": [one.context for one in found.contexts(number, _FEW)],
                "next": [one.word for one in found.next_words(number, _FEW)],
            }
            for number in order.tolist()
            if found.events[number] > 0
        ]
    }


def context_tree(explored: ExploredModel, *, source: Source, word: Word) -> Answer:
    """Return the most frequent contexts that end in a word, level by level.

    Each level numbers its own states; `value` is what it adds to contexts. Of a context: `next`, the
    likeliest words after its state; `moved`, whether it is not that of its group; `parent`, its place in the
    level above.
    """
    found = explored.state_set(source)
    values = found.tree.definition.values
    levels: list[Answer] = []
    nodes = found.subtree(found.vocabulary.id(word), _PER_NODE, _PER_LEVEL)
    for number, (of_level, value) in enumerate(zip(nodes, values, strict=False), 1):
        level = found.tree.levels[number - 1]
        shown = []
        for place, parent in of_level:
            state = int(level.states[place])
            group = state
            if parent is not None:
                group = int(level.inherited[levels[-1]["nodes"][parent]["state"]])
            shown.append(
                {
                    "context": found.context(number, place),
                    "count": int(level.counts[place]),
                    "state": state,
                    "next": [one.word for one in found.next_words(state, _FEW, number)],
                    "moved": state != group,
                    "parent": parent,
                }
            )
        levels.append({"level": number, "value": str(value), "nodes": shown})
    return {"word": word, "levels": levels}


def state(explored: ExploredModel, *, source: Source, number: Number) -> Answer:
    """Return a state: its contexts, what follows, its nearest states, its places in the text.

    `categories` is the source of the classes in `next`; `rest`: whether it is also the state of all contexts
    of which nothing is known.
    """
    found = explored.state_set(source)
    _check_number(number, found.n, "state")
    # The classes that follow states are those of a clustered model, or the first of a word tree.
    place = source.partition(":")[0]
    categories = f"{place}:g1" if ":" in source else place
    row = np.zeros(1) if found.after is None else found.after[number]
    return {
        "number": number,
        "contexts": int(found.n_contexts[number]),
        "events": int(found.events[number]),
        "examples": found.contexts(number, _CONTEXTS),
        "next_words": found.next_words(number, _NEXT_WORDS),
        "next": _with_top(explored.class_set(categories), row, _CATEGORIES, 4),
        "nearest": [
            {"number": one, "examples": [context.context for context in found.contexts(one, _FEW)]}
            for one, _ in found.nearest(number, _NEAR_STATES)
        ],
        "concordance": _concordance(explored, source, found, number),
        "categories": categories,
        "rest": number == found.tree.rest,
    }


def _concordance(explored: ExploredModel, source: str, found: StateSet, number: int) -> list[Answer]:
    """Return places of the text in which a context has the state, spread over the text."""
    spelled = explored.text
    if spelled is None:
        return []
    events = np.flatnonzero(explored.text_states(source) == number)
    if len(events) > _LINES:
        events = events[np.linspace(0, len(events) - 1, _LINES).astype(np.int64)]
    width = found.tree.definition.width
    sentences = np.searchsorted(spelled.sentence_starts, events, "right") - 1
    lines = []
    for event, sentence in zip(events.tolist(), sentences.tolist(), strict=True):
        begin, end = spelled.sentence_starts[sentence : sentence + 2].tolist()
        context = max(event - width, begin)
        edges = (max(context - _WORDS_AROUND, begin), context, event, event + 1, event + 1 + _WORDS_AROUND)
        left, before, here, right = (
            " ".join(map(spelled.vocabulary.word, spelled.ids[first : min(last, end)].tolist()))
            for first, last in pairwise(edges)
        )
        surprisal = round(float(explored.text_bits[event]), 2)
        lines.append({"left": left, "context": before, "word": here, "right": right, "surprisal": surprisal})
    return lines
