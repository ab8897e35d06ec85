"""Answers on histories: likely next words, why a word has its probability, the ladder."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.explore.app.explored import ExploredModel
from stategram.explore.app.requests import Answer, Line, Top, Word, Words
from stategram.explore.app.text_answers import bits_of, part_shares
from stategram.models import Model, State, open_sentence, score_parts
from stategram.text import BEGIN, END, SPECIAL_WORDS, UNKNOWN, Corpus

_EXPECTED = 5
# Evidence that changes the log-odds of a word by fewer bits is not shown.
_LITTLE = 0.05


def words(explored: ExploredModel, *, prefix: Word = "", top: Top = 20) -> Answer:
    """Return the most frequent words that begin with some letters."""
    ids = explored.words_with(prefix, explored.fractions, top)
    known = explored.model.vocabulary
    return {"words": [{"word": known.word(id), "frequency": float(explored.fractions[id])} for id in ids]}


def history_words(model: Model, history: str) -> list[str]:
    """Return the words so far as the model was trained on them; ``<s>`` at the beginning is left out."""
    found = model.text_format.words_so_far(history)
    return found[1:] if found[:1] == [SPECIAL_WORDS[BEGIN]] else found


def state_after(model: Model, words: list[str], *, sentence_start: bool = True) -> State:
    """Return the state after some words, without a warning of unknown ones: the page shows them."""
    start = model.start(sentence_start=sentence_start)
    return model.score(open_sentence(model, words), state=start).state if words else start


def predict(explored: ExploredModel, *, history: Line = "", top: Top = 10, prefix: Word = "") -> Answer:
    """Return the likeliest words after the words so far, or those of them that begin with some letters."""
    model = explored.model
    words = history_words(model, history)
    state = state_after(model, words)
    if not prefix:
        found = [one for one in model.predict(state, top + 1) if one[0] != SPECIAL_WORDS[BEGIN]]
        return {"words": [{"word": word, "probability": probability} for word, probability in found[:top]]}
    probabilities = model.distribution(state)
    ids = explored.words_with(prefix, probabilities, top)
    return {"words": _with_probabilities(model, probabilities, ids)}


def explain(explored: ExploredModel, *, word: Word, history: Line = "") -> Answer:
    """Return why a word has its probability after the words so far."""
    model = explored.model
    before = history_words(model, history)
    if word not in SPECIAL_WORDS:
        word = (model.text_format.words_so_far(word) or [word])[0]
    id = model.vocabulary.id(word)
    if id == BEGIN:
        raise UsageError("<s> is never predicted; give another word")
    state = state_after(model, before)
    probabilities = model.distribution(state)
    scores = model.score(open_sentence(model, [word]), state=state)
    shares = part_shares(model, _followed(model, before, id))
    bits = {title: nats / math.log(2.0) for title, nats in model.contributions(state, word).items()}
    return {
        "word": word,
        "surprisal": bits_of(scores)[0],
        "rank": rank_in(probabilities, id) if model.predicts_unknown or id != UNKNOWN else None,
        "unknown": id == UNKNOWN,
        "order": 0 if scores.orders is None else int(scores.orders[0]),
        "expected": top_words(model, probabilities, _EXPECTED),
        "parts": [
            {"title": title, "share": float(share)}
            for title, share in zip(model.part_titles, [] if shares is None else shares[-1], strict=True)
        ],
        "evidence": [
            {"title": title, "bits": round(value, 3)}
            for title, value in bits.items()
            if abs(value) >= _LITTLE
        ],
        "states": _states_after(explored, before),
    }


def _followed(model: Model, history: Sequence[str], id: int) -> Corpus:
    """Return the words so far and the one that follows."""
    ids = [*map(model.vocabulary.id, history), id]
    return Corpus(np.array(ids, np.uint32), np.array([0, len(ids)]), model.vocabulary)


def _states_after(explored: ExploredModel, history: list[str]) -> list[Answer]:
    found = []
    for source, one in explored.states.items():
        corpus = _followed(explored.leaf(source), history, END)
        number = int(explored.state_set(source).of_events(corpus)[-1])
        title = one.title.replace("states", f"state {number}", 1)
        found.append({"source": source, "number": number, "text": title})
    return found


def ladder(explored: ExploredModel, *, history: Line = "", watched: Words = ()) -> Answer:
    """Return watched words by n-grams of each length of a part, by each part, and by the whole model."""
    model = explored.model
    before = history_words(model, history)
    shown = [
        word if word in SPECIAL_WORDS else (model.text_format.words_so_far(word) or [word])[0]
        for word in watched
    ]
    found, _ = score_parts(model, _followed(model, before, END))
    weights = {str(number): float(weight) for number, weight in enumerate(found[-1], 1)}
    rows = []
    for place, leaf in model.leaves.items():
        for length, name in enumerate(leaf.shorter_histories[: len(before) + 1]):
            state = state_after(leaf, before[len(before) - length :], sentence_start=False)
            rows.append(_row(leaf, name, "order", None, leaf.distribution(state), shown))
        if leaf is not model:
            after = leaf.distribution(state_after(leaf, before))
            rows.append(_row(leaf, f"{place}. {leaf.title}", "part", weights.get(place), after, shown))
    after = model.distribution(state_after(model, before))
    rows.append(_row(model, model.title, "whole", None, after, shown))
    return {"history": before, "rows": rows}


def _row(
    model: Model,
    title: str,
    kind: str,
    weight: float | None,
    after: NDArray[np.float64],
    watched: list[str],
) -> Answer:
    ids = list(map(model.vocabulary.id, watched))
    return {
        "title": title,
        "kind": kind,
        "weight": weight,
        "top": top_words(model, after, _EXPECTED),
        "watched": [
            {"word": word, "probability": float(after[id]), "rank": rank_in(after, id)}
            for word, id in zip(watched, ids, strict=True)
        ],
    }


def rank_in(probabilities: NDArray[np.float64], id: int) -> int:
    """Return the rank of a word in a distribution, ``<s>`` left out."""
    return (
        1
        + int(np.count_nonzero(probabilities > probabilities[id]))
        - int(probabilities[BEGIN] > probabilities[id])
    )


def top_words(model: Model, probabilities: NDArray[np.float64], top: int) -> list[Answer]:
    """Return the likeliest words of a distribution, ``<s>`` left out."""
    ranked = probabilities.copy()
    ranked[BEGIN] = -1.0
    if not model.predicts_unknown:
        ranked[UNKNOWN] = -1.0
    top = min(top, len(ranked) - 1)
    best = np.argpartition(-ranked, top - 1)[:top]
    return _with_probabilities(model, probabilities, best[np.lexsort((best, -ranked[best]))].tolist())


def _with_probabilities(model: Model, probabilities: NDArray[np.float64], ids: list[int]) -> list[Answer]:
    return [{"word": model.vocabulary.word(id), "probability": float(probabilities[id])} for id in ids]
