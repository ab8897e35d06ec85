"""Answers on histories: likely next words, why a word has its probability, the ladder."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.explore.app.explored import ExploredModel
from stategram.explore.app.requests import (
    ExplainRequest,
    LadderRequest,
    PredictRequest,
    WordsRequest,
)
from stategram.explore.app.text_answers import bits_of, finite, part_shares
from stategram.explore.views import Data, WordExample
from stategram.models import Model, State, open_sentence, score_parts
from stategram.text import BEGIN, END, SPECIAL_WORDS, UNKNOWN, Corpus

_EXPECTED = 5
# Evidence that changes the log-odds of a word by fewer bits is not shown.
_LITTLE = 0.05


class ClassOfWord(Data, frozen=True):
    """A class by its source and number."""

    source: str
    number: int


class KnownWord(Data, frozen=True):
    """A word of the vocabulary."""

    word: str
    frequency: float
    class_: ClassOfWord | None = msgspec.field(name="class")


class Words(Data, frozen=True):
    """Words of the vocabulary."""

    words: list[KnownWord]


class Prediction(Data, frozen=True):
    """The likeliest words."""

    history: list[str]
    words: list[WordExample]


class PartShare(Data, frozen=True):
    """A part of a mixture: its weight here, the surprisal by it alone, its fraction of the probability."""

    title: str
    weight: float
    surprisal: float | None
    share: float


class Evidence(Data, frozen=True):
    """By how much the evidence of some contexts changes the log-odds on the way to a word, in bits."""

    title: str
    bits: float


class StateHere(Data, frozen=True):
    """The state of the context here."""

    source: str
    number: int
    text: str


class Explanation(Data, frozen=True):
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


class WatchedWord(Data, frozen=True):
    """A word that is watched."""

    word: str
    probability: float
    rank: int


class LadderRow(Data, frozen=True):
    """A row of the ladder: an n-gram length of a part, a part, or the whole model."""

    title: str
    kind: str
    weight: float | None
    top: list[WordExample]
    watched: list[WatchedWord]


class Ladder(Data, frozen=True):
    """From the unigram to the whole model."""

    history: list[str]
    rows: list[LadderRow]


def words(explored: ExploredModel, request: WordsRequest) -> Words:
    """Return words that begin with some letters."""
    fractions = explored.fractions
    source = next(iter(explored.classes), None)
    labels = None if source is None else explored.class_set(source).labels
    same = source is not None and explored.leaf(source).vocabulary == explored.model.vocabulary
    return Words(
        [
            KnownWord(
                explored.model.vocabulary.word(id),
                float(fractions[id]),
                ClassOfWord(str(source), int(labels[id])) if labels is not None and same else None,
            )
            for id in explored.words_with(request.prefix, fractions, request.top)
        ]
    )


def history_words(model: Model, history: str) -> list[str]:
    """Return the words so far as the model was trained on them; ``<s>`` at the beginning is left out."""
    found = model.text_format.words_so_far(history)
    return found[1:] if found[:1] == [SPECIAL_WORDS[BEGIN]] else found


def state_after(model: Model, words: list[str], *, sentence_start: bool = True) -> State:
    """Return the state after some words, without a warning of unknown ones: the page shows them."""
    start = model.start(sentence_start=sentence_start)
    return model.score(open_sentence(model, words), state=start).state if words else start


def predict(explored: ExploredModel, request: PredictRequest) -> Prediction:
    """Return the likeliest next words."""
    model = explored.model
    history = history_words(model, request.history)
    state = state_after(model, history)
    if request.prefix:
        probabilities = model.distribution(state)
        ids = explored.words_with(request.prefix, probabilities, request.top)
        found = [WordExample(model.vocabulary.word(id), float(probabilities[id])) for id in ids]
    else:
        predicted = (WordExample(*one) for one in model.predict(state, request.top + 1))
        found = [one for one in predicted if one.word != SPECIAL_WORDS[BEGIN]]
    return Prediction(history, found[: request.top])


def explain(explored: ExploredModel, request: ExplainRequest) -> Explanation:
    """Return why a word has its probability."""
    model = explored.model
    history, word = history_words(model, request.history), request.word
    if word not in SPECIAL_WORDS:
        word = (model.text_format.words_so_far(word) or [word])[0]
    id = model.vocabulary.id(word)
    if id == BEGIN:
        raise UsageError("<s> is never predicted; give another word")
    state = state_after(model, history)
    probabilities = model.distribution(state)
    scores = model.score(open_sentence(model, [word]), state=state)
    corpus = _followed(model, history, id)
    weights, log_probs = score_parts(model, corpus)
    shares = part_shares(model, corpus)
    parts = [
        PartShare(title, float(weight), finite(float(-values[-1] / math.log(2.0))), float(fraction))
        for title, weight, values, fraction in zip(
            model.part_titles,
            weights[-1],
            log_probs,
            [] if shares is None else shares[-1],
            strict=True,
        )
    ]
    return Explanation(
        word,
        bits_of(scores)[0],
        rank_in(probabilities, id) if model.predicts_unknown or id != UNKNOWN else None,
        id == UNKNOWN,
        0 if scores.orders is None else int(scores.orders[0]),
        top_words(model, probabilities, _EXPECTED),
        parts,
        _evidence(model, state, word),
        _states_after(explored, history),
    )


def _followed(model: Model, history: Sequence[str], id: int) -> Corpus:
    """Return the words so far and the one that follows."""
    ids = [*map(model.vocabulary.id, history), id]
    return Corpus(np.array(ids, np.uint32), np.array([0, len(ids)]), model.vocabulary)


def _evidence(model: Model, state: State, word: str) -> list[Evidence]:
    bits = {title: nats / math.log(2.0) for title, nats in model.contributions(state, word).items()}
    return [Evidence(title, round(value, 3)) for title, value in bits.items() if abs(value) >= _LITTLE]


def _states_after(explored: ExploredModel, history: list[str]) -> list[StateHere]:
    found = []
    for source, one in explored.states.items():
        states = explored.state_set(source)
        corpus = _followed(explored.leaf(source), history, END)
        number = int(states.of_events(corpus)[-1])
        found.append(StateHere(source, number, one.title.replace("states", f"state {number}", 1)))
    return found


def ladder(explored: ExploredModel, request: LadderRequest) -> Ladder:
    """Return watched words by n-grams of each length, each part, and the whole model."""
    model = explored.model
    history = history_words(model, request.history)
    watched = [
        word if word in SPECIAL_WORDS else (model.text_format.words_so_far(word) or [word])[0]
        for word in request.watched
    ]
    found, _ = score_parts(model, _followed(model, history, END))
    weights = {str(number): float(weight) for number, weight in enumerate(found[-1], 1)}
    rows: list[LadderRow] = []
    for place, leaf in model.leaves.items():
        for length, name in enumerate(leaf.shorter_histories[: len(history) + 1]):
            state = state_after(leaf, history[len(history) - length :], sentence_start=False)
            rows.append(_row(leaf, name, "order", None, leaf.distribution(state), watched))
        if leaf is not model:
            after = leaf.distribution(state_after(leaf, history))
            rows.append(_row(leaf, f"{place}. {leaf.title}", "part", weights.get(place), after, watched))
    after = model.distribution(state_after(model, history))
    rows.append(_row(model, model.title, "whole", None, after, watched))
    return Ladder(history, rows)


def _row(
    model: Model,
    title: str,
    kind: str,
    weight: float | None,
    after: NDArray[np.float64],
    watched: list[str],
) -> LadderRow:
    ids = list(map(model.vocabulary.id, watched))
    return LadderRow(
        title,
        kind,
        weight,
        top_words(model, after, _EXPECTED),
        [
            WatchedWord(word, float(after[id]), rank_in(after, id))
            for word, id in zip(watched, ids, strict=True)
        ],
    )


def rank_in(probabilities: NDArray[np.float64], id: int) -> int:
    """Return the rank of a word in a distribution, ``<s>`` left out."""
    return (
        1
        + int(np.count_nonzero(probabilities > probabilities[id]))
        - int(probabilities[BEGIN] > probabilities[id])
    )


def top_words(model: Model, probabilities: NDArray[np.float64], top: int) -> list[WordExample]:
    """Return the likeliest words of a distribution, ``<s>`` left out."""
    probabilities = probabilities.copy()
    probabilities[BEGIN] = -1.0
    if not model.predicts_unknown:
        probabilities[UNKNOWN] = -1.0
    top = min(top, len(probabilities) - 1)
    best = np.argpartition(-probabilities, top - 1)[:top]
    best = best[np.lexsort((best, -probabilities[best]))]
    return [WordExample(model.vocabulary.word(id), float(probabilities[id])) for id in best.tolist()]
