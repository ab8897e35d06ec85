"""Charts of sentences, word by word: how surprising each word is to a model."""

from __future__ import annotations

import math

import numpy as np

from stategram.errors import BadDataError
from stategram.explore.pages.charts import Bar, Chart, Legend, Segment
from stategram.models import Model, WordScore, generate
from stategram.text import UNKNOWN, Corpus, corpus_from_sentences

# Which sentence of a test text is shown: the first without unknown words of so many different words, which a
# heading has not, and of so many events.
_MIN_WORDS, _MAX_EVENTS = 8, 25
_TRIED = 1000
_MAX_SENTENCES = 5
_LONGEST = 60
"""No more words of a sentence are shown."""
# The longer the n-gram that a word was found in, the darker; the last colour is of five words and more.
_ORDER_COLOURS = ("ngram-3", "ngram", "ngram-2", "ngram-4", "tree")


def surprisal_charts(
    model: Model, kind: tuple[str, str], text: Corpus | None, sentences: Corpus | None
) -> list[Chart]:
    """Return a chart of each sentence, or of one of the text, or else of one that the model makes up.

    `kind` is the name and the colour of the kind of model.
    """
    title = "A sentence of the test text"
    if sentences is not None:
        title = "A given sentence"
    elif text is not None and (shown := _typical(text)) is not None:
        sentences = shown
    else:
        title = "A sentence that the model made up"
        try:
            drawn = next(generate(model, 1, max_words=_MAX_EVENTS))
        except BadDataError:  # all probability is that of <unk>
            return []
        sentences = corpus_from_sentences([drawn.words], vocabulary=model.vocabulary)
    scored = model.score(sentences)
    charts = []
    for number, events in zip(range(_MAX_SENTENCES), scored.sentences(), strict=False):
        if len(events) > 1:
            key = "surprisal" if number == 0 else f"surprisal-{number + 1}"
            charts.append(_chart(key, title, events[:_LONGEST], kind))
    return charts


def _typical(text: Corpus) -> Corpus | None:
    """Return the first sentence that is neither short nor long and has no unknown words; None without one."""
    lengths = np.diff(text.sentence_starts)
    for number in np.flatnonzero((lengths > _MIN_WORDS) & (lengths <= _MAX_EVENTS))[:_TRIED].tolist():
        ids = text.sentence(number)
        if len(np.unique(ids)) > _MIN_WORDS and not (ids == UNKNOWN).any():
            return Corpus(ids, np.array([0, len(ids)]), text.vocabulary)
    return None


def _chart(key: str, title: str, events: list[WordScore], kind: tuple[str, str]) -> Chart:
    bits = [-event.log_prob / math.log(2.0) for event in events]
    finite = [value for value in bits if math.isfinite(value)]
    longest = max(finite, default=1.0) or 1.0
    mean = sum(finite) / len(finite) if finite else math.inf
    bars = tuple(
        Bar(
            event.word,
            (Segment(max(min(value / longest, 1.0), 0.0), *_look(event, kind)),),
            f"{value:.1f}" if math.isfinite(value) else "infinite",
        )
        for event, value in zip(events, bits, strict=True)
    )
    text = (
        f"Surprisal of each word in bits, {mean:.1f} on average: one bit less is a word that the model took "
        "for twice as likely."
    )
    return Chart(key, title, text, _legend(events, kind), bars)


def _look(event: WordScore, kind: tuple[str, str]) -> tuple[str, str]:
    """Return the colour of a word, and what the colour stands for."""
    if event.order is None:
        return kind[1], kind[0]
    colour = _ORDER_COLOURS[min(max(event.order, 1), len(_ORDER_COLOURS)) - 1]
    return colour, f"{event.order}-gram"


def _legend(events: list[WordScore], kind: tuple[str, str]) -> Legend:
    looks = sorted({_look(event, kind) for event in events}, key=lambda look: look[1])
    return tuple((name, colour) for colour, name in looks)
